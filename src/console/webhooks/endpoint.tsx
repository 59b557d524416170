/** @jsxImportSource preact */

import { listDeliveries, recoverSince, sendTest } from "../../app/webhooks/manage-deliveries.ts";
import {
  type Endpoint,
  enableEndpoint,
  getEndpoint,
  removeEndpoint,
  revokeOldSecret,
  rotateSecret,
  updateEndpoint,
} from "../../app/webhooks/manage-webhooks.ts";
import { Refusal } from "../../core/errors.ts";
import { HOUR_MS } from "../../core/time.ts";
import { WEBHOOK_DELIVERY_STATES, WEBHOOK_EVENT_TYPES } from "../../core/webhook-event.ts";
import {
  Card,
  Confirm,
  count,
  Empty,
  EnvironmentBadge,
  Field,
  Notice,
  PageHead,
  Pager,
  PostForm,
  Segments,
  Time,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member, takeFlash } from "../visit.ts";
import { DeliveryTable, STATE_NAMES } from "./deliveries.tsx";
import { countSend, EndpointState, EventChoice, FreshSecret, readEvents } from "./endpoint-parts.tsx";

const PAGE_SIZE = 25;
/** How far back missed events can be requested, in hours. */
const RECOVER_CHOICES = [
  { hours: 1, label: "hour" },
  { hours: 24, label: "24 hours" },
  { hours: 72, label: "3 days" },
  { hours: 168, label: "7 days" },
] as const;

const path = ({ id }: Pick<Endpoint, "id">) => `/console/webhooks/${id}`;

function Actions({ visit, endpoint }: { visit: MemberVisit; endpoint: Endpoint }) {
  return (
    <>
      <PostForm
        visit={visit}
        action={`${path(endpoint)}/${endpoint.state === "enabled" ? "test" : "enable"}`}
      >
        <button type="submit" class="button button-primary">
          {endpoint.state === "enabled" ? "Send test event" : "Enable again"}
        </button>
      </PostForm>
      {endpoint.state === "enabled" && <Recover visit={visit} endpoint={endpoint} />}
      <Confirm
        visit={visit}
        id="rotate"
        action={`${path(endpoint)}/rotate`}
        button="Rotate secret"
        title="Make a new signing secret?"
        confirm="Rotate secret"
        danger={false}
        small={false}
      >
        <p>
          The new secret is shown once. For 24 hours every event is signed with both, so that nothing is lost.
        </p>
      </Confirm>
      <Confirm
        visit={visit}
        id="remove"
        action={`${path(endpoint)}/remove`}
        button="Remove"
        title="Remove this endpoint?"
        confirm="Remove endpoint"
        small={false}
      >
        <p>Nothing more is sent to it. What waits to be sent is given up.</p>
      </Confirm>
    </>
  );
}

function Recover({ visit, endpoint }: { visit: MemberVisit; endpoint: Endpoint }) {
  return (
    <Confirm
      visit={visit}
      id="recover"
      action={`${path(endpoint)}/recover`}
      button="Recover"
      title="Send what was missed?"
      confirm="Send missed events"
      danger={false}
      small={false}
    >
      <p>
        Everything this endpoint should have received and did not is sent now: what failed, what still waits,
        and what happened before it was there or while it was disabled. Delivered events are not repeated.
      </p>
      <Field label="Of the last" id="hours">
        <select id="hours" name="hours">
          {RECOVER_CHOICES.map(({ hours, label }) => (
            <option key={hours} value={hours} selected={hours === 24}>
              {label}
            </option>
          ))}
        </select>
      </Field>
    </Confirm>
  );
}

