import { Command } from "commander";
import { requireAccount } from "../app/people/manage-account.ts";
import {
  type Delivery,
  getDelivery,
  listDeliveries,
  recoverSince,
  redeliver,
  sendTest,
} from "../app/webhooks/manage-deliveries.ts";
import {
  createEndpoint,
  type Endpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  removeEndpoint,
  revokeOldSecret,
  rotateSecret,
  updateEndpoint,
} from "../app/webhooks/manage-webhooks.ts";
import { ENVIRONMENTS } from "../core/account.ts";
import { OperatorError } from "../core/errors.ts";
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from "../core/limits.ts";
import { isoTime, isoTimeOrNull } from "../core/time.ts";
import { SUBSCRIBABLE_EVENTS, WEBHOOK_DELIVERY_STATES, WEBHOOK_EVENT_TYPES } from "../core/webhook-event.ts";
import type { Workspace } from "../service/workspace.ts";
import { listOf, moment, oneOf, wholeNumber } from "./arguments.ts";
import { printResult, table } from "./output.ts";
import { webhookListenCommand } from "./webhook-listen.ts";
import { withWorkspace } from "./workspace.ts";

const EVENTS_HELP = `event types, separated by commas: ${SUBSCRIBABLE_EVENTS.join(",")}`;

export function webhookCommands(): Command {
  const webhook = new Command("webhook").description(
    "notify partners of what happens: endpoints and deliveries",
  );
  addEndpointCommands(webhook);
  addSecretCommands(webhook);
  addDeliveryCommands(webhook);
  webhook.addCommand(webhookListenCommand());
  return webhook;
}

function addEndpointCommands(webhook: Command): void {
  webhook
    .command("create")
    .description("make an endpoint; its secret is shown once, now")
    .requiredOption("--account <id>", "the account")
    .requiredOption("--environment <environment>", ENVIRONMENTS.join(" or "), oneOf(ENVIRONMENTS))
    .requiredOption("--url <url>", "the https address that takes the events")
    .option("--events <types>", `${EVENTS_HELP}; all when left out`, listOf(SUBSCRIBABLE_EVENTS))
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const made = await createEndpoint(workspace, { ...options, accountId: options.account });
        printSecret(options.json, made);
      }),
    );
  webhook
    .command("list")
    .description("list an account's endpoints and how they fare")
    .requiredOption("--account <id>", "the account")
    .option("--environment <environment>", ENVIRONMENTS.join(" or "), oneOf(ENVIRONMENTS))
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const scope = { accountId: options.account, environment: options.environment };
        await requireAccount(workspace, options.account);
        const rows = (await listEndpoints(workspace, scope)).map(endpointView);
        printResult(
          options.json,
          rows,
          () => endpointTable(rows) || 'No endpoints. Make one with "cardpress webhook create --help".',
        );
      }),
    );
  onEndpoint(webhook, "update", "change an endpoint's address or events", (command) =>
    command
      .option("--url <url>", "the new address")
      .option("--events <types>", EVENTS_HELP, listOf(SUBSCRIBABLE_EVENTS))
      .option("--all-events", "send every event, also types to come"),
  )(async (workspace, ref, options) => {
    const events = options.allEvents ? null : options.events;
    const endpoint = await updateEndpoint(workspace, ref, { url: options.url, events });
    printResult(options.json, endpointView(endpoint), () => endpointTable([endpointView(endpoint)]));
  });
  onEndpoint(
    webhook,
    "enable",
    "send again to an endpoint that was disabled",
  )(async (workspace, ref, options) => {
    const endpoint = await enableEndpoint(workspace, ref);
    printResult(
      options.json,
      endpointView(endpoint),
      () => `${endpoint.id} is enabled. "cardpress webhook recover" sends what it missed.`,
    );
  });
  onEndpoint(
    webhook,
    "remove",
    "send nothing more to an endpoint",
  )(async (workspace, ref, options) => {
    await removeEndpoint(workspace, ref);
    printResult(
      options.json,
      { endpoint_id: ref.endpointId, removed: true },
      () => `${ref.endpointId} is removed.`,
    );
  });
}

