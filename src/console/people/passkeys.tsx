/** @jsxImportSource preact */
import { checkPassword, startSession } from "../../app/people/sign-in.ts";
import { Refusal } from "../../core/errors.ts";
import { networkOf } from "../../http/client-address.ts";
import type { Passkey } from "../../store/people/passkeys.ts";
import { Card, Confirm, Field, Notice, PostForm, Time } from "../elements.tsx";
import { ownPath } from "../own-path.ts";
import { notFound, PageError } from "../page-error.ts";
import { privateJson, redirect, sessionCookie } from "../respond.ts";
import { anyone, field, signedIn, type UserVisit, type Visit } from "../visit.ts";
import { refusePasswords } from "./ways-in.tsx";

const MAX_NAME_CHARS = 60;

/** On the sign-in page; revealed by its script in browsers that support it. */
export function PasskeySignIn({ visit }: { visit: Visit }) {
  if (!visit.passkeys.isPossible) return null;
  return (
    <form method="post" action="/console/sign-in/passkey" data-passkey="use" hidden>
      <input type="hidden" name="response" />
      <input type="hidden" name="next" value={visit.query.get("next") ?? ""} />
      <button type="submit" class="button button-wide">
        Sign in with a passkey
      </button>
      <p class="hint" data-problem aria-live="polite" />
    </form>
  );
}

/** Linked after sessions or a password were ended: passkeys keep working, and a thief may have added one. */
export const CHECK_PASSKEYS = "/console/profile?check=passkeys";

/**
 * On the profile page after sessions or a password were ended: what still signs in, and a button to remove
 * it.
 */
export function PasskeyCheck({ visit, passkeys }: { visit: UserVisit; passkeys: Passkey[] }) {
  if (visit.query.get("check") !== "passkeys" || passkeys.length === 0) return null;
  const names = passkeys.map(({ name }) => name).join(", ");
  return (
    <Notice
      tone="warn"
      title={passkeys.length === 1 ? "A passkey still signs you in" : "Passkeys still sign you in"}
    >
      <p>
        {`${names}. Anyone who holds one can sign in without the password. Remove those that are not yours below, or all of them here.`}
      </p>
      <div class="actions">
        <RemoveAll visit={visit} id="check-remove-all" />
      </div>
    </Notice>
  );
}

function RemoveAll({ visit, id }: { visit: UserVisit; id: string }) {
  return (
    <Confirm
      visit={visit}
      id={id}
      action="/console/profile/passkeys/remove-all"
      button="Remove all passkeys"
      title="Remove all passkeys?"
      confirm="Remove all"
    >
      <p>None of them signs you in any more. Your password still does.</p>
    </Confirm>
  );
}

/** On the profile page: existing passkeys, and a form to add one. */
export function Passkeys({ visit, passkeys }: { visit: UserVisit; passkeys: Passkey[] }) {
  if (!visit.passkeys.isPossible) return null;
  return (
    <Card
      title="Passkeys"
      note="Sign in with your fingerprint, face or security key instead of the password."
      actions={passkeys.length > 1 && <RemoveAll visit={visit} id="remove-all" />}
    >
      {passkeys.length > 0 && (
        <ul class="list">
          {passkeys.map((passkey) => (
            <li key={passkey.id}>
              <strong>{passkey.name}</strong>
              <span class="note">
                {passkey.lastUsedAt === null ? (
                  "Never used"
                ) : (
                  <Time at={passkey.lastUsedAt} style="relative" />
                )}
              </span>
              <span class="grow" />
              <Confirm
                visit={visit}
                id={`remove-${passkey.id}`}
                action={`/console/profile/passkeys/${passkey.id}/remove`}
                button="Remove"
                title={`Remove ${passkey.name}?`}
                confirm="Remove passkey"
              >
                <p>It no longer signs you in. Your password still does.</p>
              </Confirm>
            </li>
          ))}
        </ul>
      )}
      <PostForm
        visit={visit}
        action="/console/profile/passkeys"
        class="form narrow-form"
        data-passkey="add"
        hidden
      >
        <input type="hidden" name="response" />
        <input type="text" name="email" value={visit.user.email} autocomplete="username" hidden readOnly />
        <Field label="Name" id="passkey-name">
          <input
            id="passkey-name"
            name="name"
            type="text"
            required
            maxLength={MAX_NAME_CHARS}
            placeholder="My laptop"
          />
        </Field>
        <Field
          label="Your password"
          id="passkey-password"
          hint={passkeys.length > 0 && "Or leave it empty, and confirm with a passkey you have."}
        >
          <input
            id="passkey-password"
            name="password"
            type="password"
            required={passkeys.length === 0}
            autocomplete="current-password"
            aria-describedby={passkeys.length > 0 ? "passkey-password-hint" : undefined}
          />
        </Field>
        <div>
          <button type="submit" class="button">
            Add passkey
          </button>
          <p class="hint" data-problem aria-live="polite" />
        </div>
      </PostForm>
    </Card>
  );
}