function Facts({ visit, endpoint }: { visit: MemberVisit; endpoint: Endpoint }) {
  const { previousSecretExpiresAt, failingSince, lastSuccessAt } = endpoint;
  return (
    <Card title="Endpoint">
      <dl class="facts">
        <dt>State</dt>
        <dd>
          <EndpointState endpoint={endpoint} />
          {failingSince !== null && (
            <span class="note">
              {" "}
              since <Time at={failingSince} />
            </span>
          )}
        </dd>
        <dt>Environment</dt>
        <dd>
          <EnvironmentBadge environment={endpoint.environment} />
        </dd>
        <dt>Last success</dt>
        <dd>{lastSuccessAt === null ? "None yet" : <Time at={lastSuccessAt} style="relative" />}</dd>
        <dt>Secret</dt>
        <dd>
          {previousSecretExpiresAt === null ? (
            "One, shown when it was made"
          ) : (
            <>
              Two: the old one signs until <Time at={previousSecretExpiresAt} />{" "}
              {canWrite(visit) && (
                <Confirm
                  visit={visit}
                  id="old-secret"
                  action={`${path(endpoint)}/revoke-old-secret`}
                  button="End the old one now"
                  title="End the old secret now?"
                  confirm="End the old secret"
                >
                  <p>From the next attempt on only the new secret signs.</p>
                </Confirm>
              )}
            </>
          )}
        </dd>
        <dt>Endpoint id</dt>
        <dd>
          <code>{endpoint.id}</code>
        </dd>
      </dl>
    </Card>
  );
}

function EditForm({ visit, endpoint }: { visit: MemberVisit; endpoint: Endpoint }) {
  return (
    <Card title="Settings">
      <PostForm visit={visit} action={path(endpoint)} class="form">
        <Field label="Address" id="url">
          <input id="url" name="url" type="url" required value={endpoint.url} />
        </Field>
        <EventChoice chosen={endpoint.events} />
        <div>
          <button type="submit" class="button">
            Save
          </button>
        </div>
      </PostForm>
    </Card>
  );
}

async function Deliveries({ visit, endpoint }: { visit: MemberVisit; endpoint: Endpoint }) {
  const { deps, account, query } = visit;
  const state = WEBHOOK_DELIVERY_STATES.find((known) => known === query.get("state"));
  const eventType = WEBHOOK_EVENT_TYPES.find((known) => known === query.get("type"));
  const deliveries = await listDeliveries(deps, {
    accountId: account.id,
    endpointId: endpoint.id,
    state,
    eventType,
    cursor: query.get("after") ?? undefined,
    limit: PAGE_SIZE,
  });
  const address = (change: Record<string, string | undefined>) => {
    const entries = Object.entries({ state, type: eventType, ...change }).filter(
      ([, value]) => value !== undefined,
    );
    return `${path(endpoint)}?${new URLSearchParams(entries as [string, string][])}`;
  };
  const states = [undefined, "delivered", "pending", "failed"] as const;
  return (
    <>
      <div class="list-choices">
        <form class="row-form" method="get" action={path(endpoint)}>
          {state && <input type="hidden" name="state" value={state} />}
          <Field label="Deliveries of" id="type">
            <select id="type" name="type" data-submits>
              <option value="">All events</option>
              {WEBHOOK_EVENT_TYPES.map((type) => (
                <option key={type} selected={type === eventType}>
                  {type}
                </option>
              ))}
            </select>
          </Field>
          <noscript>
            <button type="submit" class="button">
              Show
            </button>
          </noscript>
        </form>
      </div>
      <Card
        flush
        title="Deliveries"
        actions={
          <Segments
            label="State"
            choices={states.map((name) => ({
              label: name === undefined ? "All" : STATE_NAMES[name],
              href: address({ state: name }),
              current: name === state,
            }))}
          />
        }
      >
        {deliveries.items.length > 0 ? (
          await DeliveryTable({ visit, deliveries: deliveries.items })
        ) : state === undefined && eventType === undefined ? (
          <Empty title="Nothing sent yet">Send a test event to see whether your receiver answers.</Empty>
        ) : (
          <Empty title="Nothing found">
            {eventType === undefined
              ? "No delivery is in this state."
              : `No delivery of ${eventType} is here.`}
          </Empty>
        )}
      </Card>
      <Pager older={deliveries.nextCursor && address({ after: deliveries.nextCursor })} />
    </>
  );
}

