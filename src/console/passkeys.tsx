/** @jsxImportSource preact */
import { startSession } from "../app/sign-in.ts";
import { OperatorError } from "../core/errors.ts";
import { networkOf } from "../http/client-address.ts";
import { passkeysOf } from "../store/passkeys.ts";
import { Card, Confirm, Field, PostForm, Time } from "./elements.tsx";
import { ownPath } from "./own-path.ts";
import { notFound, PageError } from "./page-error.ts";
import { privateFile, redirect, sessionCookie } from "./respond.ts";
import { anyone, field, signedIn, type UserVisit, type Visit } from "./visit.ts";

const MAX_NAME_CHARS = 60;

/** On the sign-in page: shown by its script, in browsers that can. */
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

/** On the profile page: the passkeys there are, and a form to add one. */
export async function Passkeys({ visit }: { visit: UserVisit }) {
  if (!visit.passkeys.isPossible) return null;
  const passkeys = await passkeysOf(visit.parts.store.read, visit.user.id);
  return (
    <Card
      title="Passkeys"
      note="Sign in with your fingerprint, face or security key instead of the password."
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
      <PostForm visit={visit} action="/console/profile/passkeys" class="row-form" data-passkey="add" hidden>
        <input type="hidden" name="response" />
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
        <button type="submit" class="button">
          Add passkey
        </button>
        <p class="hint" data-problem aria-live="polite" />
      </PostForm>
    </Card>
  );
}

function json(visit: Visit, value: unknown): Response {
  return privateFile(visit.exchange, JSON.stringify(value), { "Content-Type": "application/json" });
}

function readResponse(visit: Visit): object {
  const response = parsed(visit.form.get("response") ?? "");
  if (typeof response === "object" && response !== null) return response;
  throw new OperatorError("The browser sent no passkey. Try again.");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function add(visit: UserVisit): Promise<Response> {
  const name = field(visit, "name");
  if (name === "" || [...name].length > MAX_NAME_CHARS)
    throw new OperatorError(`Give the passkey a name of 1 to ${MAX_NAME_CHARS} characters.`);
  await visit.passkeys.register(visit.user, readResponse(visit), name);
  visit.flashes.put(visit.session.id, { notice: `The passkey ${name} is added.` });
  return redirect("/console/profile", visit.exchange);
}

async function remove(visit: UserVisit): Promise<Response> {
  if (!(await visit.passkeys.remove(visit.user, visit.params.id ?? ""))) throw notFound();
  visit.flashes.put(visit.session.id, { notice: "The passkey is removed." });
  return redirect("/console/profile", visit.exchange);
}

async function signIn(visit: Visit): Promise<Response> {
  const { parts, signIns, exchange, token } = visit;
  // The same budget as passwords, under a name no email has; one for each network, so that nobody can lock out all.
  const budget = `passkey ${networkOf(exchange.clientAddress)}`;
  const mayTry = signIns.take(budget, exchange.clientAddress);
  const user = mayTry ? await visit.passkeys.verify(readResponse(visit)) : undefined;
  if (!user)
    throw new PageError(403, "This passkey does not sign anybody in here. Use your email and password.");
  signIns.forgive(budget, exchange.clientAddress);
  const started = await startSession(parts, user, token);
  return redirect(ownPath(field(visit, "next")), exchange, sessionCookie(parts.config, started.token));
}

export const passkeyRoutes = [
  anyone.post("/console/sign-in/passkey/options", async (visit) =>
    json(visit, await visit.passkeys.signInOptions()),
  ),
  anyone.post("/console/sign-in/passkey", signIn),
  signedIn.post("/console/profile/passkeys/options", async (visit) =>
    json(visit, await visit.passkeys.registrationOptions(visit.user)),
  ),
  signedIn.post("/console/profile/passkeys", add),
  signedIn.post("/console/profile/passkeys/:id/remove", remove),
];
