/** @jsxImportSource preact */
import { readSession } from "../app/people/sign-in.ts";
import { Problem, problemTitle } from "../web/problem.tsx";
import { Notice } from "./elements.tsx";
import { narrowPage } from "./layout.tsx";
import { html, isHtmxRequest } from "./respond.ts";
import type { Visit } from "./visit.ts";

/** Says what went wrong and offers a way back. */
export async function errorPage(visit: Visit, status: number, message: string): Promise<Response> {
  const title = problemTitle(status);
  if (isHtmxRequest(visit.exchange.request)) {
    const notice = (
      <Notice tone="bad" title={title}>
        {message}
      </Notice>
    );
    return html(visit.exchange, notice, { fragment: true, status });
  }
  // Under a wrong host name a relative link would lead back here, and no session is known.
  const site = status === 421 ? visit.deps.config.baseUrl : "";
  const isSignedIn = visit.token !== undefined && (await readSession(visit.deps, visit.token)) !== undefined;
  return narrowPage(
    visit,
    title,
    <Problem status={status} message={message}>
      <a class="button button-primary" href={isSignedIn ? `${site}/console` : `${site}/console/sign-in`}>
        {isSignedIn ? "To the console" : "Sign in"}
      </a>
    </Problem>,
    { status },
  );
}
