import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import {
  EXHAUSTED_RETRY_MS,
  MAX_WEBHOOK_ENDPOINTS,
  SOURCE_TIMEOUT_MS,
  WEBHOOK_SECRET_OVERLAP_MS,
} from "../../core/outbound-limits.ts";
import { SecretUnreadableError } from "../../core/secret-box.ts";
import { SUBSCRIBABLE_EVENTS, type SubscribableEvent } from "../../core/webhook-event.ts";
import { formatWebhookSecret, WEBHOOK_SECRET_BYTES } from "../../core/webhook-signature.ts";
import { checkAddress, GuardedHttpError, type GuardedHttpOptions } from "../../sources/guarded-http.ts";
import { findAccount } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import { failPending } from "../../store/webhooks/deliveries.ts";
import {
  changeEndpoint,
  countEndpoints,
  type EndpointChange,
  enabledEndpoints,
  findEndpoint,
  insertEndpoint,
  listEndpointRows,
  type WebhookEndpoint,
} from "../../store/webhooks/webhooks.ts";
import type { AppContext } from "../context.ts";
import { type Actor, type AuditAction, logAction } from "../operations/activity.ts";
import { accountNotFound } from "../people/manage-account.ts";

// Endpoints, as partners set them up. Deliveries are managed in manage-deliveries.ts.

export interface WebhookContext extends AppContext {
  /** How hosts are resolved, which authorities are trusted besides the public ones, and the time-out. */
  outbound?: Pick<GuardedHttpOptions, "resolve" | "ca"> & { timeoutMs?: number };
  /** Called after a commit that made a delivery due. A hint for a server in the same process. */
  wakeDeliveries?: () => void;
}

/** Identifies an endpoint. With `accountId`, another account's endpoint is reported as not found. */
export interface EndpointRef {
  endpointId: string;
  accountId?: string | undefined;
  /**
   * The user who asks, for the audit log; absent on the command line, and where a key does: then `byKey` is
   * its id.
   */
  by?: Actor;
  byKey?: string | undefined;
}

/** Everything about an endpoint that may be shown: all but its secrets. */
export type Endpoint = Omit<WebhookEndpoint, "secret" | "previousSecret">;

/**
 * Creates an endpoint; the result contains its secret. Throws a Refusal for a URL that is not on the public
 * internet, for unknown event types, and for one endpoint too many.
 */
export async function createEndpoint(
  context: WebhookContext,
  input: {
    accountId: string;
    environment: Environment;
    url: string;
    events?: readonly string[] | null | undefined;
    by?: Actor;
    byKey?: string | undefined;
  },
): Promise<{ endpoint: Endpoint; secret: string }> {
  const { store, clock, random, secrets } = context;
  const events = checkedEvents(input.events ?? null);
  const url = await checkedUrl(context, input.accountId, input.url);
  const secret = newSecret(context);
  const id = random.id("ep");
  const now = clock.now();
  const row: WebhookEndpoint = {
    id,
    accountId: input.accountId,
    environment: input.environment,
    url,
    events,
    secret: secrets.seal(secret, id),
    previousSecret: null,
    previousSecretExpiresAt: null,
    state: "enabled",
    disabledReason: null,
    disabledAt: null,
    failingSince: null,
    lastSuccessAt: null,
    pausedUntil: null,
    createdAt: now,
    updatedAt: now,
  };
  await store.write("create endpoint", async (tx) => {
    if (!(await findAccount(tx, row.accountId))) throw accountNotFound(row.accountId);
    if ((await countEndpoints(tx, row)) >= MAX_WEBHOOK_ENDPOINTS) {
      const message = `An account has at most ${MAX_WEBHOOK_ENDPOINTS} ${row.environment} endpoints. Remove one that is no longer used.`;
      throw new Refusal("LIMIT_REACHED", message);
    }
    await insertEndpoint(tx, row);
    await logChange(tx, context, "webhook.created", row, input);
  });
  return { endpoint: withoutSecrets(row), secret };
}

/** Oldest first; includes disabled ones, with the reason. */
export async function listEndpoints(
  { store }: Pick<AppContext, "store">,
  scope: { accountId: string; environment?: Environment | undefined },
): Promise<Endpoint[]> {
  return (await listEndpointRows(store.read, scope)).map(withoutSecrets);
}