function readResponse(visit: Visit): object {
  const response = parsed(visit.form.get("response") ?? "");
  if (typeof response === "object" && response !== null) return response;
  throw new Refusal("NOT_PROVEN", "The browser sent no passkey. Try again.");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Options for creating a passkey, given to a user who proves the password or a passkey again: a session
 * alone, which may be stolen, must not turn into a way in that outlives it. Problems are reported in the
 * script's words.
 */
async function offer(visit: UserVisit): Promise<Response> {
  const { passkeys, signIns, exchange, user, form } = visit;
  if (!(await signIns.take(user.email, exchange.clientAddress)))
    return privateJson(visit.exchange, { problem: "Too many tries. Wait a quarter of an hour." }, 429);
  const isPerson = form.get("response")
    ? (await passkeys.verify(readResponse(visit)))?.id === user.id
    : await isPassword(visit, form.get("password") ?? "");
  if (!isPerson)
    return privateJson(visit.exchange, { problem: "The password is not right. Nothing was added." }, 403);
  await signIns.forgive(user.email, exchange.clientAddress);
  return privateJson(visit.exchange, await passkeys.registrationOptions(user));
}

async function isPassword({ deps, user }: UserVisit, password: string): Promise<boolean> {
  return (await checkPassword(deps, { email: user.email, password })) !== undefined;
}

async function add(visit: UserVisit): Promise<Response> {
  const name = field(visit, "name");
  if (name === "" || [...name].length > MAX_NAME_CHARS)
    throw new Refusal("INVALID_REQUEST", `Give the passkey a name of 1 to ${MAX_NAME_CHARS} characters.`);
  await visit.passkeys.register(visit.user, readResponse(visit), name);
  await visit.flashes.put(visit.session.id, { notice: `The passkey ${name} is added.` });
  return redirect("/console/profile", visit.exchange);
}

async function remove(visit: UserVisit): Promise<Response> {
  if (!(await visit.passkeys.remove(visit.user, visit.params.id ?? ""))) throw notFound();
  await visit.flashes.put(visit.session.id, { notice: "The passkey is removed." });
  return redirect("/console/profile", visit.exchange);
}

async function removeAll(visit: UserVisit): Promise<Response> {
  const gone = await visit.passkeys.removeAll(visit.user);
  await visit.flashes.put(visit.session.id, {
    notice: gone === 1 ? "The passkey is removed." : `All ${gone} passkeys are removed.`,
  });
  return redirect("/console/profile", visit.exchange);
}

async function signIn(visit: Visit): Promise<Response> {
  refusePasswords(visit);
  const { deps, signIns, exchange, token } = visit;
  // The same budget as passwords, under a name no email can have; one per network, so that nobody can lock
  // out everybody.
  const budget = `passkey ${networkOf(exchange.clientAddress)}`;
  const mayTry = await signIns.take(budget, exchange.clientAddress);
  const user = mayTry ? await visit.passkeys.verify(readResponse(visit)) : undefined;
  if (!user)
    throw new PageError(403, "This passkey does not sign anybody in here. Use your email and password.");
  await signIns.forgive(budget, exchange.clientAddress);
  const started = await startSession(deps, user, token);
  return redirect(ownPath(field(visit, "next")), exchange, sessionCookie(deps.config, started.token));
}

export const passkeyRoutes = [
  anyone.post("/console/sign-in/passkey/options", async (visit) =>
    privateJson(visit.exchange, await visit.passkeys.signInOptions()),
  ),
  anyone.post("/console/sign-in/passkey", signIn),
  signedIn.post("/console/profile/passkeys/options", offer),
  signedIn.post("/console/profile/passkeys", add),
  signedIn.post("/console/profile/passkeys/remove-all", removeAll),
  signedIn.post("/console/profile/passkeys/:id/remove", remove),
];
