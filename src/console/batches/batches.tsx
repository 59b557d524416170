/** @jsxImportSource preact */
import { batchStatus } from "../../app/batches/batch-view.ts";
import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import { formatPosition, parsePosition } from "../../core/list-position.ts";
import { openChanges } from "../../store/images/batch-places.ts";
import { type Batch, listBatches } from "../../store/images/batches.ts";
import {
  Badge,
  Card,
  count,
  Empty,
  EnvironmentSegments,
  PageHead,
  Pager,
  refreshing,
  Time,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { faultsOf } from "../outcomes.ts";
import { isHtmxRequest } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { Example } from "../ways.tsx";
import { countedBatch } from "./own-batch.ts";
import { WaitingLists } from "./waiting-lists.tsx";

const PAGE_SIZE = 25;

/** The name shown for an unnamed batch. */
export function batchName({ name }: Pick<Batch, "name">): string {
  return name.trim() || "Squad without a name";
}

/** Whether anything about it can still change. */
export function isRunning({ completedAt }: Pick<Batch, "completedAt">): boolean {
  return completedAt === null;
}

export function BatchBadge({ batch }: { batch: Batch }) {
  const status = batchStatus(batch);
  if (status === "canceled") return <Badge>{isRunning(batch) ? "Being canceled" : "Canceled"}</Badge>;
  if (status === "processing") return <Badge tone="busy">In the making</Badge>;
  const faults = faultsOf(batch);
  return faults > 0 ? (
    <Badge tone="bad">{`${count(faults)} failed`}</Badge>
  ) : (
    <Badge tone="good">Completed</Badge>
  );
}

function Table({ batches }: { batches: Batch[] }) {
  return (
    <table class="table">
      <caption class="visually-hidden">Squads</caption>
      <thead>
        <tr>
          <th scope="col">Squad</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Cards
          </th>
          <th scope="col" class="number">
            Completed
          </th>
          <th scope="col" class="number">
            Failed
          </th>
          <th scope="col">Created</th>
        </tr>
      </thead>
      <tbody>
        {batches.map((batch) => (
          <tr key={batch.id}>
            <th scope="row">
              <a href={`/console/batches/${batch.id}`}>{batchName(batch)}</a>
            </th>
            <td data-label="Status">
              <BatchBadge batch={batch} />
            </td>
            <td data-label="Cards" class="number">
              {count(batch.total)}
            </td>
            <td data-label="Completed" class="number">
              {count(batch.completed)}
            </td>
            <td data-label="Failed" class="number">
              {count(faultsOf(batch))}
            </td>
            <td data-label="Created">
              <Time at={batch.createdAt} style="relative" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

async function batchesPage(visit: MemberVisit): Promise<Response> {
  const { deps, account, query } = visit;
  const after = parsePosition(query.get("after") ?? "");
  const list = (environment: Environment) =>
    listBatches(deps.store.read, { accountId: account.id, environment, after, limit: PAGE_SIZE + 1 });
  const asked = ENVIRONMENTS.find((known) => known === query.get("environment"));
  const live = asked === "test" ? [] : await list("live");
  // Who has only made test batches so far finds them at once.
  const test = asked === "live" || live.length > 0 ? [] : await list("test");
  const environment: Environment = asked ?? (test.length > 0 ? "test" : "live");
  const found = environment === "test" ? test : live;
  const listed = found.slice(0, PAGE_SIZE);
  const changing = await openChanges(
    deps.store.read,
    listed.filter(isRunning).map(({ id }) => id),
  );
  const batches = listed.map((batch) => countedBatch(batch, changing.get(batch.id) ?? 0));
  const last = batches.at(-1);
  const address = (change: Record<string, string> = {}) =>
    `/console/batches?${new URLSearchParams({ environment, ...change })}`;
  const begin = (
    <a class="button button-primary" href="/console/lists/new">
      Upload a squad list
    </a>
  );
  return shell(
    visit,
    "Squads",
    <>
      <PageHead
        title="Squads"
        lead="The cards of many players at once, from a spreadsheet or from your server."
      >
        {canWrite(visit) && begin}
      </PageHead>
      {/* Not worked out again with each refresh of what is below. */}
      {!after && !isHtmxRequest(visit.exchange.request) && (await WaitingLists({ visit }))}
      <div class="toolbar">
        <EnvironmentSegments environment={environment} href={(name) => address({ environment: name })} />
      </div>
      <div {...refreshing(visit, "batches", batches.some(isRunning))}>
        <Card flush>
          {batches.length === 0 ? (
            <Empty
              title={`No ${environment} squads yet`}
              picture={<Example name="squad" />}
              action={canWrite(visit) && begin}
            >
              Upload a squad list as CSV or Excel and drop its photos in: you see every fault and every card
              before anything is made or charged. Developers send squads{" "}
              <a href="/docs/batches">from a server</a>, as batches.
            </Empty>
          ) : (
            <Table batches={batches} />
          )}
        </Card>
      </div>
      <Pager
        newest={after && address()}
        older={found.length > PAGE_SIZE && last && address({ after: formatPosition(last) })}
      />
    </>,
    { wide: true },
  );
}

export const batchesRoutes = [member.get("/console/batches", batchesPage)];
