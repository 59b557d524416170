/** @jsxImportSource preact */

import { mayDelete, scopesFor } from "../../app/people/deletion-rights.ts";
import { createKey, type KeyRules, regenerateKey, revokeKey } from "../../app/people/manage-account.ts";
import { makeSigningSecret, removeSigningSecret } from "../../app/people/manage-signing.ts";
import { ENVIRONMENTS } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { KEY_SCOPES, SCOPE_MEANINGS } from "../../core/key-rules.ts";
import { MAX_KEY_NAME_CHARS } from "../../core/limits.ts";
import { DAY_MS, isoTime, parseTime } from "../../core/time.ts";
import { type ApiKey, findKey, listKeys } from "../../store/people/keys.ts";
import {
  Badge,
  Card,
  Confirm,
  CopyText,
  Empty,
  EnvironmentBadge,
  EnvironmentChoice,
  Field,
  Notice,
  PageHead,
  PostForm,
  Time,
} from "../elements.tsx";
import { type Flash, typedInto } from "../flash.ts";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member, takeFlash } from "../visit.ts";
import { FreshSecret, SigningActions } from "./key-signing.tsx";

function FreshKey({ fresh }: { fresh: NonNullable<Flash["key"]> }) {
  return (
    <section class="card card-accent" aria-labelledby="fresh-title">
      <h2 id="fresh-title">{`Copy your new ${fresh.environment} key now`}</h2>
      <p>
        This is the only time it is shown. Store it where your server reads its secrets, never in an app, a
        website or a repository.
      </p>
      <CopyText id="fresh-key" text={fresh.text} label={`The new key ${fresh.name}`} />
      {fresh.replaces && (
        <p class="hint">
          The old key still works. Put the new one in place first, then confirm below that the old one can go.
        </p>
      )}
    </section>
  );
}

function CreateForm({ visit, flash }: { visit: MemberVisit; flash: Flash }) {
  const typed = typedInto("/console/keys", flash);
  return (
    <Card
      title="Create a key"
      note="A test key costs nothing and makes watermarked placeholders. Begin with one."
    >
      <PostForm visit={visit} action="/console/keys" class="row-form">
        <Field label="Name" id="name">
          <input
            id="name"
            name="name"
            type="text"
            required
            maxLength={MAX_KEY_NAME_CHARS}
            placeholder="Production server"
            value={typed?.get("name") ?? ""}
          />
        </Field>
        <EnvironmentChoice chosen={typed?.get("environment")} />
        <details class="more key-limits">
          <summary>Limit what it may do</summary>
          <fieldset class="choices">
            <legend>Scopes</legend>
            <input type="hidden" name="limits" value="1" />
            {scopesFor(visit).map((scope) => (
              <label>
                <input
                  type="checkbox"
                  name={`scope_${scope}`}
                  value="1"
                  checked={!typed || typed.get(`scope_${scope}`) === "1"}
                />{" "}
                {`${scope}: ${SCOPE_MEANINGS[scope]}`}
              </label>
            ))}
            {!mayDelete(visit) && (
              <p class="hint">Keys that delete are made by owners, who can allow developers to.</p>
            )}
          </fieldset>
          <Field label="Last day (UTC)" id="expires">
            <input id="expires" name="expires" type="date" value={typed?.get("expires") ?? ""} />
          </Field>
          <Field label="Only from these addresses" id="addresses">
            <textarea
              id="addresses"
              name="addresses"
              rows={3}
              placeholder="203.0.113.7, 2001:db8::/48"
              value={typed?.get("addresses") ?? ""}
            />
          </Field>
        </details>
        <button type="submit" class="button button-primary">
          Create key
        </button>
      </PostForm>
    </Card>
  );
}

/** What a key may do, until when and from where; empty for one without limits. */
function rulesOf({ scopes, expiresAt, addresses }: ApiKey): string {
  return [
    scopes && `only ${scopes.join(", ")}`,
    expiresAt !== null && `until ${isoTime(expiresAt).slice(0, 16).replace("T", " ")} UTC`,
    addresses && `from ${addresses.join(", ")}`,
  ]
    .filter(Boolean)
    .join(" \u00b7 ");
}

