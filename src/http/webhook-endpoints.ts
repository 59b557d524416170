import { sendTest } from "../app/webhooks/manage-deliveries.ts";
import { getEvent } from "../app/webhooks/manage-events.ts";
import {
  createEndpoint,
  type Endpoint,
  type EndpointRef,
  endpointOrThrow,
  getEndpoint,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
  updateEndpoint,
  type WebhookContext,
} from "../app/webhooks/manage-webhooks.ts";
import { Refusal } from "../core/errors.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { isoTime, isoTimeOrNull } from "../core/time.ts";
import { compileValidator } from "../core/validate.ts";
import type { Caller } from "./auth.ts";
import { readJson, requireJsonType } from "./body.ts";
import { success } from "./envelope.ts";
import { eventView } from "./events.ts";
import type { Exchange } from "./exchange.ts";
import { readQuery } from "./query.ts";
import { ChangeWebhookEndpointRequest, CreateWebhookEndpointRequest } from "./webhook-api-schemas.ts";

const changeValidator = compileValidator(ChangeWebhookEndpointRequest, "body");
const createValidator = compileValidator(CreateWebhookEndpointRequest, "body");

/** POST /v1/webhook_endpoints */
export async function createWebhookEndpoint(
  deps: WebhookContext,
  exchange: Exchange,
  { account, environment, keyId }: Caller,
): Promise<Response> {
  requireJsonType(exchange.request);
  const checked = createValidator.check(await readJson(exchange.request));
  if (!checked.ok) throw invalidRequest(checked.details);
  const { url, events } = checked.value;
  const made = await createEndpoint(deps, { accountId: account.id, environment, url, events, byKey: keyId })
    // One endpoint too many.
    .catch((error) => {
      throw error instanceof Refusal && error.code === "LIMIT_REACHED"
        ? new Refusal("INVALID_REQUEST", error.message)
        : error;
    });
  return success(exchange, { ...endpointView(made.endpoint), secret: made.secret }, { status: 201 });
}

/** GET /v1/webhook_endpoints */
export async function listWebhookEndpoints(
  deps: WebhookContext,
  exchange: Exchange,
  { account, environment }: Caller,
): Promise<Response> {
  const { details } = readQuery(exchange.url, []);
  if (details.length > 0) throw invalidRequest(details);
  const endpoints = await listEndpoints(deps, { accountId: account.id, environment });
  return success(exchange, { webhook_endpoints: endpoints.map(endpointView) });
}

/** GET /v1/webhook_endpoints/{endpoint_id} */
export async function getWebhookEndpoint(
  deps: WebhookContext,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  return success(exchange, endpointView((await own(deps, caller, id)).endpoint));
}

/** PATCH /v1/webhook_endpoints/{endpoint_id} */
export async function changeWebhookEndpoint(
  deps: WebhookContext,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const { ref } = await own(deps, caller, id);
  requireJsonType(exchange.request);
  const checked = changeValidator.check(await readJson(exchange.request));
  if (!checked.ok) throw invalidRequest(checked.details);
  return success(exchange, endpointView(await updateEndpoint(deps, ref, checked.value)));
}

/** DELETE /v1/webhook_endpoints/{endpoint_id} */
export async function deleteWebhookEndpoint(
  deps: WebhookContext,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const { ref } = await own(deps, caller, id);
  await removeEndpoint(deps, ref);
  return success(exchange, { endpoint_id: id, deleted_at: isoTime(deps.clock.now()) });
}

/** POST /v1/webhook_endpoints/{endpoint_id}/rotate_secret */
export async function rotateWebhookSecret(
  deps: WebhookContext,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const { ref } = await own(deps, caller, id);
  const { endpoint, secret } = await rotateSecret(deps, ref);
  return success(exchange, { ...endpointView(endpoint), secret });
}

/** POST /v1/webhook_endpoints/{endpoint_id}/test */
export async function testWebhookEndpoint(
  deps: WebhookContext,
  exchange: Exchange,
  caller: Caller,
  id: string,
): Promise<Response> {
  const { ref } = await own(deps, caller, id);
  const { eventId } = await sendTest(deps, ref);
  const scope = { accountId: caller.account.id, environment: caller.environment, id: eventId };
  return success(exchange, eventView(await getEvent(deps, scope)), { status: 202 });
}

/** An endpoint of the key's account and environment. */
async function own(
  deps: WebhookContext,
  { account, environment, keyId }: Caller,
  endpointId: string,
): Promise<{ ref: EndpointRef; endpoint: Endpoint }> {
  const ref = { endpointId, accountId: account.id, byKey: keyId };
  const endpoint = await getEndpoint(deps, ref);
  if (endpoint.environment !== environment) endpointOrThrow(ref, undefined);
  return { ref, endpoint };
}

function endpointView(endpoint: Endpoint): Record<string, unknown> {
  return {
    endpoint_id: endpoint.id,
    url: endpoint.url,
    events: endpoint.events,
    environment: endpoint.environment,
    state: endpoint.state,
    disabled_reason: endpoint.disabledReason,
    disabled_at: isoTimeOrNull(endpoint.disabledAt),
    failing_since: isoTimeOrNull(endpoint.failingSince),
    last_success_at: isoTimeOrNull(endpoint.lastSuccessAt),
    old_secret_expires_at: isoTimeOrNull(endpoint.previousSecretExpiresAt),
    created_at: isoTime(endpoint.createdAt),
    updated_at: isoTime(endpoint.updatedAt),
  };
}
