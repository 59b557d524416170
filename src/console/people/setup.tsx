/** @jsxImportSource preact */
import { isEmail } from "../../app/people/manage-users.ts";
import {
  completeSetup,
  normalEmail,
  passwordProblem,
  setupLinkFor,
  startSession,
} from "../../app/people/sign-in.ts";
import type { User } from "../../store/people/users.ts";
import { Field, NewPasswordField, Notice } from "../elements.tsx";
import { narrowPage } from "../layout.tsx";
import { redirect, sessionCookie } from "../respond.ts";
import { anyone, field, type Visit } from "../visit.ts";
import { refusePasswords } from "./ways-in.tsx";

async function setupPage(visit: Visit, problem?: string): Promise<Response> {
  const link = await setupLinkFor(visit.deps, visit.params.token ?? "");
  if (!link) return spentPage(visit);
  const { user } = link;
  refuseBesideProvider(visit, user);
  const isFirst = user === null;
  return narrowPage(
    visit,
    "Set your password",
    <>
      <h1>{isFirst ? "Welcome to cardpress" : "Set your password"}</h1>
      <p class="lead">
        {isFirst
          ? "You are the first here. Choose how you sign in as the operator of this service."
          : "This link works once. Afterwards you sign in with your email and this password."}
      </p>
      {problem && <Notice tone="bad">{problem}</Notice>}
      <form method="post" action={visit.exchange.url.pathname}>
        <Field label="Email" id="email">
          <input
            id="email"
            name="email"
            type="email"
            required
            autocomplete="username"
            value={user?.email ?? field(visit, "email")}
            readOnly={!isFirst}
          />
        </Field>
        <NewPasswordField
          label="Password"
          advice=" A few unusual words are easy to remember and hard to guess."
        />
        <Field label="The same password again" id="again">
          <input id="again" name="again" type="password" required autocomplete="new-password" />
        </Field>
        <button type="submit" class="button button-primary button-wide">
          Set password and sign in
        </button>
      </form>
    </>,
    { status: problem ? 422 : 200 },
  );
}

/**
 * Where people sign in at a provider alone, a link still lets an operator in, should the provider fail.
 * Throws 403 for others.
 */
function refuseBesideProvider(visit: Visit, user: User | null): void {
  if (user !== null && user.isOperator === 0) refusePasswords(visit);
}

function spentPage(visit: Visit): Response {
  return narrowPage(
    visit,
    "This link does not work",
    <>
      <h1>This link does not work any more</h1>
      <p class="lead">
        A setup link works once and for three days. If you have set your password already, sign in with it; if
        not, ask the operator of this service for a new link.
      </p>
      <p class="actions">
        <a class="button button-primary" href="/console/sign-in">
          Sign in
        </a>
      </p>
    </>,
    { status: 404 },
  );
}

async function setUp(visit: Visit): Promise<Response> {
  const { deps, params, form, exchange } = visit;
  const token = params.token ?? "";
  const link = await setupLinkFor(deps, token);
  if (!link) return spentPage(visit);
  refuseBesideProvider(visit, link.user);
  const email = link.user?.email ?? normalEmail(field(visit, "email"));
  const password = form.get("password") ?? "";
  if (!isEmail(email)) return setupPage(visit, "Write your email address like ana@example.com.");
  const problem =
    passwordProblem(password, email) ??
    (password === form.get("again") ? null : "The two passwords are not the same.");
  if (problem) return setupPage(visit, problem);
  const user = await completeSetup(deps, { token, password, email });
  const started = await startSession(deps, user, visit.token);
  return redirect("/console", exchange, sessionCookie(deps.config, started.token));
}

export const setupRoutes = [
  anyone.get("/console/setup/:token", (visit) => setupPage(visit)),
  anyone.post("/console/setup/:token", setUp),
];