export async function getEndpoint({ store }: Pick<AppContext, "store">, ref: EndpointRef): Promise<Endpoint> {
  return withoutSecrets(endpointOrThrow(ref, await findEndpoint(store.read, ref.endpointId)));
}

/**
 * Changes URL or filter; pending deliveries go to the new URL. `events: null` subscribes to all. Disabling
 * ends what is pending, which can be sent again by hand.
 */
export async function updateEndpoint(
  context: WebhookContext,
  ref: EndpointRef,
  change: {
    url?: string | undefined;
    events?: readonly string[] | null | undefined;
    disabled?: boolean | undefined;
  },
): Promise<Endpoint> {
  const events = change.events === undefined ? {} : { events: checkedEvents(change.events) };
  const url =
    change.url === undefined
      ? {}
      : { url: await checkedUrl(context, ref.accountId, change.url), failingSince: null, pausedUntil: null };
  return changeOwned(
    context,
    ref,
    "webhook.changed",
    (row, now) => ({ ...events, ...url, ...stateChange(row, change.disabled, now) }),
    async (tx, now) => {
      if (change.disabled) await failPending(tx, ref.endpointId, now);
    },
  );
}

const ENABLED = {
  state: "enabled",
  disabledReason: null,
  disabledAt: null,
  failingSince: null,
  pausedUntil: null,
} as const;

/** Nothing where the endpoint is in that state already: since when and why stays as it was. */
function stateChange({ state }: WebhookEndpoint, disabled: boolean | undefined, now: number): EndpointChange {
  if (disabled === undefined || disabled === (state === "disabled")) return {};
  return disabled
    ? { state: "disabled", disabledReason: "It was disabled by hand.", disabledAt: now }
    : ENABLED;
}

/** Nothing more is sent to it. Its deliveries remain visible until they expire. */
export async function removeEndpoint(context: WebhookContext, ref: EndpointRef): Promise<void> {
  const { store, clock } = context;
  await store.write(
    "remove endpoint",
    async (tx) => {
      const endpoint = endpointOrThrow(ref, await findEndpoint(tx, ref.endpointId));
      const now = clock.now();
      await changeEndpoint(tx, ref.endpointId, {
        state: "removed",
        secret: "",
        previousSecret: null,
        previousSecretExpiresAt: null,
        disabledReason: "It was removed.",
        disabledAt: now,
        updatedAt: now,
      });
      await failPending(tx, ref.endpointId, now);
      await logChange(tx, context, "webhook.removed", endpoint, ref);
    },
    { concurrent: true },
  );
}

/** Issues a new secret; the old one signs beside it for 24 hours. Any older one stops signing immediately. */
export async function rotateSecret(
  context: WebhookContext,
  ref: EndpointRef,
): Promise<{ endpoint: Endpoint; secret: string }> {
  const secret = newSecret(context);
  const endpoint = await changeOwned(context, ref, "webhook.secret_rotated", (row, now) => ({
    secret: context.secrets.seal(secret, row.id),
    // A secret that cannot be decrypted, because its key is lost, cannot sign either.
    ...(isReadable(context, row)
      ? { previousSecret: row.secret, previousSecretExpiresAt: now + WEBHOOK_SECRET_OVERLAP_MS }
      : { previousSecret: null, previousSecretExpiresAt: null }),
  }));
  return { endpoint, secret };
}

/** Ends a rotation's overlap: from the next attempt on only the new secret signs. */
export function revokeOldSecret(context: WebhookContext, ref: EndpointRef): Promise<Endpoint> {
  return changeOwned(context, ref, "webhook.old_secret_revoked", () => ({
    previousSecret: null,
    previousSecretExpiresAt: null,
  }));
}

/** Re-enables an endpoint from the next event on; what it missed can be recovered. */
export function enableEndpoint(context: WebhookContext, ref: EndpointRef): Promise<Endpoint> {
  return changeOwned(context, ref, "webhook.enabled", () => ENABLED);
}

