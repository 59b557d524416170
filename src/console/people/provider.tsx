/** @jsxImportSource preact */
import type { ProviderPerson } from "../../app/people/oidc-client.ts";
import { connectProvider, disconnectProvider, signInByProvider } from "../../app/people/oidc-sign-in.ts";
import { checkPassword, readSession } from "../../app/people/sign-in.ts";
import { Refusal, type RefusalCode } from "../../core/errors.ts";
import { PROVIDER_VISIT_MS } from "../../core/sign-in-limits.ts";
import { networkOf } from "../../http/client-address.ts";
import { narrowPage } from "../layout.tsx";
import { ownPath } from "../own-path.ts";
import { notFound } from "../page-error.ts";
import { providerVisit, providerVisitCookie, redirect, sessionCookie } from "../respond.ts";
import { anyone, signedIn, type UserVisit, type Visit } from "../visit.ts";
import { openVisit, type ProviderVisit, sealVisit } from "./provider-visit.ts";

const PROFILE = "/console/profile";

/** Throws 404 where no provider is configured. */
function providerOf(visit: Visit): NonNullable<Visit["provider"]> {
  if (!visit.provider) throw notFound();
  return visit.provider;
}

/** The address at the provider, and the cookie to take along. */
async function setOut(visit: Visit, of: Pick<ProviderVisit, "next" | "connects">) {
  const { url, attempt } = await providerOf(visit).client.begin();
  const taken = { ...attempt, ...of, until: visit.now + PROVIDER_VISIT_MS };
  return { url, cookie: providerVisitCookie(visit.deps.config, sealVisit(visit.deps.secrets, taken)) };
}

async function begin(visit: Visit): Promise<Response> {
  providerOf(visit);
  const next = visit.query.get("next") ?? "";
  try {
    const { url, cookie } = await setOut(visit, { next, connects: null });
    return redirect(url, visit.exchange, cookie);
  } catch (error) {
    return notSignedIn(visit, error, next);
  }
}

const isRefusal = (error: unknown): error is Refusal<RefusalCode> => error instanceof Refusal;
const STATUS: Partial<Record<RefusalCode, number>> = { PROVIDER_FAILED: 502, LIMIT_REACHED: 429 };

/** Says why nobody was signed in, and leads to another try. */
function notSignedIn(visit: Visit, error: unknown, next: string): Response {
  if (!isRefusal(error)) throw error;
  const { name, only } = providerOf(visit).client.settings;
  const again = next === "" ? "" : `?next=${encodeURIComponent(next)}`;
  const page = narrowPage(
    visit,
    "Not signed in",
    <>
      <h1>You are not signed in</h1>
      <p class="lead">{error.message}</p>
      <p class="actions">
        <a class="button button-primary" href={`/console/sign-in/oidc${again}`}>
          {`Try ${name} again`}
        </a>
        <a class="button" href={`/console/sign-in${again}`}>
          {only ? "Back" : "Sign in another way"}
        </a>
      </p>
    </>,
    { status: STATUS[error.code] ?? 403 },
  );
  page.headers.append("Set-Cookie", providerVisitCookie(visit.deps.config, null));
  return page;
}

const NOT_BEGUN = new Refusal(
  "NOT_PROVEN",
  "This sign-in was not begun in this browser, or longer than a quarter of an hour ago. Begin it again here.",
);
const OTHER_TAB = new Refusal(
  "NOT_PROVEN",
  "Another sign-in was begun in this browser since, perhaps in another tab. Begin it again here.",
);
const USED = new Refusal("NOT_CURRENT", "This sign-in was used already. Begin another one.");
const TOO_MANY = new Refusal("LIMIT_REACHED", "Too many tries. Wait a quarter of an hour.");

/** Where the provider sends the browser back to. */
async function comeBack(visit: Visit): Promise<Response> {
  const { deps, exchange, query, now } = visit;
  providerOf(visit);
  const sealed = providerVisit(exchange.request, deps.config);
  const taken = sealed === undefined ? undefined : openVisit(deps.secrets, sealed, now);
  if (!taken) {
    // By the browser's button back, most likely.
    const isIn = visit.token !== undefined && (await readSession(deps, visit.token)) !== undefined;
    return isIn ? redirect("/console", exchange) : notSignedIn(visit, NOT_BEGUN, "");
  }
  try {
    if (query.get("state") !== taken.state) throw OTHER_TAB;
    return taken.connects === null ? await signIn(visit, taken) : await connect(visit, taken);
  } catch (error) {
    if (taken.connects === null || !(error instanceof Refusal)) return notSignedIn(visit, error, taken.next);
    await visit.flashes.put(taken.connects, { problem: error.message });
    return redirect(PROFILE, exchange, providerVisitCookie(deps.config, null));
  }
}

