/** @jsxImportSource preact */
import type { Endpoint } from "../../app/webhooks/manage-webhooks.ts";
import { Refusal } from "../../core/errors.ts";
import { MANUAL_SENDS_PER_MINUTE } from "../../core/limits.ts";
import { SUBSCRIBABLE_EVENTS } from "../../core/webhook-event.ts";
import { Badge, CopyText } from "../elements.tsx";
import type { Flash } from "../flash.ts";
import type { MemberVisit } from "../visit.ts";

export function FreshSecret({ secret }: { secret: NonNullable<Flash["webhookSecret"]> }) {
  return (
    <section class="card card-accent" aria-labelledby="secret-title">
      <h2 id="secret-title">Copy the signing secret now</h2>
      <p>{`It is shown only this time. Your receiver at ${secret.url} verifies every event with it.`}</p>
      <CopyText id="fresh-secret" text={secret.text} label="Signing secret" />
    </section>
  );
}

export function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  if (endpoint.state !== "enabled") return <Badge tone="bad">Disabled</Badge>;
  return endpoint.failingSince === null ? (
    <Badge tone="good">Enabled</Badge>
  ) : (
    <Badge tone="test">Failing</Badge>
  );
}

/** The events an endpoint subscribes to; null means all. */
export function EventChoice({ chosen }: { chosen: readonly string[] | null }) {
  return (
    <fieldset class="choices">
      <legend>Events</legend>
      {SUBSCRIBABLE_EVENTS.map((event) => (
        <label key={event}>
          <input
            type="checkbox"
            name="events"
            value={event}
            checked={chosen === null || chosen.includes(event)}
          />{" "}
          {event}
        </label>
      ))}
    </fieldset>
  );
}

/** The events selected in a form. Throws a Refusal when there are none. */
export function readEvents({ form }: MemberVisit): string[] | null {
  const chosen = form.getAll("events");
  if (chosen.length === 0) throw new Refusal("INVALID_REQUEST", "Choose at least one event.");
  // Selecting all includes future ones.
  return chosen.length === SUBSCRIBABLE_EVENTS.length ? null : chosen;
}

/**
 * Counts a click that makes the service call out or resolve a name. Throws a Refusal when there were too
 * many.
 */
export async function countSend({ deps, account }: MemberVisit): Promise<void> {
  const { exceeded } = await deps.limiter.take(`sends of ${account.id}`, MANUAL_SENDS_PER_MINUTE);
  if (exceeded)
    throw new Refusal(
      "LIMIT_REACHED",
      `An account sends and checks at most ${MANUAL_SENDS_PER_MINUTE} times a minute by hand. Wait a minute, then go on.`,
    );
}
