import { Command } from "commander";
import { type Forwarded, forwardEvents, forwardingSecret } from "../app/webhooks/forward-webhooks.ts";
import { ENVIRONMENTS } from "../core/account.ts";
import { OperatorError } from "../core/errors.ts";
import { SUBSCRIBABLE_EVENTS } from "../core/webhook-event.ts";
import { untilSignal } from "../service/stop-signal.ts";
import { findAccount } from "../store/people/accounts.ts";
import { listOf, oneOf, webAddress } from "./arguments.ts";
import { withWorkspace } from "./workspace.ts";

/** For a partner's developer: shows events as they happen and forwards them to a program on this machine. */
export function webhookListenCommand(): Command {
  return new Command("listen")
    .description("show an account's events as they happen and forward them to a local address, signed")
    .requiredOption("--account <id>", "the account")
    .requiredOption("--environment <environment>", ENVIRONMENTS.join(" or "), oneOf(ENVIRONMENTS))
    .option("--forward <url>", "where to send them, such as http://localhost:4000/hook", webAddress)
    .option("--events <types>", `only these: ${SUBSCRIBABLE_EVENTS.join(",")}`, listOf(SUBSCRIBABLE_EVENTS))
    .option("--json", "print one JSON value a line: first the secret, then each event")
    .action((options) =>
      withWorkspace(async (workspace) => {
        const scope = { accountId: options.account, environment: options.environment };
        if (!(await findAccount(workspace.store.read, scope.accountId))) {
          throw new OperatorError(
            `There is no account ${scope.accountId}. "cardpress account list" shows the accounts.`,
          );
        }
        const since = workspace.clock.now();
        const print = (value: unknown, text: string) =>
          process.stdout.write(`${options.json ? JSON.stringify(value) : text}\n`);
        const secret = forwardingSecret(workspace, scope);
        const target = options.forward ?? null;
        print(
          { secret, forward: target },
          `${target ? `Forwarding ${scope.environment} events to ${target}` : `Showing ${scope.environment} events`}; Ctrl-C ends it.\nVerify them with the secret ${secret}`,
        );
        const stopping = new AbortController();
        void untilSignal().then(() => stopping.abort());
        await forwardEvents(workspace, {
          ...scope,
          since,
          forwardTo: target,
          types: options.events ?? null,
          onForwarded: (forwarded) => print(view(forwarded), line(forwarded)),
          signal: stopping.signal,
        });
      }),
    );
}

function view({ event, status, error, durationMs }: Forwarded) {
  return {
    event_id: event.id,
    type: event.type,
    status,
    error,
    duration_ms: durationMs,
    body: JSON.parse(event.body),
  };
}

function line({ event, status, error, durationMs }: Forwarded): string {
  const time = new Date(event.createdAt).toISOString().slice(11, 19);
  const end = error ?? (status === null ? event.body : `${status} in ${durationMs} ms`);
  return `${time}  ${event.type}  ${event.subject}  ->  ${end}`;
}
