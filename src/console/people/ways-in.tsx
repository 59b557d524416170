/** @jsxImportSource preact */
import type { Identity, WaysIn } from "../../store/people/identities.ts";
import { Badge, Card, Confirm, Field, PostForm, Time } from "../elements.tsx";
import { PageError } from "../page-error.ts";
import type { UserVisit, Visit } from "../visit.ts";

// What pages say and offer about a sign-in provider beside passwords and passkeys.

/** Throws 403 where people sign in at the provider alone. */
export function refusePasswords({ deps }: Visit): void {
  const { oidc } = deps.config;
  if (oidc?.only)
    throw new PageError(403, `Passwords and passkeys are switched off here. Sign in with ${oidc.name}.`);
}

/** On the sign-in page. */
export function ProviderSignIn({ visit, next }: { visit: Visit; next: string }) {
  const { oidc } = visit.deps.config;
  if (!oidc) return null;
  const query = next === "" ? "" : `?next=${encodeURIComponent(next)}`;
  return (
    <a
      class={oidc.only ? "button button-primary button-wide" : "button button-wide"}
      href={`/console/sign-in/oidc${query}`}
    >
      {`Sign in with ${oidc.name}`}
    </a>
  );
}

/** After signing out of a session that began at the provider, whose own session goes on. */
export function SignOutThere({ visit }: { visit: Visit }) {
  const { oidc } = visit.deps.config;
  if (!oidc || visit.query.get("out") !== "provider") return null;
  return (
    <>
      {" "}
      <a href="/console/sign-out/oidc">{`Sign out of ${oidc.name} as well`}</a>
    </>
  );
}

/** How somebody can sign in, in words. */
export function waysInWords(ways: WaysIn | undefined, { deps }: Visit): string {
  const { oidc } = deps.config;
  const words = [
    ways?.password && !oidc?.only && "Password",
    ways?.passkey && !oidc?.only && "Passkey",
    ways?.provider && oidc?.name,
  ].filter((word) => typeof word === "string");
  return words.join(", ");
}

/** Beside a role that groups give. */
export function ByGroups({ visit, groupRole }: { visit: Visit; groupRole: string | null }) {
  const { oidc } = visit.deps.config;
  return oidc && groupRole !== null ? <Badge>{`by ${oidc.name}`}</Badge> : null;
}

/** What a removal does not prevent. */
export function comesBack({ deps }: Visit, isByGroups: boolean): string {
  const { oidc } = deps.config;
  return oidc && isByGroups
    ? ` A group of ${oidc.name} gives this role: take them out of it there too, or it comes back when they sign in next.`
    : "";
}

/** On the profile page: connects the provider, or says as whom it is connected. */
export function ProviderCard({ visit, identities }: { visit: UserVisit; identities: Identity[] }) {
  const { oidc } = visit.deps.config;
  if (!oidc) return null;
  const identity = identities.find(({ issuer }) => issuer === oidc.issuer);
  const hasPassword = visit.user.passwordHash !== null && !oidc.only;
  return (
    <Card
      title={oidc.name}
      note={identity ? `Signs you in here.` : `Sign in with your account there as well.`}
    >
      {identity ? (
        <ul class="list">
          <li>
            <strong>{identity.email ?? identity.subject}</strong>
            <span class="note">
              Last used <Time at={identity.lastUsedAt} style="relative" />
            </span>
            <span class="grow" />
            {hasPassword && (
              <Confirm
                visit={visit}
                id="disconnect-provider"
                action="/console/profile/oidc/disconnect"
                button="Disconnect"
                title={`Disconnect ${oidc.name}?`}
                confirm="Disconnect"
              >
                <p>
                  It no longer signs you in; your password still does. What only its groups opened to you is
                  closed: if that is anything, you are signed out everywhere, here too.
                </p>
              </Confirm>
            )}
          </li>
        </ul>
      ) : (
        <ConnectForm visit={visit} name={oidc.name} />
      )}
    </Card>
  );
}

function ConnectForm({ visit, name }: { visit: UserVisit; name: string }) {
  return (
    <PostForm visit={visit} action="/console/profile/oidc" class="form narrow-form">
      <input type="text" name="email" value={visit.user.email} autocomplete="username" hidden readOnly />
      <Field label="Your password" id="connect-password">
        <input
          id="connect-password"
          name="password"
          type="password"
          required
          autocomplete="current-password"
        />
      </Field>
      <div>
        <button type="submit" class="button">
          {`Connect ${name}`}
        </button>
      </div>
    </PostForm>
  );
}
