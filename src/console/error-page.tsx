/** @jsxImportSource preact */
import { readSession } from "../app/people/sign-in.ts";
import { Notice } from "./elements.tsx";
import { narrowPage } from "./layout.tsx";
import { html, isPart } from "./respond.ts";
import type { Visit } from "./visit.ts";

const TITLES: Record<number, string> = {
  403: "Not allowed",
  404: "Page not found",
  405: "Not possible here",
  413: "Too much text",
  415: "Not a form",
  421: "Not this address",
  422: "That did not work",
  429: "Too many tries",
  500: "Something broke",
  503: "Not possible right now",
};

/** Says what went wrong and leads back. */
export async function errorPage(visit: Visit, status: number, message: string): Promise<Response> {
  const title = TITLES[status] ?? "That did not work";
  if (isPart(visit.exchange.request)) {
    const notice = (
      <Notice tone="bad" title={title}>
        {message}
      </Notice>
    );
    return html(visit.exchange, notice, { fragment: true, status });
  }
  // Under a wrong host name a path would lead back here, and no session is known.
  const site = status === 421 ? visit.parts.config.baseUrl : "";
  const isSignedIn = visit.token !== undefined && (await readSession(visit.parts, visit.token)) !== undefined;
  return narrowPage(
    visit,
    title,
    <>
      <h1>{title}</h1>
      <p class="lead">{message}</p>
      <p class="actions">
        <a class="button button-primary" href={isSignedIn ? `${site}/console` : `${site}/console/sign-in`}>
          {isSignedIn ? "To the console" : "Sign in"}
        </a>
      </p>
    </>,
    { status },
  );
}
