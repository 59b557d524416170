/** @jsxImportSource preact */
import { changePassword, checkPassword, passwordProblem } from "../app/sign-in.ts";
import { OperatorError } from "../core/errors.ts";
import { MIN_PASSWORD_CHARS } from "../core/limits.ts";
import { Card, Field, PageHead, PostForm, Time } from "./elements.tsx";
import { shell } from "./layout.tsx";
import { Passkeys } from "./passkeys.tsx";
import { redirect } from "./respond.ts";
import { signedIn, type UserVisit } from "./visit.ts";

async function profilePage(visit: UserVisit): Promise<Response> {
  const { user, session } = visit;
  return shell(
    visit,
    "Profile",
    <>
      <PageHead title="Profile" lead={user.email} />
      <Card title="Password" note="Changing it signs you out everywhere else.">
        <PostForm visit={visit} action="/console/profile/password" class="form narrow-form">
          <input type="text" name="email" value={user.email} autocomplete="username" hidden readOnly />
          <Field label="Current password" id="current">
            <input id="current" name="current" type="password" required autocomplete="current-password" />
          </Field>
          <Field label="New password" id="password" hint={`At least ${MIN_PASSWORD_CHARS} characters.`}>
            <input
              id="password"
              name="password"
              type="password"
              required
              minLength={MIN_PASSWORD_CHARS}
              autocomplete="new-password"
              aria-describedby="password-hint"
            />
          </Field>
          <div>
            <button type="submit" class="button button-primary">
              Change password
            </button>
          </div>
        </PostForm>
      </Card>
      {await Passkeys({ visit })}
      <Card title="This session">
        <dl class="facts">
          <dt>Signed in</dt>
          <dd>
            <Time at={session.createdAt} />
          </dd>
          <dt>Ends</dt>
          <dd>
            <Time at={session.expiresAt} />, or after eight hours without a click
          </dd>
        </dl>
      </Card>
    </>,
  );
}

async function change(visit: UserVisit): Promise<Response> {
  const { parts, user, session, signIns, exchange, form } = visit;
  // A stolen session must not be a way to guess the password either.
  if (!(await signIns.take(user.email, exchange.clientAddress)))
    throw new OperatorError("Too many tries. Wait a quarter of an hour.");
  const known = await checkPassword(parts, { email: user.email, password: form.get("current") ?? "" });
  if (!known) throw new OperatorError("The current password is not right. Nothing was changed.");
  await signIns.forgive(user.email, exchange.clientAddress);
  const password = form.get("password") ?? "";
  const problem = passwordProblem(password, user.email);
  if (problem) throw new OperatorError(problem);
  await changePassword(parts, { user, password, keepSessionId: session.id });
  visit.flashes.put(session.id, { notice: "Your password is changed. You are signed out everywhere else." });
  return redirect("/console/profile", exchange);
}

export const profileRoutes = [
  signedIn.get("/console/profile", profilePage),
  signedIn.post("/console/profile/password", change),
];