/** Enabled endpoints whose secrets cannot be decrypted: they were sealed with a different key. */
export async function unreadableEndpoints(context: Pick<AppContext, "store" | "secrets">): Promise<string[]> {
  const rows = await enabledEndpoints(context.store.read);
  return rows.filter((row) => !isReadable(context, row)).map(({ id }) => id);
}

function isReadable({ secrets }: Pick<AppContext, "secrets">, row: WebhookEndpoint): boolean {
  try {
    secrets.open(row.secret, row.id);
    return true;
  } catch (error) {
    if (error instanceof SecretUnreadableError) return false;
    throw error;
  }
}

async function changeOwned(
  context: WebhookContext,
  ref: EndpointRef,
  action: AuditAction,
  change: (row: WebhookEndpoint, now: number) => EndpointChange,
  also: (tx: Tx, now: number) => Promise<void> = async () => {},
): Promise<Endpoint> {
  const { store, clock } = context;
  return store.write("change endpoint", async (tx) => {
    const row = endpointOrThrow(ref, await findEndpoint(tx, ref.endpointId));
    const now = clock.now();
    const endpoint = endpointOrThrow(
      ref,
      await changeEndpoint(tx, row.id, { ...change(row, now), updatedAt: now }),
    );
    await also(tx, now);
    await logChange(tx, context, action, endpoint, ref);
    return withoutSecrets(endpoint);
  });
}

function logChange(
  tx: Tx,
  { clock, random }: WebhookContext,
  action: AuditAction,
  { accountId, url }: WebhookEndpoint,
  { by = null, byKey }: Pick<EndpointRef, "by" | "byKey">,
): Promise<void> {
  const subject = byKey === undefined ? url : `${url}, with the key ${byKey}`;
  return logAction(tx, { by, accountId, action, subject }, { now: clock.now(), random });
}

/** The endpoint, if it exists and belongs to the caller. Throws Refusal NOT_FOUND. */
export function endpointOrThrow(ref: EndpointRef, endpoint: WebhookEndpoint | undefined): WebhookEndpoint {
  if (!endpoint || (ref.accountId !== undefined && endpoint.accountId !== ref.accountId)) {
    throw new Refusal(
      "NOT_FOUND",
      `There is no webhook endpoint ${ref.endpointId}. List the endpoints to see their ids.`,
    );
  }
  return endpoint;
}

function withoutSecrets({ secret: _, previousSecret: __, ...rest }: WebhookEndpoint): Endpoint {
  return rest;
}

function newSecret({ random }: WebhookContext): string {
  return formatWebhookSecret(random.bytes(WEBHOOK_SECRET_BYTES));
}

async function checkedUrl(
  context: WebhookContext,
  accountId: string | undefined,
  url: string,
): Promise<string> {
  try {
    const options = { ...context.outbound, allowedOrigins: context.config.webhookAllowedOrigins };
    const party = `webhooks of ${accountId}`;
    return await checkAddress({ url: url.trim(), timeoutMs: SOURCE_TIMEOUT_MS, party }, options);
  } catch (error) {
    if (!(error instanceof GuardedHttpError)) throw error;
    if (error.kind === "ours") {
      const retryAfterSeconds = EXHAUSTED_RETRY_MS / 1000;
      throw new Refusal("SERVICE_OVERLOADED", error.message, { retryAfterSeconds, cause: error.cause });
    }
    throw invalid("url", error.message, error);
  }
}

function checkedEvents(events: readonly string[] | null): SubscribableEvent[] | null {
  if (events === null) return null;
  const known = SUBSCRIBABLE_EVENTS.join(", ");
  if (events.length === 0)
    throw invalid("events", `It is empty. Name at least one of ${known}, or leave it out for all.`);
  const unknown = events.find((type) => !SUBSCRIBABLE_EVENTS.some((event) => event === type));
  if (unknown !== undefined)
    throw invalid("events", `It holds "${unknown}". Use ${known}, or leave it out for all.`);
  return SUBSCRIBABLE_EVENTS.filter((event) => events.includes(event));
}

export function invalid(field: string, message: string, cause?: unknown): Refusal {
  return new Refusal("INVALID_REQUEST", `${field}: ${message}`, { details: [{ field, message }], cause });
}
