/** @jsxImportSource preact */

import { statfs } from "node:fs/promises";
import { type Troubles, troubles } from "../../app/operations/attention.ts";
import { ENVIRONMENTS } from "../../core/account.ts";
import { credits } from "../../core/mail.ts";

import { DAY_MS } from "../../core/time.ts";
import { MAX_COUNTED } from "../../store/images/image-reads.ts";
import { findAnyImage, recentLiveFailures } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import { queueDepth } from "../../store/images/queue-depth.ts";
import { overviewCounts } from "../../store/overviews/overview.ts";
import { accountNames } from "../../store/people/accounts.ts";
import { inUnits } from "../../system/disk-space.ts";
import { RELEASE } from "../../version.ts";
import { playerName } from "../cards/image-parts.tsx";
import { photoThumb } from "../cards/thumbs.ts";
import { Badge, Card, count, Empty, PageHead, PostForm, Stat, Time } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { html } from "../respond.ts";
import { operator, type UserVisit } from "../visit.ts";
import { OPERATORS_READ, WhatsNew } from "../whats-new.tsx";

const FAILURES_SHOWN = 12;

/** "10,000+": so far the store counts. */
function upTo(number: number): string {
  return number < MAX_COUNTED ? count(number) : `${count(MAX_COUNTED)}+`;
}

/** Current queue, workers, deliveries and disk; refreshed every few seconds. */
async function pulse({ deps, now }: UserVisit) {
  const { read } = deps.store;
  const [[live, test], numbers, disk] = await Promise.all([
    Promise.all(ENVIRONMENTS.map((name) => queueDepth(read, name))),
    overviewCounts(read, { since: now - DAY_MS }),
    statfs(deps.config.dataDir),
  ]);
  const workers = deps.pool.health();
  const oldest = live?.oldestQueuedAt ?? null;
  const waited =
    oldest === null ? "Nobody waits" : `The oldest waits ${Math.max(0, Math.round((now - oldest) / 1000))} s`;
  const freeBytes = disk.bavail * disk.bsize;
  return (
    <div id="pulse" hx-get="/console/operator/pulse" hx-trigger="every 3s" hx-swap="outerHTML">
      <dl class="stats stats-many">
        <Stat label="Live images queued" value={upTo(live?.queued ?? 0)} note={waited} />
        <Stat label="Being rendered" value={count(live?.rendering ?? 0)} note="Live" />
        <Stat
          label="Renderers ready"
          value={`${workers.ready} of ${workers.wanted}`}
          note={workers.ready < workers.wanted ? "Some are starting" : "All warm"}
        />
        <Stat label="Test images open" value={upTo((test?.queued ?? 0) + (test?.rendering ?? 0))} />
        <Stat
          label="Failed in 24 hours"
          value={count(numbers.failedSince)}
          note="Live and test, without canceled"
        />
        <Stat
          label="Webhooks to deliver"
          value={count(numbers.deliveriesOpen)}
          note="First tries and repeats"
        />
        <Stat
          label="Endpoints in trouble"
          value={count(numbers.endpointsFailing)}
          note={numbers.endpointsFailing === 0 ? "All answer" : "Failing or disabled"}
        />
        <Stat
          label="Disk free"
          value={inUnits(freeBytes)}
          note={
            freeBytes < deps.config.minFreeDiskBytes
              ? "Too little: creates are refused"
              : "In the data folder"
          }
        />
      </dl>
    </div>
  );
}