function addSecretCommands(webhook: Command): void {
  onEndpoint(
    webhook,
    "rotate",
    "give an endpoint a new secret; the old one signs too for 24 hours",
  )(async (workspace, ref, options) => printSecret(options.json, await rotateSecret(workspace, ref)));
  onEndpoint(
    webhook,
    "revoke-old",
    "after a rotation: stop signing with the old secret at once",
  )(async (workspace, ref, options) => {
    const endpoint = await revokeOldSecret(workspace, ref);
    printResult(
      options.json,
      endpointView(endpoint),
      () => `Only the newest secret of ${endpoint.id} signs now.`,
    );
  });
}

function addDeliveryCommands(webhook: Command): void {
  onEndpoint(
    webhook,
    "test",
    "send a webhook.test to an endpoint",
  )(async (workspace, ref, options) => {
    const delivery = await sendTest(workspace, ref);
    printResult(
      options.json,
      deliveryView(delivery),
      () => `${delivery.id} is on its way. "cardpress webhook delivery --delivery ${delivery.id}" shows it.`,
    );
  });
  onEndpoint(webhook, "recover", "send everything an endpoint missed since a time", (command) =>
    command.requiredOption("--since <time>", "such as 2026-11-21T08:00:00Z, or an age such as 24h", moment),
  )(async (workspace, ref, options) => {
    const { recovered } = await recoverSince(workspace, ref, options.since);
    const since = isoTime(options.since);
    printResult(
      options.json,
      { endpoint_id: ref.endpointId, since, recovered },
      () => `${recovered} events since ${since} are being sent.`,
    );
  });
  addDeliveriesCommand(webhook);
  webhook
    .command("delivery")
    .description("show one delivery: what is sent, and every attempt")
    .requiredOption("--delivery <id>", "the delivery's id, dlv_...")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const delivery = await getDelivery(workspace, { deliveryId: options.delivery });
        const value = { ...deliveryView(delivery), body: JSON.parse(delivery.event.body) };
        printResult(options.json, value, () => {
          const { attempts, body, ...row } = value;
          return [table([row]), table(attempts) || "No attempt yet.", JSON.stringify(body, null, 2)].join(
            "\n\n",
          );
        });
      }),
    );
  webhook
    .command("redeliver")
    .description("send one delivery again now")
    .requiredOption("--delivery <id>", "the delivery's id, dlv_...")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const delivery = await redeliver(workspace, { deliveryId: options.delivery });
        printResult(options.json, deliveryView(delivery), () => `${delivery.id} is being sent again.`);
      }),
    );
}

function addDeliveriesCommand(webhook: Command): void {
  webhook
    .command("deliveries")
    .description("list deliveries with their attempts, newest first")
    .option("--account <id>", "of this account")
    .option("--environment <environment>", ENVIRONMENTS.join(" or "), oneOf(ENVIRONMENTS))
    .option("--endpoint <id>", "to this endpoint")
    .option("--state <state>", WEBHOOK_DELIVERY_STATES.join(", "), oneOf(WEBHOOK_DELIVERY_STATES))
    .option("--event <type>", WEBHOOK_EVENT_TYPES.join(", "), oneOf(WEBHOOK_EVENT_TYPES))
    .option("--image <id>", "only about this image")
    .option("--cursor <cursor>", "go on after an earlier list")
    .option("--limit <n>", "how many", wholeNumber(1, MAX_LIST_LIMIT), DEFAULT_LIST_LIMIT)
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const { items, nextCursor } = await listDeliveries(workspace, {
          accountId: await accountOf(workspace, options),
          environment: options.environment,
          endpointId: options.endpoint,
          state: options.state,
          eventType: options.event,
          imageId: options.image,
          cursor: options.cursor,
          limit: options.limit,
        });
        const rows = items.map(deliveryView);
        printResult(options.json, { deliveries: rows, next_cursor: nextCursor }, () => {
          const shown = rows.map(({ attempts, ...row }) => ({
            ...row,
            attempts: attempts.length,
            last: attempts.at(-1)?.status ?? attempts.at(-1)?.error,
          }));
          const more = nextCursor ? `\nMore with --cursor ${nextCursor}` : "";
          return (table(shown) || "No deliveries.") + more;
        });
      }),
    );
}

