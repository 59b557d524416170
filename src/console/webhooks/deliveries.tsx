/** @jsxImportSource preact */
import {
  type Delivery,
  type DeliveryDetail,
  getDelivery,
  redeliver,
} from "../../app/webhooks/manage-deliveries.ts";
import { playersOfEvents } from "../../store/images/players.ts";
import { Badge, Card, Code, count, Empty, EnvironmentBadge, PageHead, PostForm, Time } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { html, redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { countSend } from "./endpoint-parts.tsx";

/** The states in partners' words. */
export const STATE_NAMES = { delivered: "Delivered", pending: "Waiting", failed: "Failed" } as const;

export function DeliveryState({ delivery }: { delivery: Delivery }) {
  switch (delivery.state) {
    case "delivered":
      return <Badge tone="good">Delivered</Badge>;
    case "failed":
      return <Badge tone="bad">Failed</Badge>;
    default:
      return <Badge tone="busy">{delivery.attempts === 0 ? "On its way" : "Trying again"}</Badge>;
  }
}

/** Newest first, each with the image it is about. */
export async function DeliveryTable({ visit, deliveries }: { visit: MemberVisit; deliveries: Delivery[] }) {
  const players = await playersOfEvents(
    visit.deps.store.read,
    deliveries.map(({ eventId }) => eventId),
  );
  return (
    <table class="table">
      <caption class="visually-hidden">Deliveries</caption>
      <thead>
        <tr>
          <th scope="col">Event</th>
          <th scope="col">Image</th>
          <th scope="col">State</th>
          <th scope="col">Attempts</th>
          <th scope="col">Last answer</th>
          <th scope="col">Created</th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => {
          const last = delivery.history.at(-1);
          const about = players.get(delivery.eventId);
          return (
            <tr key={delivery.id}>
              <th scope="row">
                <a href={`/console/deliveries/${delivery.id}`}>{delivery.eventType}</a>
              </th>
              <td data-label="Image" class="name">
                {about ? <a href={`/console/images/${about.imageId}`}>{about.name}</a> : "–"}
              </td>
              <td data-label="State">
                <DeliveryState delivery={delivery} />
              </td>
              <td data-label="Attempts">{count(delivery.attempts)}</td>
              <td data-label="Last answer" class="long">
                {last === undefined ? "None yet" : (last.error ?? `HTTP ${last.status}`)}
              </td>
              <td data-label="Created">
                <Time at={delivery.createdAt} style="relative" />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** The attempts so far. The page refreshes them while another is due soon. */
function Attempts({ delivery }: { delivery: Delivery }) {
  const isOpen = delivery.state === "pending" || delivery.state === "sending";
  const poll = isOpen
    ? {
        "hx-get": `/console/deliveries/${delivery.id}/attempts`,
        "hx-trigger": "every 2s",
        "hx-swap": "outerHTML",
      }
    : {};
  return (
    <div id="attempts" {...poll}>
      <p class="attempts-state">
        <DeliveryState delivery={delivery} />
        {delivery.state === "pending" && delivery.nextAttemptAt !== null && (
          <>
            {" "}
            Next attempt <Time at={delivery.nextAttemptAt} style="relative" />
          </>
        )}
      </p>
      {delivery.history.length === 0 ? (
        <Empty title="No attempt yet">The first one is made within seconds.</Empty>
      ) : (
        <ol class="timeline">
          {delivery.history.map((attempt) => (
            <li key={attempt.number} class={attempt.error === null ? "step-good" : "step-bad"}>
              <strong>{attempt.status === null ? "No answer" : `HTTP ${attempt.status}`}</strong>
              <Time at={attempt.startedAt} />
              <p>{`Attempt ${attempt.number}, ${count(attempt.durationMs)} ms. ${attempt.error ?? ""}`}</p>
              {attempt.answer && (
                <Code
                  language="text"
                  id={`answer-${attempt.number}`}
                  label={`Answer to attempt ${attempt.number}`}
                  text={attempt.answer}
                />
              )}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}

function prettyBody({ event }: DeliveryDetail): string {
  try {
    return JSON.stringify(JSON.parse(event.body), null, 2);
  } catch {
    return event.body;
  }
}

function load({ deps, params, account }: MemberVisit): Promise<DeliveryDetail> {
  return getDelivery(deps, { deliveryId: params.id ?? "", accountId: account.id });
}

async function deliveryPage(visit: MemberVisit): Promise<Response> {
  const delivery = await load(visit);
  return shell(
    visit,
    "Delivery",
    <>
      <PageHead
        title={delivery.eventType}
        lead={
          <>
            <EnvironmentBadge environment={delivery.environment} /> <code>{delivery.eventId}</code>
          </>
        }
      >
        {delivery.event.subject.startsWith("img_") && (
          <a class="button" href={`/console/images/${delivery.event.subject}`}>
            Image
          </a>
        )}
        <a class="button" href={`/console/webhooks/${delivery.endpointId}`}>
          Endpoint
        </a>
        {canWrite(visit) && (
          <PostForm visit={visit} action={`/console/deliveries/${delivery.id}/redeliver`}>
            <button type="submit" class="button button-primary">
              Send again
            </button>
          </PostForm>
        )}
      </PageHead>
      <Card title="Attempts">
        <Attempts delivery={delivery} />
      </Card>
      <Code id="body" label="Body, the same at every attempt" text={prettyBody(delivery)} />
    </>,
  );
}

async function again(visit: MemberVisit): Promise<Response> {
  const { deps, params, account, exchange } = visit;
  await countSend(visit);
  const delivery = await redeliver(deps, { deliveryId: params.id ?? "", accountId: account.id });
  await visit.flashes.put(visit.session.id, { notice: "It is being sent again." });
  return redirect(`/console/deliveries/${delivery.id}`, exchange);
}

export const deliveryRoutes = [
  member.get("/console/deliveries/:id", deliveryPage),
  member.get("/console/deliveries/:id/attempts", async (visit) =>
    html(visit.exchange, <Attempts delivery={await load(visit)} />, { fragment: true }),
  ),
  member.post("/console/deliveries/:id/redeliver", again),
];