/** Who came back; each sign-in counts once. Throws a Refusal. */
async function personOf(visit: Visit, taken: ProviderVisit): Promise<ProviderPerson> {
  const { client, used } = providerOf(visit);
  if (await used.has(taken.state)) throw USED;
  const person = await client.finish(visit.query, taken);
  if (!(await used.putNew(taken.state, true))) throw USED;
  return person;
}

async function signIn(visit: Visit, taken: ProviderVisit): Promise<Response> {
  const { deps, exchange, signIns, token } = visit;
  // As for passkeys: the budget of failed tries, under a name no email can have, one per network.
  const budget = `provider ${networkOf(exchange.clientAddress)}`;
  if (!(await signIns.take(budget, exchange.clientAddress))) throw TOO_MANY;
  const person = await personOf(visit, taken);
  const started = await signInByProvider(deps, { person, previousToken: token });
  await signIns.forgive(budget, exchange.clientAddress);
  return redirect(
    ownPath(taken.next),
    exchange,
    sessionCookie(deps.config, started.token),
    providerVisitCookie(deps.config, null),
  );
}

/** Throws a Refusal unless the session that set out is still this browser's. */
async function connect(visit: Visit, taken: ProviderVisit): Promise<Response> {
  const { deps, exchange, token } = visit;
  const found = token === undefined ? undefined : await readSession(deps, token);
  if (!found || found.session.id !== taken.connects) return notSignedIn(visit, NOT_BEGUN, "");
  const person = await personOf(visit, taken);
  await connectProvider(deps, { user: found.user, person });
  const { name } = providerOf(visit).client.settings;
  await visit.flashes.put(found.session.id, { notice: `${name} is connected: it signs you in from now on.` });
  return redirect(PROFILE, exchange, providerVisitCookie(deps.config, null));
}

/**
 * Only for a user who proves the password again: a session alone, which may be stolen, must not turn into a
 * way in that outlives it. The page's policy lets no form lead to another site, so a page in between does.
 */
async function setOutToConnect(visit: UserVisit): Promise<Response> {
  const { deps, user, session, signIns, exchange, form } = visit;
  const { name } = providerOf(visit).client.settings;
  if (!(await signIns.take(user.email, exchange.clientAddress)))
    throw new Refusal("LIMIT_REACHED", "Too many tries. Wait a quarter of an hour.");
  if (!(await checkPassword(deps, { email: user.email, password: form.get("password") ?? "" })))
    throw new Refusal("NOT_PROVEN", "The password is not right. Nothing was connected.");
  await signIns.forgive(user.email, exchange.clientAddress);
  const { url, cookie } = await setOut(visit, { next: "", connects: session.id });
  const page = narrowPage(
    visit,
    `To ${name}`,
    <>
      <h1>{`On to ${name}`}</h1>
      <p class="lead">{`Sign in there with the account you want to connect. You come back here by yourself.`}</p>
      <p class="actions">
        <a class="button button-primary" href={url}>
          {`Continue to ${name}`}
        </a>
        <a class="button" href={PROFILE}>
          Cancel
        </a>
      </p>
    </>,
  );
  page.headers.append("Set-Cookie", cookie);
  page.headers.set("Refresh", `0; url=${url}`);
  return page;
}

async function disconnect(visit: UserVisit): Promise<Response> {
  const { deps, user, session, exchange } = visit;
  const { name } = providerOf(visit).client.settings;
  await disconnectProvider(deps, { user, keepSessionId: session.id });
  await visit.flashes.put(session.id, { notice: `${name} is disconnected: it signs you in no more.` });
  return redirect(PROFILE, exchange);
}

/** After signing out here: the provider would sign the same person in again without a question. */
async function signOutThere(visit: Visit): Promise<Response> {
  const signInPage = "/console/sign-in";
  const { client } = providerOf(visit);
  const url = await client.signOutUrl(visit.deps.config.baseUrl + signInPage).catch(() => undefined);
  return redirect(url ?? signInPage, visit.exchange);
}

export const providerRoutes = [
  anyone.get("/console/sign-in/oidc", begin),
  anyone.get("/console/sign-in/oidc/callback", comeBack),
  anyone.get("/console/sign-out/oidc", signOutThere),
  signedIn.post("/console/profile/oidc", setOutToConnect),
  signedIn.post("/console/profile/oidc/disconnect", disconnect),
];