async function endpointPage(visit: MemberVisit): Promise<Response> {
  const endpoint = await getEndpoint(visit.deps, refOf(visit));
  const flash = await takeFlash(visit, "webhookSecret");
  return shell(
    visit,
    "Endpoint",
    <>
      <PageHead title={new URL(endpoint.url).host} lead={<code>{endpoint.url}</code>}>
        {canWrite(visit) && <Actions visit={visit} endpoint={endpoint} />}
      </PageHead>
      {flash.webhookSecret && <FreshSecret secret={flash.webhookSecret} />}
      {endpoint.state === "disabled" && (
        <Notice tone="bad" title="Disabled">
          {endpoint.disabledReason} Fix the receiver, enable the endpoint again, then recover what it missed.
        </Notice>
      )}
      <div class="cards">
        <Facts visit={visit} endpoint={endpoint} />
        {canWrite(visit) && <EditForm visit={visit} endpoint={endpoint} />}
      </div>
      {await Deliveries({ visit, endpoint })}
    </>,
    { flash },
  );
}

function refOf({ params, account, user }: MemberVisit) {
  return { endpointId: params.id ?? "", accountId: account.id, by: user.id };
}

/** Redirects to the endpoint, which shows what was done. */
async function done(visit: MemberVisit, notice: string): Promise<Response> {
  await visit.flashes.put(visit.session.id, { notice });
  return redirect(path({ id: visit.params.id ?? "" }), visit.exchange);
}

async function test(visit: MemberVisit): Promise<Response> {
  await countSend(visit);
  const delivery = await sendTest(visit.deps, refOf(visit));
  return redirect(`/console/deliveries/${delivery.id}`, visit.exchange);
}

async function update(visit: MemberVisit): Promise<Response> {
  // Ownership first: only the owner learns what is wrong with the form.
  await getEndpoint(visit.deps, refOf(visit));
  await countSend(visit);
  const change = { url: field(visit, "url"), events: readEvents(visit) };
  await updateEndpoint(visit.deps, refOf(visit), change);
  return done(visit, "The settings are saved. What waits to be sent goes to the new address.");
}

async function enable(visit: MemberVisit): Promise<Response> {
  await enableEndpoint(visit.deps, refOf(visit));
  return done(visit, "The endpoint is enabled: events are sent from now on. Recover sends what it missed.");
}

async function recover(visit: MemberVisit): Promise<Response> {
  // Ownership first here too.
  await getEndpoint(visit.deps, refOf(visit));
  const choice = RECOVER_CHOICES.find(({ hours }) => String(hours) === field(visit, "hours"));
  if (!choice) throw new Refusal("INVALID_REQUEST", "Choose how far back to look for missed events.");
  await countSend(visit);
  const since = visit.now - choice.hours * HOUR_MS;
  const { recovered } = await recoverSince(visit.deps, refOf(visit), since);
  return done(
    visit,
    recovered === 0
      ? `Nothing was missed in the last ${choice.label}.`
      : `${count(recovered)} ${recovered === 1 ? "event is" : "events are"} being sent.`,
  );
}

async function rotate(visit: MemberVisit): Promise<Response> {
  const { endpoint, secret } = await rotateSecret(visit.deps, refOf(visit));
  await visit.flashes.put(visit.session.id, { webhookSecret: { url: endpoint.url, text: secret } });
  return redirect(path(endpoint), visit.exchange);
}

async function endOldSecret(visit: MemberVisit): Promise<Response> {
  await revokeOldSecret(visit.deps, refOf(visit));
  return done(visit, "The old secret signs no more.");
}

async function remove(visit: MemberVisit): Promise<Response> {
  await removeEndpoint(visit.deps, refOf(visit));
  await visit.flashes.put(visit.session.id, { notice: "The endpoint is removed." });
  return redirect("/console/webhooks", visit.exchange);
}

export const endpointRoutes = [
  member.get("/console/webhooks/:id", endpointPage),
  member.post("/console/webhooks/:id", update),
  member.post("/console/webhooks/:id/test", test),
  member.post("/console/webhooks/:id/enable", enable),
  member.post("/console/webhooks/:id/recover", recover),
  member.post("/console/webhooks/:id/rotate", rotate),
  member.post("/console/webhooks/:id/revoke-old-secret", endOldSecret),
  member.post("/console/webhooks/:id/remove", remove),
];
