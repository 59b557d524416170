/** @jsxImportSource preact */
import { isEmail } from "../../app/people/manage-users.ts";
import { normalEmail } from "../../app/people/sign-in.ts";
import { RESETS_PER_EMAIL } from "../../core/sign-in-limits.ts";
import { Field, Notice } from "../elements.tsx";
import { narrowPage } from "../layout.tsx";
import { anyone, field, type Visit } from "../visit.ts";
import { refusePasswords } from "./ways-in.tsx";

function forgottenPasswordPage(visit: Visit, problem?: { status: number; message: string }): Response {
  refusePasswords(visit);
  const sendsMail = visit.deps.config.mail !== undefined;
  return narrowPage(
    visit,
    "Password lost",
    <>
      <h1>Password lost?</h1>
      {problem && <Notice tone="bad">{problem.message}</Notice>}
      {sendsMail ? <RequestForm visit={visit} /> : <AskTheOperator />}
      <p class="hint">
        <a href="/console/sign-in">Back to signing in</a>
      </p>
    </>,
    { status: problem?.status ?? 200 },
  );
}

function RequestForm({ visit }: { visit: Visit }) {
  const email = field(visit, "email") || (visit.query.get("email") ?? "").slice(0, 254);
  return (
    <>
      <p class="lead">Write the email you sign in with, and we mail you a link to set a new password.</p>
      <form method="post" action="/console/forgotten-password">
        <Field label="Email" id="email">
          <input id="email" name="email" type="email" required autocomplete="username" value={email} />
        </Field>
        <button type="submit" class="button button-primary button-wide">
          Send me a link
        </button>
      </form>
    </>
  );
}

function AskTheOperator() {
  return (
    <p class="lead">
      This service sends no mail. Ask its operator for a new link: they give you one from the list of members.
    </p>
  );
}

/** The same for every email, known or not: nobody can find out here who has an account. */
function sentPage(visit: Visit, email: string): Response {
  return narrowPage(
    visit,
    "Look into your mailbox",
    <>
      <h1>Look into your mailbox</h1>
      <p class="lead">
        If somebody signs in here as {email}, a link to set a new password is on its way to them. It works
        once, within an hour. Until it is used the password stays as it is.
      </p>
      <p class="hint">
        Nothing there after a few minutes? Look among unwanted mails, then check the address or ask the
        operator of this service. <a href="/console/sign-in">Back to signing in</a>
      </p>
    </>,
  );
}

async function requestLink(visit: Visit): Promise<Response> {
  refusePasswords(visit);
  const { deps, exchange } = visit;
  if (!deps.config.mail) return forgottenPasswordPage(visit);
  const email = normalEmail(field(visit, "email")).slice(0, 254);
  if (!isEmail(email))
    return forgottenPasswordPage(visit, {
      status: 422,
      message: "Write your email address like ana@example.com.",
    });
  if (!(await visit.resets.take(email, exchange.clientAddress)))
    return forgottenPasswordPage(visit, {
      status: 429,
      message: `Too many links were asked for: at most ${RESETS_PER_EMAIL} an hour are sent to one address. Look for the last one, or wait an hour.`,
    });
  deps.passwordResets.request(email);
  return sentPage(visit, email);
}

export const forgottenPasswordRoutes = [
  anyone.get("/console/forgotten-password", async (visit) => forgottenPasswordPage(visit)),
  anyone.post("/console/forgotten-password", requestLink),
];