/** The account given, or the one that owns the given endpoint. */
async function accountOf(
  workspace: Workspace,
  { account, endpoint }: { account?: string; endpoint?: string },
): Promise<string> {
  if (endpoint !== undefined)
    return (await getEndpoint(workspace, { endpointId: endpoint, accountId: account })).accountId;
  if (account !== undefined) return account;
  throw new OperatorError("Name the account with --account ID, or an endpoint with --endpoint ID.", 2);
}

type EndpointAction = (
  workspace: Workspace,
  ref: { endpointId: string },
  // biome-ignore lint/suspicious/noExplicitAny: commander's parsed options, shaped by the declarations beside it.
  options: any,
) => Promise<void>;

/** Adds a command about one endpoint. */
function onEndpoint(
  webhook: Command,
  name: string,
  description: string,
  declare: (command: Command) => Command = (command) => command,
): (act: EndpointAction) => void {
  const command = webhook
    .command(name)
    .description(description)
    .requiredOption("--endpoint <id>", "the endpoint's id, ep_...");
  return (act) =>
    declare(command)
      .option("--json", "print JSON")
      .action((options) =>
        withWorkspace((workspace) => act(workspace, { endpointId: options.endpoint }, options)),
      );
}

function printSecret(
  json: boolean | undefined,
  { endpoint, secret }: { endpoint: Endpoint; secret: string },
): void {
  const expiresAt = endpoint.previousSecretExpiresAt;
  const overlap = expiresAt === null ? {} : { old_secret_signs_until: isoTime(expiresAt) };
  printResult(
    json,
    { endpoint_id: endpoint.id, secret, ...overlap },
    () => `${secret}\nKeep it now: it cannot be shown again. The endpoint is ${endpoint.id}.`,
  );
}

function endpointView(endpoint: Endpoint) {
  return {
    endpoint_id: endpoint.id,
    environment: endpoint.environment,
    url: endpoint.url,
    events: endpoint.events,
    state: endpoint.state,
    disabled_reason: endpoint.disabledReason,
    failing_since: isoTimeOrNull(endpoint.failingSince),
    last_success_at: isoTimeOrNull(endpoint.lastSuccessAt),
    paused_until: isoTimeOrNull(endpoint.pausedUntil),
    old_secret_signs_until: isoTimeOrNull(endpoint.previousSecretExpiresAt),
    created_at: isoTime(endpoint.createdAt),
  };
}

/** What fits a terminal; the JSON has the rest. */
function endpointTable(rows: ReturnType<typeof endpointView>[]): string {
  return table(
    rows.map((row) => ({
      endpoint_id: row.endpoint_id,
      environment: row.environment,
      url: row.url,
      events: row.events?.join(",") ?? "all",
      state: row.state,
      last_success_at: row.last_success_at,
      failing_since: row.failing_since,
      remark: row.disabled_reason ?? (row.paused_until && `paused by the receiver until ${row.paused_until}`),
    })),
  );
}

function deliveryView(delivery: Delivery) {
  return {
    delivery_id: delivery.id,
    event_id: delivery.eventId,
    type: delivery.eventType,
    environment: delivery.environment,
    endpoint_id: delivery.endpointId,
    state: delivery.state,
    created_at: isoTime(delivery.createdAt),
    next_attempt_at: isoTimeOrNull(delivery.nextAttemptAt),
    delivered_at: isoTimeOrNull(delivery.deliveredAt),
    attempts: delivery.history.map((attempt) => ({
      number: attempt.number,
      started_at: isoTime(attempt.startedAt),
      duration_ms: attempt.durationMs,
      status: attempt.status,
      error: attempt.error,
      answer: attempt.answer,
    })),
  };
}
