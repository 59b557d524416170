/** @jsxImportSource preact */
import { ENVIRONMENTS } from "../../db/schema.ts";
import { type AuditAction, logAction } from "../app/audit-log.ts";
import { listDeliveries, sendTest } from "../app/manage-deliveries.ts";
import {
  createEndpoint,
  type Endpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  removeEndpoint,
  rotateSecret,
} from "../app/manage-webhooks.ts";
import { AppError, OperatorError } from "../core/errors.ts";
import { SUBSCRIBABLE_EVENTS } from "../core/webhook-event.ts";
import { DeliveryTable } from "./deliveries.tsx";
import {
  Badge,
  Card,
  Confirm,
  CopyText,
  Empty,
  EnvironmentBadge,
  Field,
  Notice,
  PageHead,
  PostForm,
  Time,
} from "./elements.tsx";
import type { Flash } from "./flash.ts";
import { shell } from "./layout.tsx";
import { redirect } from "./respond.ts";
import { canWrite, field, type MemberVisit, member } from "./visit.ts";

export function FreshSecret({ secret }: { secret: NonNullable<Flash["secret"]> }) {
  return (
    <section class="card card-accent" aria-labelledby="secret-title">
      <h2 id="secret-title">Copy the signing secret now</h2>
      <p>{`It is shown only this time. Your receiver at ${secret.url} verifies every event with it.`}</p>
      <CopyText id="fresh-secret" text={secret.text} label="Signing secret" />
    </section>
  );
}

function EndpointState({ endpoint }: { endpoint: Endpoint }) {
  if (endpoint.state !== "enabled") return <Badge tone="bad">Disabled</Badge>;
  return endpoint.failingSince === null ? (
    <Badge tone="good">Enabled</Badge>
  ) : (
    <Badge tone="test">Failing</Badge>
  );
}

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

function CreateForm({ visit }: { visit: MemberVisit }) {
  return (
    <Card
      title="Add an endpoint"
      note="Events are sent as signed POST requests to a public HTTPS address of yours."
    >
      <PostForm visit={visit} action="/console/webhooks" class="form">
        <Field label="Address" id="url">
          <input id="url" name="url" type="url" required placeholder="https://example.com/hooks/cardpress" />
        </Field>
        <fieldset class="choices">
          <legend>Events</legend>
          {SUBSCRIBABLE_EVENTS.map((event) => (
            <label key={event}>
              <input type="checkbox" name="events" value={event} checked /> {event}
            </label>
          ))}
        </fieldset>
        <fieldset class="choices">
          <legend>Environment</legend>
          <label>
            <input type="radio" name="environment" value="test" checked /> Test
          </label>
          <label>
            <input type="radio" name="environment" value="live" /> Live
          </label>
        </fieldset>
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
    listEndpoints(visit.parts, { accountId }),
    listDeliveries(visit.parts, { accountId, limit: 15 }),
  ]);
  return shell(
    visit,
    "Webhooks",
    <>
      <PageHead
        title="Webhooks"
        lead={
          <>
            Hear of finished and failed images without polling.{" "}
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
      {canWrite(visit) && <CreateForm visit={visit} />}
      {deliveries.items.length > 0 && (
        <Card flush title="Latest deliveries">
          <DeliveryTable deliveries={deliveries.items} />
        </Card>
      )}
    </>,
  );
}

function EndpointActions({ visit, endpoint }: { visit: MemberVisit; endpoint: Endpoint }) {
  const path = `/console/webhooks/${endpoint.id}`;
  return (
    <>
      <PostForm visit={visit} action={`${path}/${endpoint.state === "enabled" ? "test" : "enable"}`}>
        <button type="submit" class="button button-primary">
          {endpoint.state === "enabled" ? "Send test event" : "Enable again"}
        </button>
      </PostForm>
      <Confirm
        visit={visit}
        id="rotate"
        action={`${path}/rotate`}
        button="Rotate secret"
        title="Make a new signing secret?"
        confirm="Rotate secret"
        danger={false}
      >
        <p>
          The new secret is shown once. For 24 hours every event is signed with both, so that nothing is lost.
        </p>
      </Confirm>
      <Confirm
        visit={visit}
        id="remove"
        action={`${path}/remove`}
        button="Remove"
        title="Remove this endpoint?"
        confirm="Remove endpoint"
      >
        <p>Nothing more is sent to it. What waits to be sent is given up.</p>
      </Confirm>
    </>
  );
}