function Failures({ visit, failures, names }: FailuresProps) {
  if (failures.length === 0)
    return (
      <Empty title="Nothing failed">
        Failed live images of all accounts appear here with photo and reason.
      </Empty>
    );
  return (
    <table class="table">
      <caption class="visually-hidden">Recent failures</caption>
      <thead>
        <tr>
          <th scope="col">Photo</th>
          <th scope="col">Account</th>
          <th scope="col">Player</th>
          <th scope="col">Why</th>
          <th scope="col">When</th>
          <th scope="col">
            <span class="visually-hidden">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {failures.map((image) => (
          <tr key={image.id}>
            <td class="cell-photo">
              {image.sourceSha256 === null ? (
                <span class="thumb thumb-failed" />
              ) : (
                <img
                  class="thumb"
                  src={`/console/operator/failures/${image.id}/photo`}
                  alt=""
                  loading="lazy"
                  width="56"
                  height="70"
                />
              )}
            </td>
            <th scope="row">
              <a href={`/console/operator/accounts/${image.accountId}`}>
                {names.get(image.accountId) ?? image.accountId}
              </a>
            </th>
            <td data-label="Player" class="name">
              {playerName(image)}
            </td>
            <td data-label="Why" class="long">
              {image.failureMessage}
              {image.renders > 1 && <Badge>{`${image.renders} attempts`}</Badge>}
            </td>
            <td data-label="When">
              <Time at={image.completedAt ?? image.updatedAt} style="relative" />
            </td>
            <td class="cell-actions">
              <PostForm visit={visit} action={`/console/operator/accounts/${image.accountId}/view`}>
                <input type="hidden" name="next" value={`/console/images/${image.id}`} />
                <button
                  type="submit"
                  class="button button-small"
                  aria-label={`Look at the image of ${playerName(image)}`}
                >
                  Look
                </button>
              </PostForm>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface FailuresProps {
  visit: UserVisit;
  failures: Image[];
  names: Map<string, string>;
}

/** The same as the daily digest, for operators who are here already. */
function Attention({ troubles: { low, over, endpoints, machine } }: { troubles: Troubles }) {
  if (low.length + over.length + endpoints.length + machine.length === 0) return null;
  return (
    <Card title="Needs somebody">
      <ul class="list">
        {machine.map((line) => (
          <li key={line}>
            <Badge tone="bad">Service</Badge>
            <span>{line}</span>
          </li>
        ))}
        {low.map(({ account, left }) => (
          <li key={account.id}>
            <Badge tone={left === 0 ? "bad" : "busy"}>Credits</Badge>
            <span>
              <a href={`/console/operator/accounts/${account.id}`}>{account.name}</a>{" "}
              {left === 0 ? "has no credits left" : `has ${credits(left)} left`}
            </span>
          </li>
        ))}
        {over.map(({ account, used }) => (
          <li key={account.id}>
            <Badge tone="busy">Budget</Badge>
            <span>
              <a href={`/console/operator/accounts/${account.id}`}>{account.name}</a>{" "}
              {`has used ${credits(used)} of a budget of ${count(account.usageBudget ?? 0)}`}
            </span>
          </li>
        ))}
        {endpoints.map(({ endpoint, accountName }) => (
          <li key={endpoint.id}>
            <Badge tone={endpoint.state === "disabled" ? "bad" : "busy"}>Webhook</Badge>
            <span>
              An endpoint of <a href={`/console/operator/accounts/${endpoint.accountId}`}>{accountName}</a>{" "}
              {endpoint.state === "disabled" ? "was disabled" : "fails"}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

async function overviewPage(visit: UserVisit): Promise<Response> {
  const { read } = visit.deps.store;
  const [failures, now] = await Promise.all([recentLiveFailures(read, FAILURES_SHOWN), pulse(visit)]);
  const names = await accountNames(
    read,
    failures.map(({ accountId }) => accountId),
  );
  return shell(
    visit,
    "Overview",
    <>
      <PageHead title="Operator console" lead="The whole service at a glance.">
        <a class="button" href="/ready">
          Readiness
        </a>
        <a class="button button-primary" href="/console/operator/accounts">
          Accounts
        </a>
      </PageHead>
      <WhatsNew visit={visit} readers={OPERATORS_READ} />
      <Card title="Right now" note={`cardpress ${RELEASE}, renewed every three seconds`}>
        {now}
      </Card>
      <Attention troubles={await troubles(visit.deps)} />
      <Card flush title="Recent failures" note="Live images, newest first. None of them cost a credit.">
        <Failures visit={visit} failures={failures} names={names} />
      </Card>
    </>,
  );
}

/**
 * A thumbnail of a failed live image's photo, to see why it failed. Throws 404 when it is gone or unreadable.
 */
async function failurePhoto(visit: UserVisit): Promise<Response> {
  const image = await findAnyImage(visit.deps.store.read, visit.params.id ?? "");
  if (image?.state !== "failed" || image.environment !== "live" || image.sourceSha256 === null)
    throw notFound();
  return photoThumb(visit, image.sourceSha256);
}

export const overviewRoutes = [
  operator.get("/console/operator/failures/:id/photo", failurePhoto),
  operator.get("/console/operator", overviewPage),
  operator.get("/console/operator/pulse", async (visit) =>
    html(visit.exchange, await pulse(visit), { fragment: true }),
  ),
];
