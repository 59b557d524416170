/** @jsxImportSource preact */
import {
  checkPassword,
  endSession,
  normalEmail,
  readSession,
  startSession,
} from "../../app/people/sign-in.ts";
import { Field, Notice } from "../elements.tsx";
import { narrowPage } from "../layout.tsx";
import { ownPath } from "../own-path.ts";
import { redirect, sessionCookie } from "../respond.ts";
import { anyone, field, signedIn, type UserVisit, type Visit } from "../visit.ts";
import { PasskeySignIn } from "./passkeys.tsx";
import { ProviderSignIn, refusePasswords, SignOutThere } from "./ways-in.tsx";

function signInPage(visit: Visit, problem?: { status: number; message: string }): Response {
  const { oidc } = visit.deps.config;
  const next = visit.query.get("next") ?? field(visit, "next");
  return narrowPage(
    visit,
    "Sign in",
    <>
      <h1>Sign in</h1>
      {visit.query.has("ended") && !problem && (
        <Notice tone="info">Your session has ended. Sign in again to go on.</Notice>
      )}
      {visit.query.has("out") && !problem && (
        <Notice tone="good">
          You are signed out.
          <SignOutThere visit={visit} />
        </Notice>
      )}
      {problem && <Notice tone="bad">{problem.message}</Notice>}
      {oidc?.only ? (
        <>
          <ProviderSignIn visit={visit} next={next} />
          <p class="hint">{`People sign in here with ${oidc.name} alone.`}</p>
        </>
      ) : (
        <OwnWays visit={visit} next={next} />
      )}
    </>,
    { status: problem?.status ?? 200 },
  );
}

function OwnWays({ visit, next }: { visit: Visit; next: string }) {
  return (
    <>
      <form method="post" action="/console/sign-in">
        <input type="hidden" name="next" value={next} />
        <Field label="Email" id="email">
          <input
            id="email"
            name="email"
            type="email"
            required
            autocomplete="username webauthn"
            value={field(visit, "email")}
          />
        </Field>
        <Field label="Password" id="password">
          <input id="password" name="password" type="password" required autocomplete="current-password" />
        </Field>
        <button type="submit" class="button button-primary button-wide">
          Sign in
        </button>
      </form>
      <ProviderSignIn visit={visit} next={next} />
      <PasskeySignIn visit={visit} />
      <p class="hint">
        <a href="/console/forgotten-password">Password lost?</a> First time here? Ask an owner of your
        account, or the operator of this service, for a setup link.
      </p>
    </>
  );
}

/** Users who are signed in already continue to their destination. */
async function openSignIn(visit: Visit): Promise<Response> {
  const { deps, token, exchange, query } = visit;
  const found = token === undefined ? undefined : await readSession(deps, token, { isClick: true });
  return found ? redirect(ownPath(query.get("next") ?? ""), exchange) : signInPage(visit);
}

async function signIn(visit: Visit): Promise<Response> {
  refusePasswords(visit);
  const { deps, signIns, exchange } = visit;
  const email = normalEmail(field(visit, "email")).slice(0, 254);
  if (!(await signIns.take(email, exchange.clientAddress))) {
    return signInPage(visit, {
      status: 429,
      message: "Too many tries. Wait a quarter of an hour, or ask for a new setup link.",
    });
  }
  // Not trimmed: spaces belong to the password.
  const user = await checkPassword(deps, { email, password: visit.form.get("password") ?? "" });
  if (!user) {
    return signInPage(visit, {
      status: 401,
      message: "Email or password is not right. Check both and try again.",
    });
  }
  await signIns.forgive(email, exchange.clientAddress);
  const { token } = await startSession(deps, user, visit.token);
  return redirect(ownPath(field(visit, "next")), exchange, sessionCookie(deps.config, token));
}

async function signOut(visit: UserVisit): Promise<Response> {
  if (visit.token !== undefined) await endSession(visit.deps, visit.token);
  const out = visit.session.identityId === null ? "1" : "provider";
  return redirect(`/console/sign-in?out=${out}`, visit.exchange, sessionCookie(visit.deps.config, null));
}

export const signInRoutes = [
  anyone.get("/console/sign-in", openSignIn),
  anyone.post("/console/sign-in", signIn),
  signedIn.post("/console/sign-out", signOut),
];