function KeyRow({ visit, keys, row }: { visit: MemberVisit; keys: ApiKey[]; row: ApiKey }) {
  const isActive = row.revokedAt === null;
  const old = keys.find((k) => k.id === row.replacesKeyId && k.revokedAt === null);
  return (
    <tr class={isActive ? undefined : "faded"}>
      <th scope="row">
        {row.name}
        {rulesOf(row) && <span class="sub">{rulesOf(row)}</span>}
        {row.signingSecret !== null && isActive && <span class="sub">{`signs addresses as ${row.id}`}</span>}
        {old && isActive && <span class="sub">{`replaces …${old.last4}, which still works`}</span>}
      </th>
      <td data-label="Key">
        <code>{`${row.prefix}…${row.last4}`}</code>
      </td>
      <td data-label="Environment">
        <EnvironmentBadge environment={row.environment} />
      </td>
      <td data-label="Last used">
        {row.lastUsedAt === null ? "Never" : <Time at={row.lastUsedAt} style="relative" />}
      </td>
      <td data-label="Created" class="minor">
        <Time at={row.createdAt} />
      </td>
      <td class="cell-actions">
        {!isActive && <Badge>Revoked</Badge>}
        {isActive && row.expiresAt !== null && row.expiresAt <= visit.now && <Badge>Expired</Badge>}
        {isActive && canWrite(visit) && <KeyActions visit={visit} row={row} old={old} />}
      </td>
    </tr>
  );
}

function KeyActions({ visit, row, old }: { visit: MemberVisit; row: ApiKey; old: ApiKey | undefined }) {
  return (
    <>
      {old ? (
        <Confirm
          visit={visit}
          id={`confirm-${row.id}`}
          action={`/console/keys/${old.id}/revoke`}
          button="Confirm"
          title={`Let the old key …${old.last4} go?`}
          confirm="Revoke the old key"
        >
          <p>
            Every request with <code>{`${old.prefix}…${old.last4}`}</code> is refused from now on.{" "}
            {old.lastUsedAt !== null && (
              <>
                It was last used <Time at={old.lastUsedAt} style="relative" />. Check that the new key is in
                place everywhere.
              </>
            )}
          </p>
        </Confirm>
      ) : (
        (mayDelete(visit) || row.scopes?.includes("delete") === false) && (
          <Confirm
            visit={visit}
            id={`regenerate-${row.id}`}
            action={`/console/keys/${row.id}/regenerate`}
            button="Regenerate"
            title={`Make a successor of ${row.name}?`}
            confirm="Make the new key"
            danger={false}
          >
            <p>You get a new key to put in place. The old one works until you confirm that it can go.</p>
          </Confirm>
        )
      )}
      <SigningActions visit={visit} row={row} />
      <Confirm
        visit={visit}
        id={`revoke-${row.id}`}
        action={`/console/keys/${row.id}/revoke`}
        button="Revoke"
        title={`Revoke ${row.name}?`}
        confirm="Revoke key"
      >
        <p>
          Every request with <code>{`${row.prefix}…${row.last4}`}</code> is refused from now on. This cannot
          be undone.
        </p>
      </Confirm>
    </>
  );
}

function KeyTable({ visit, keys, rows }: { visit: MemberVisit; keys: ApiKey[]; rows: ApiKey[] }) {
  return (
    <Card flush>
      <table class="table">
        <caption class="visually-hidden">API keys</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Key</th>
            <th scope="col">Environment</th>
            <th scope="col">Last used</th>
            <th scope="col" class="minor">
              Created
            </th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <KeyRow key={row.id} visit={visit} keys={keys} row={row} />
          ))}
        </tbody>
      </table>
    </Card>
  );
}

async function keysPage(visit: MemberVisit): Promise<Response> {
  const { deps, account } = visit;
  const keys = await listKeys(deps.store.read, account.id);
  // Active keys first, newest first within each group.
  const rows = keys
    .toReversed()
    .toSorted((a, b) => Number(a.revokedAt !== null) - Number(b.revokedAt !== null));
  const flash = await takeFlash(visit, "key", "signingSecret");
  return shell(
    visit,
    "API keys",
    <>
      <PageHead
        title="API keys"
        lead={
          <>
            Your server sends one with every request, in the <code class="whole">X-API-Key</code> header.{" "}
            <a href="/docs/authentication">How to use a key</a>
          </>
        }
      />
      {flash.key && <FreshKey fresh={flash.key} />}
      {flash.signingSecret && <FreshSecret secret={flash.signingSecret} />}
      {rows.length === 0 ? (
        <Card>
          <Empty title="No keys yet">
            {canWrite(visit)
              ? "Create a test key below and send your first request: it costs nothing."
              : "This account has made no key."}
          </Empty>
        </Card>
      ) : (
        <KeyTable visit={visit} keys={keys} rows={rows} />
      )}
      {canWrite(visit) && <CreateForm visit={visit} flash={flash} />}
      {keys.some((k) => k.environment === "live" && k.revokedAt === null) && (
        <Notice tone="info">
          Did a key leak? Revoke it at once: it is refused from its next request on, and your images stay.
        </Notice>
      )}
    </>,
    { flash },
  );
}

