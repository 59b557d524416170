/** @jsxImportSource preact */

import { listDeliveries } from "../../app/webhooks/manage-deliveries.ts";
import { createEndpoint, type Endpoint, listEndpoints } from "../../app/webhooks/manage-webhooks.ts";
import { ENVIRONMENTS } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import {
  Card,
  Empty,
  EnvironmentBadge,
  EnvironmentChoice,
  Field,
  PageHead,
  PostForm,
  Time,
} from "../elements.tsx";
import { type Flash, typedInto } from "../flash.ts";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member, takeFlash } from "../visit.ts";
import { DeliveryTable } from "./deliveries.tsx";
import { endpointRoutes } from "./endpoint.tsx";
import { countSend, EndpointState, EventChoice, readEvents } from "./endpoint-parts.tsx";

function EndpointTable({ endpoints }: { endpoints: Endpoint[] }) {
  return (
    <table class="table">
      <caption class="visually-hidden">Webhook endpoints</caption>
      <thead>
        <tr>
          <th scope="col">Address</th>
          <th scope="col">Environment</th>
          <th scope="col">Events</th>
          <th scope="col">State</th>
          <th scope="col">Last success</th>
        </tr>
      </thead>
      <tbody>
        {endpoints.map((endpoint) => (
          <tr key={endpoint.id}>
            <th scope="row" class="long">
              <a href={`/console/webhooks/${endpoint.id}`}>{endpoint.url}</a>
            </th>
            <td data-label="Environment">
              <EnvironmentBadge environment={endpoint.environment} />
            </td>
            <td data-label="Events">{endpoint.events === null ? "All" : endpoint.events.join(", ")}</td>
            <td data-label="State">
              <EndpointState endpoint={endpoint} />
            </td>
            <td data-label="Last success">
              {endpoint.lastSuccessAt === null ? (
                "None yet"
              ) : (
                <Time at={endpoint.lastSuccessAt} style="relative" />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function CreateForm({ visit, flash }: { visit: MemberVisit; flash: Flash }) {
  const typed = typedInto("/console/webhooks", flash);
  return (
    <Card
      title="Add an endpoint"
      note="Events are sent as signed POST requests to a public HTTPS address of yours."
    >
      <PostForm visit={visit} action="/console/webhooks" class="form">
        <Field label="Address" id="url">
          <input
            id="url"
            name="url"
            type="url"
            required
            placeholder="https://example.com/hooks/cardpress"
            value={typed?.get("url") ?? ""}
          />
        </Field>
        <EventChoice chosen={typed?.getAll("events") ?? null} />
        <EnvironmentChoice chosen={typed?.get("environment")} />
        <div>
          <button type="submit" class="button button-primary">
            Add endpoint
          </button>
        </div>
      </PostForm>
    </Card>
  );
}

async function webhooksPage(visit: MemberVisit): Promise<Response> {
  const accountId = visit.account.id;
  const [endpoints, deliveries] = await Promise.all([
    listEndpoints(visit.deps, { accountId }),
    listDeliveries(visit.deps, { accountId, limit: 15 }),
  ]);
  const flash = await takeFlash(visit);
  return shell(
    visit,
    "Webhooks",
    <>
      <PageHead
        title="Webhooks"
        lead={
          <>
            Learn of finished and failed images without polling.{" "}
            <a href="/docs/webhooks">How to verify a signature</a>
          </>
        }
      />
      <Card flush>
        {endpoints.length === 0 ? (
          <Empty title="No endpoints yet">
            Add the address of your receiver below, then send it a test event.
          </Empty>
        ) : (
          <EndpointTable endpoints={endpoints} />
        )}
      </Card>
      {canWrite(visit) && <CreateForm visit={visit} flash={flash} />}
      {deliveries.items.length > 0 && (
        <Card flush title="Latest deliveries">
          {await DeliveryTable({ visit, deliveries: deliveries.items })}
        </Card>
      )}
    </>,
    { flash },
  );
}

async function create(visit: MemberVisit): Promise<Response> {
  const environment = ENVIRONMENTS.find((known) => known === field(visit, "environment"));
  if (!environment)
    throw new Refusal("INVALID_REQUEST", "Choose whether the endpoint is for test or for live.");
  const events = readEvents(visit);
  const url = field(visit, "url");
  await countSend(visit);
  const made = await createEndpoint(visit.deps, {
    accountId: visit.account.id,
    environment,
    url,
    events,
    by: visit.user.id,
  });
  await visit.flashes.put(visit.session.id, { webhookSecret: { url: made.endpoint.url, text: made.secret } });
  return redirect(`/console/webhooks/${made.endpoint.id}`, visit.exchange);
}

export const webhookRoutes = [
  member.get("/console/webhooks", webhooksPage),
  member.post("/console/webhooks", create),
  ...endpointRoutes,
];
