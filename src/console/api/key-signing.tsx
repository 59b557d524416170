/** @jsxImportSource preact */

import type { ApiKey } from "../../store/people/keys.ts";
import { Confirm, CopyText } from "../elements.tsx";
import type { Flash } from "../flash.ts";
import type { MemberVisit } from "../visit.ts";

/** Shows a signing secret that was just made. */
export function FreshSecret({ secret }: { secret: NonNullable<Flash["signingSecret"]> }) {
  return (
    <section class="card card-accent" aria-labelledby="fresh-title">
      <h2 id="fresh-title">{`Copy the signing secret of ${secret.keyName} now`}</h2>
      <p>
        This is the only time it is shown. With it and the key's id <code>{secret.keyId}</code> your server
        signs <a href="/docs/on-demand">addresses of on-demand pictures</a>.
      </p>
      <CopyText id="fresh-key" text={secret.text} label={`The signing secret of ${secret.keyName}`} />
    </section>
  );
}

/** What may be done to a key's signing secret. */
export function SigningActions({ visit, row }: { visit: MemberVisit; row: ApiKey }) {
  const hasOne = row.signingSecret !== null;
  return (
    <>
      <Confirm
        visit={visit}
        id={`signing-${row.id}`}
        action={`/console/keys/${row.id}/signing`}
        button={hasOne ? "New signing secret" : "Signing secret"}
        title={hasOne ? `Replace the signing secret of ${row.name}?` : `Let ${row.name} sign addresses?`}
        confirm={hasOne ? "Replace the secret" : "Make the secret"}
        danger={hasOne}
      >
        <p>
          {hasOne
            ? "Every address signed with the old secret is refused from now on, also those in mails that were sent."
            : "You get a secret with which your server signs addresses of cards that are made when somebody opens them. It makes cards, and nothing else."}
        </p>
      </Confirm>
      {hasOne && (
        <Confirm
          visit={visit}
          id={`unsigning-${row.id}`}
          action={`/console/keys/${row.id}/signing/remove`}
          button="Remove signing secret"
          title={`Let ${row.name} sign no more addresses?`}
          confirm="Remove the secret"
        >
          <p>Every address signed with it is refused from now on. The key itself goes on working.</p>
        </Confirm>
      )}
    </>
  );
}
