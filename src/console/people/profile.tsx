/** @jsxImportSource preact */
import {
  changePassword,
  checkPassword,
  endOtherSessions,
  passwordProblem,
} from "../../app/people/sign-in.ts";
import { Refusal } from "../../core/errors.ts";
import { identitiesOf } from "../../store/people/identities.ts";
import { passkeysOf } from "../../store/people/passkeys.ts";
import { type Session, sessionsOf } from "../../store/people/sessions.ts";
import { Badge, Card, Field, NewPasswordField, PageHead, PostForm, Time } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { signedIn, type UserVisit } from "../visit.ts";
import { CHECK_PASSKEYS, PasskeyCheck, Passkeys } from "./passkeys.tsx";
import { PasskeysElsewhere } from "./passkeys-elsewhere.tsx";
import { ProviderCard } from "./ways-in.tsx";

function Sessions({ visit, sessions }: { visit: UserVisit; sessions: Session[] }) {
  const { oidc } = visit.deps.config;
  return (
    <Card
      title="Sessions"
      note={`A session ends after eight hours without a click, and after a week in any case${oidc ? `, with ${oidc.name} after half a day` : ""}.`}
      actions={
        sessions.length > 1 && (
          <PostForm visit={visit} action="/console/profile/sign-out-elsewhere">
            <button type="submit" class="button button-small">
              Sign out everywhere else
            </button>
          </PostForm>
        )
      }
    >
      <ul class="list">
        {sessions.map((session) => (
          <li key={session.id}>
            <strong>
              Signed in <Time at={session.createdAt} />
              {oidc && session.identityId !== null && ` with ${oidc.name}`}
            </strong>
            {session.id === visit.session.id && <Badge tone="good">This browser</Badge>}
            <span class="grow" />
            <span class="note">
              Last click <Time at={session.lastSeenAt} style="relative" />, ends{" "}
              <Time at={session.expiresAt} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Password({ visit }: { visit: UserVisit }) {
  return (
    <Card title="Password" note="Changing it signs you out everywhere else.">
      <PostForm visit={visit} action="/console/profile/password" class="form narrow-form">
        <input type="text" name="email" value={visit.user.email} autocomplete="username" hidden readOnly />
        <Field label="Current password" id="current">
          <input id="current" name="current" type="password" required autocomplete="current-password" />
        </Field>
        <NewPasswordField label="New password" />
        <div>
          <button type="submit" class="button button-primary">
            Change password
          </button>
        </div>
      </PostForm>
    </Card>
  );
}

async function profilePage(visit: UserVisit): Promise<Response> {
  const { user, deps, now } = visit;
  const sessions = await sessionsOf(deps.store.read, user.id, now);
  const passkeys = await passkeysOf(deps.store.read, user.id);
  const identities = await identitiesOf(deps.store.read, user.id);
  // Without a password nothing proves that it is them who add a passkey.
  const hasPassword = user.passwordHash !== null && !deps.config.oidc?.only;
  return shell(
    visit,
    "Profile",
    <>
      <PageHead title="Profile" lead={user.email} />
      <PasskeyCheck visit={visit} passkeys={passkeys} />
      {hasPassword && <Password visit={visit} />}
      <ProviderCard visit={visit} identities={identities} />
      {hasPassword && <Passkeys visit={visit} passkeys={passkeys} />}
      {hasPassword && <PasskeysElsewhere visit={visit} />}
      <Sessions visit={visit} sessions={sessions} />
    </>,
  );
}

async function signOutElsewhere(visit: UserVisit): Promise<Response> {
  const { deps, user, session, exchange } = visit;
  await endOtherSessions(deps, { user, keepSessionId: session.id });
  await visit.flashes.put(session.id, { notice: "You are signed out everywhere else." });
  return redirect(CHECK_PASSKEYS, exchange);
}

async function change(visit: UserVisit): Promise<Response> {
  const { deps, user, session, signIns, exchange, form } = visit;
  // A stolen session must not allow guessing the password either.
  if (!(await signIns.take(user.email, exchange.clientAddress)))
    throw new Refusal("LIMIT_REACHED", "Too many tries. Wait a quarter of an hour.");
  const known = await checkPassword(deps, { email: user.email, password: form.get("current") ?? "" });
  if (!known) throw new Refusal("NOT_PROVEN", "The current password is not right. Nothing was changed.");
  await signIns.forgive(user.email, exchange.clientAddress);
  const password = form.get("password") ?? "";
  const problem = passwordProblem(password, user.email);
  if (problem) throw new Refusal("INVALID_REQUEST", problem);
  await changePassword(deps, { user: known, password, keepSessionId: session.id });
  await visit.flashes.put(session.id, {
    notice: "Your password is changed. You are signed out everywhere else.",
  });
  return redirect(CHECK_PASSKEYS, exchange);
}

export const profileRoutes = [
  signedIn.get("/console/profile", profilePage),
  signedIn.post("/console/profile/password", change),
  signedIn.post("/console/profile/sign-out-elsewhere", signOutElsewhere),
];