/** The limits of a key as the form has them. */
function rulesIn(visit: MemberVisit): KeyRules {
  const scopes = KEY_SCOPES.filter((scope) => field(visit, `scope_${scope}`) === "1");
  const day = field(visit, "expires");
  const lastDay = day === "" ? undefined : parseTime(`${day}T00:00:00Z`);
  if (lastDay === null)
    throw new Refusal("INVALID_REQUEST", "The last day must be a date such as 2027-06-30.");
  const addresses = field(visit, "addresses")
    .split(/[\s,;]+/)
    .filter(Boolean);
  // A form without the choice limits nothing.
  const chosen = field(visit, "limits") === "" ? scopesFor(visit) : scopes;
  return {
    // All of them is no limit, and none is refused.
    scopes: chosen.length === KEY_SCOPES.length ? null : chosen,
    expiresAt: lastDay === undefined ? null : lastDay + DAY_MS,
    addresses: addresses.length > 0 ? addresses : null,
  };
}

async function create(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session, exchange } = visit;
  const name = field(visit, "name");
  const environment = ENVIRONMENTS.find((known) => known === field(visit, "environment"));
  if (!environment) throw new Refusal("INVALID_REQUEST", "Choose whether the key is for test or for live.");
  const made = await createKey(deps, {
    accountId: account.id,
    environment,
    name,
    ...rulesIn(visit),
    by: user.id,
  });
  await visit.flashes.put(session.id, { key: { name, environment, text: made.key, replaces: null } });
  return redirect("/console/keys", exchange);
}

/** The key in the URL, if it belongs to this account. */
async function ownKey({ deps, account, params }: MemberVisit): Promise<ApiKey> {
  const key = await findKey(deps.store.read, params.id ?? "");
  if (key?.accountId !== account.id) throw notFound();
  return key;
}

async function regenerate(visit: MemberVisit): Promise<Response> {
  const old = await ownKey(visit);
  const made = await regenerateKey(visit.deps, { id: old.id, by: visit.user.id });
  const { name, environment } = made.record;
  await visit.flashes.put(visit.session.id, {
    key: { name, environment, text: made.key, replaces: old.last4 },
  });
  return redirect("/console/keys", visit.exchange);
}

async function revoke(visit: MemberVisit): Promise<Response> {
  const key = await ownKey(visit);
  await revokeKey(visit.deps, key.id, visit.user.id);
  await visit.flashes.put(visit.session.id, { notice: `The key ${key.name} (…${key.last4}) is revoked.` });
  return redirect("/console/keys", visit.exchange);
}

async function makeSigning(visit: MemberVisit): Promise<Response> {
  const { name, id } = await ownKey(visit);
  const { secret } = await makeSigningSecret(visit.deps, { id, by: visit.user.id });
  await visit.flashes.put(visit.session.id, {
    signingSecret: { keyId: id, keyName: name, text: secret },
  });
  return redirect("/console/keys", visit.exchange);
}

async function removeSigning(visit: MemberVisit): Promise<Response> {
  const { name, id } = await ownKey(visit);
  await removeSigningSecret(visit.deps, { id, by: visit.user.id });
  await visit.flashes.put(visit.session.id, { notice: `The key ${name} signs no addresses any more.` });
  return redirect("/console/keys", visit.exchange);
}

export const keyRoutes = [
  member.get("/console/keys", keysPage),
  member.post("/console/keys", create),
  member.post("/console/keys/:id/regenerate", regenerate),
  member.post("/console/keys/:id/signing", makeSigning),
  member.post("/console/keys/:id/signing/remove", removeSigning),
  member.post("/console/keys/:id/revoke", revoke),
];
