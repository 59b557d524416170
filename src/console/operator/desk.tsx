/** @jsxImportSource preact */
import { ENVIRONMENTS } from "../../../db/schema.ts";
import { listAccounts } from "../../store/accounts.ts";
import { queueDepth, recentFailures } from "../../store/image-search.ts";
import { Badge, Card, count, Empty, EnvironmentBadge, PageHead, Stat, Time } from "../elements.tsx";
import { playerName } from "../image-parts.tsx";
import { shell } from "../layout.tsx";
import { html } from "../respond.ts";
import { operator, type UserVisit } from "../visit.ts";

const FAILURES_SHOWN = 12;

/** Queue and workers now; the page asks for it again every few seconds. */
async function pulse({ parts, now }: UserVisit) {
  const { read } = parts.store;
  const [live, test] = await Promise.all(ENVIRONMENTS.map((name) => queueDepth(read, name)));
  const workers = parts.pool.health();
  const oldest = live?.oldestQueuedAt ?? null;
  const waited = oldest === null ? "Nobody waits" : `Oldest waits ${Math.round((now - oldest) / 1000)} s`;
  return (
    <div id="pulse" hx-get="/console/operator/pulse" hx-trigger="every 3s" hx-swap="outerHTML">
      <dl class="stats">
        <Stat label="Live images queued" value={count(live?.queued ?? 0)} note={waited} />
        <Stat label="Being rendered" value={count(live?.rendering ?? 0)} />
        <Stat
          label="Renderers ready"
          value={`${workers.ready} of ${workers.wanted}`}
          note={workers.ready < workers.wanted ? "Some are starting" : "All warm"}
        />
        <Stat label="Test images open" value={count((test?.queued ?? 0) + (test?.rendering ?? 0))} />
      </dl>
    </div>
  );
}

async function deskPage(visit: UserVisit): Promise<Response> {
  const { read } = visit.parts.store;
  const [accounts, failures, now] = await Promise.all([
    listAccounts(read),
    recentFailures(read, FAILURES_SHOWN),
    pulse(visit),
  ]);
  const names = new Map(accounts.map((account) => [account.id, account.name]));
  return shell(
    visit,
    "Desk",
    <>
      <PageHead title="Operator's desk" lead="What the service does right now.">
        <a class="button" href="/ready">
          Readiness
        </a>
        <a class="button button-primary" href="/console/operator/accounts">
          Accounts
        </a>
      </PageHead>
      <Card title="Queue and renderers">{now}</Card>
      <Card flush title="Recent failures" note="Live and test, newest first. None of them cost a credit.">
        {failures.length === 0 ? (
          <Empty title="Nothing failed">Failed images of all accounts appear here with their reason.</Empty>
        ) : (
          <table class="table">
            <caption class="visually-hidden">Recent failures</caption>
            <thead>
              <tr>
                <th scope="col">Account</th>
                <th scope="col">Player</th>
                <th scope="col">Why</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {failures.map((image) => (
                <tr key={image.id}>
                  <th scope="row">
                    <a href={`/console/operator/accounts/${image.accountId}`}>
                      {names.get(image.accountId) ?? image.accountId}
                    </a>
                    <span class="sub">
                      <EnvironmentBadge environment={image.environment} />
                    </span>
                  </th>
                  <td data-label="Player">{playerName(image)}</td>
                  <td data-label="Why" class="long">
                    {image.failureMessage}
                    {image.renders > 1 && <Badge>{`${image.renders} attempts`}</Badge>}
                  </td>
                  <td data-label="When">
                    <Time at={image.completedAt ?? image.updatedAt} style="relative" />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Card>
    </>,
  );
}

export const deskRoutes = [
  operator.get("/console/operator", deskPage),
  operator.get("/console/operator/pulse", async (visit) =>
    html(visit.exchange, await pulse(visit), { fragment: true }),
  ),
];