async function endpointPage(visit: MemberVisit): Promise<Response> {
  const { parts, account, params, query } = visit;
  const endpoint = await getEndpoint(parts, { endpointId: params.id ?? "", accountId: account.id });
  const cursor = query.get("after") ?? undefined;
  const deliveries = await listDeliveries(parts, {
    accountId: account.id,
    endpointId: endpoint.id,
    cursor,
    limit: 25,
  });
  const flash = visit.flashes.take(visit.session.id);
  return shell(
    visit,
    "Endpoint",
    <>
      <PageHead title={new URL(endpoint.url).host} lead={<code>{endpoint.url}</code>}>
        {canWrite(visit) && <EndpointActions visit={visit} endpoint={endpoint} />}
      </PageHead>
      {flash?.secret && <FreshSecret secret={flash.secret} />}
      {endpoint.state === "disabled" && (
        <Notice tone="bad" title="Disabled">
          {endpoint.disabledReason} Mend the receiver, then enable the endpoint again.
        </Notice>
      )}
      <Card>
        <dl class="facts">
          <dt>State</dt>
          <dd>
            <EndpointState endpoint={endpoint} />
          </dd>
          <dt>Environment</dt>
          <dd>
            <EnvironmentBadge environment={endpoint.environment} />
          </dd>
          <dt>Events</dt>
          <dd>{endpoint.events === null ? "All, also those to come" : endpoint.events.join(", ")}</dd>
          <dt>Old secret signs until</dt>
          <dd>
            {endpoint.previousSecretExpiresAt === null ? (
              "There is none"
            ) : (
              <Time at={endpoint.previousSecretExpiresAt} />
            )}
          </dd>
          <dt>Endpoint id</dt>
          <dd>
            <code>{endpoint.id}</code>
          </dd>
        </dl>
      </Card>
      <Card flush title="Deliveries">
        {deliveries.items.length === 0 ? (
          <Empty title="Nothing sent yet">Send a test event to see whether your receiver answers.</Empty>
        ) : (
          <DeliveryTable deliveries={deliveries.items} />
        )}
      </Card>
      {deliveries.nextCursor && (
        <nav class="pager" aria-label="Pages">
          <a
            class="button"
            href={`/console/webhooks/${endpoint.id}?${new URLSearchParams({ after: deliveries.nextCursor })}`}
          >
            Older
          </a>
        </nav>
      )}
    </>,
    { flash },
  );
}

async function note(visit: MemberVisit, action: AuditAction, subject: string): Promise<void> {
  const { store, clock, random } = visit.parts;
  const what = { by: visit.user.id, accountId: visit.account.id, action, subject };
  await store.write((tx) => logAction(tx, what, { now: clock.now(), random }));
}

async function create(visit: MemberVisit): Promise<Response> {
  const environment = ENVIRONMENTS.find((known) => known === field(visit, "environment"));
  if (!environment) throw new OperatorError("Choose whether the endpoint is for test or for live.");
  const chosen = visit.form.getAll("events");
  if (chosen.length === 0) throw new OperatorError("Choose at least one event.");
  // All of them means all to come as well.
  const events = chosen.length === SUBSCRIBABLE_EVENTS.length ? null : chosen;
  const url = field(visit, "url");
  const made = await createEndpoint(visit.parts, {
    accountId: visit.account.id,
    environment,
    url,
    events,
  }).catch(asFormProblem);
  await note(visit, "webhook.created", made.endpoint.url);
  visit.flashes.put(visit.session.id, { secret: { url: made.endpoint.url, text: made.secret } });
  return redirect(`/console/webhooks/${made.endpoint.id}`, visit.exchange);
}

/** A refused address or filter is told beside the form rather than on a page of its own. */
function asFormProblem(error: unknown): never {
  if (error instanceof AppError && error.code === "INVALID_REQUEST") throw new OperatorError(error.message);
  throw error;
}

function refOf({ params, account }: MemberVisit) {
  return { endpointId: params.id ?? "", accountId: account.id };
}

async function test(visit: MemberVisit): Promise<Response> {
  const delivery = await sendTest(visit.parts, refOf(visit)).catch(asFormProblem);
  return redirect(`/console/deliveries/${delivery.id}`, visit.exchange);
}

async function enable(visit: MemberVisit): Promise<Response> {
  const endpoint = await enableEndpoint(visit.parts, refOf(visit));
  visit.flashes.put(visit.session.id, { notice: "The endpoint is enabled: events are sent from now on." });
  return redirect(`/console/webhooks/${endpoint.id}`, visit.exchange);
}

async function rotate(visit: MemberVisit): Promise<Response> {
  const { endpoint, secret } = await rotateSecret(visit.parts, refOf(visit));
  await note(visit, "webhook.secret_rotated", endpoint.url);
  visit.flashes.put(visit.session.id, { secret: { url: endpoint.url, text: secret } });
  return redirect(`/console/webhooks/${endpoint.id}`, visit.exchange);
}

async function remove(visit: MemberVisit): Promise<Response> {
  const endpoint = await getEndpoint(visit.parts, refOf(visit));
  await removeEndpoint(visit.parts, refOf(visit));
  await note(visit, "webhook.removed", endpoint.url);
  visit.flashes.put(visit.session.id, { notice: "The endpoint is removed." });
  return redirect("/console/webhooks", visit.exchange);
}

export const webhookRoutes = [
  member.get("/console/webhooks", webhooksPage),
  member.post("/console/webhooks", create),
  member.get("/console/webhooks/:id", endpointPage),
  member.post("/console/webhooks/:id/test", test),
  member.post("/console/webhooks/:id/enable", enable),
  member.post("/console/webhooks/:id/rotate", rotate),
  member.post("/console/webhooks/:id/remove", remove),
];
