import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fillPlaceholders } from "drizzle-orm";
import { imageGroups } from "../../src/store/audit/audit-sums.ts";
import { hideParamsFromPlanner } from "../../src/store/engine/prepared.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";
import * as files from "../../src/store/images/image-files.ts";
import { filteredImages, type ImageFilters } from "../../src/store/images/image-filters.ts";
import * as reads from "../../src/store/images/image-reads.ts";
import * as search from "../../src/store/images/image-search.ts";
import * as images from "../../src/store/images/images.ts";
import { queueDepth } from "../../src/store/images/queue-depth.ts";
import { nextPlace } from "../../src/store/images/queue-place.ts";
import { overviewCounts } from "../../src/store/overviews/overview.ts";
import * as requests from "../../src/store/overviews/request-log.ts";
import { listAccounts, newestAccounts } from "../../src/store/people/accounts.ts";
import type { Store, Tx } from "../../src/store/store.ts";
import * as deliveries from "../../src/store/webhooks/deliveries.ts";
import { newestEvents } from "../../src/store/webhooks/webhooks.ts";
import { acceptLive } from "../app/accepting.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { INDEXED_QUERIES } from "./indexed-queries.ts";

// The plans SQLite makes for the very queries the service runs, with the values bound: a query that reads a
// whole table blocks the event loop, and with it every partner, once the table is large.

let workspace: TestWorkspace;
let store: Store;
let planner: Database;
const run: { sql: string; params: never[] }[] = [];
beforeAll(async () => {
  workspace = await testWorkspace();
  store = openSqliteStore(workspace.folder.database);
  await store.write("test", async (tx) => watch(tx));
  planner = new Database(workspace.folder.database);
});
afterAll(async () => {
  planner.close();
  await store.close();
  await workspace.close();
});

type Run = (values?: Record<string, unknown>) => unknown;
type Compiled = Record<"all" | "get" | "run", Run>;

/** Writes down every query at its run, also one that was built for an earlier one. */
function watch(tx: Tx): void {
  const { session } = tx.db as unknown as {
    session: { prepareQuery: (query: (typeof run)[number], ...rest: unknown[]) => Compiled };
  };
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (query, ...rest) => {
    const compiled = prepare(query, ...rest);
    for (const way of ["all", "get", "run"] as const) {
      const work = compiled[way].bind(compiled);
      compiled[way] = (values) => {
        run.push({ sql: query.sql, params: fillPlaceholders(query.params, values ?? {}) as never[] });
        return work(values);
      };
    }
    return compiled;
  };
}

/** One line for each query that `work` ran. */
async function plansOf(work: (tx: Tx) => Promise<unknown>): Promise<string[]> {
  run.length = 0;
  await store.write("test", async (tx) => work(tx));
  return run.splice(0).map(({ sql, params }) =>
    planner
      .query<{ detail: string }, never[]>(`EXPLAIN QUERY PLAN ${hideParamsFromPlanner(sql)}`)
      .all(...params)
      .map(({ detail }) => detail)
      .join("; ")
      .replaceAll(FIRST_BATCH, ""),
  );
}

/** The batch of each image shown: a lookup; for those with one two more, and a sort of all that have it. */
const FIRST_BATCH =
  /; CORRELATED SCALAR SUBQUERY \d+; SEARCH batch_cards USING COVERING INDEX batch_cards_image \(image_id=\?\); CORRELATED SCALAR SUBQUERY \d+; SEARCH batch_cards USING INDEX batch_cards_image \(image_id=\?\); SEARCH batches USING INDEX sqlite_autoindex_batches_1 \(id=\?\); USE TEMP B-TREE FOR ORDER BY/g;

const scope = { accountId: "a", environment: "live" as const };
const after = { createdAt: 5, id: "x" };
const limit = 20;

describe("found along one index, without a scan or a sort:", () => {
  test.each(INDEXED_QUERIES)("%s", async (_, work, index) => {
    const plans = (await plansOf(work)).join("; ");
    expect(plans).toMatch(index);
    expect(plans).not.toMatch(/SCAN|TEMP B-TREE/);
  });
});

const MERGED: [string, (tx: Tx) => Promise<unknown>, RegExp, RegExp][] = [
  [
    "those in the making, of three states",
    (tx) => reads.listImageRows(tx, { ...scope, status: "processing", after, limit }),
    /images_list_state .*state=.*created_at,id/,
    /^SCAN (waiting|queued|rendering)$/,
  ],
  [
    "an account's newest images, of both environments",
    (tx) => search.latestImages(tx, { accountId: "a", limit }),
    /images_list .*environment=/,
    /^SCAN (live|test)$/,
  ],
  [
    "an account's deliveries of both environments",
    (tx) => deliveries.listDeliveryRows(tx, { accountId: "a", limit }),
    /_account .*environment=/,
    /^SCAN (live|test)$/,
  ],
  [
    "the few failed deliveries of both",
    (tx) => deliveries.listDeliveryRows(tx, { accountId: "a", state: "failed", after, limit }),
    /_undelivered .*environment=/,
    /^SCAN (live|test)$/,
  ],
];

describe("merged from several places of an index, no more from each than the list has:", () => {
  test.each(MERGED)("%s", async (_, work, index, few) => {
    const steps = (await plansOf(work)).join("; ").split("; ");
    const searches = steps.filter((step) => step.startsWith("SEARCH"));
    expect(searches.length).toBeGreaterThanOrEqual(2);
    for (const step of searches) expect(step).toMatch(index);
    // What was found there, and limited.
    for (const step of steps.filter((step) => step.startsWith("SCAN"))) expect(step).toMatch(few);
    expect(steps.filter((step) => step.startsWith("CO-ROUTINE"))).toHaveLength(searches.length);
  });
});

/** Each list by what partners sent: the filters, and the one index along which its candidates are found. */
const FILTERED: [string, ImageFilters & { status?: "failed"; from?: number }, RegExp][] = [
  ["a player", { externalId: "p" }, /images_external \(.*external_id=\? AND \(created_at,id\)</],
  ["a batch", { batchId: "b" }, /batch_cards USING INDEX sqlite_autoindex_batch_cards_1 \(batch_id=\?\)/],
  [
    "metadata",
    { metadata: [["k", "v"]] },
    /image_metadata_list \(.*key=\? AND value=\? AND \(created_at,image_id\)</,
  ],
  ["metadata of a time", { metadata: [["k", "v"]], from: 5 }, /image_metadata_list \(.*value=\? AND /],
  ["a failed player", { externalId: "p", status: "failed" }, /images_external \(/],
  ["current cards", { current: true }, /images_list_state \(.*state=\? AND \(created_at,id\)<\(\?,\?\)\)/],
  [
    "a player's current card",
    { externalId: "p", current: true },
    /images_external \(.*external_id=\? AND \(created_at,id\)</,
  ],
  [
    "all of it",
    { batchId: "b", externalId: "p", metadata: [["k", "v"]] },
    /sqlite_autoindex_batch_cards_1 \(batch_id=\?\)/,
  ],
];

describe("a list by what partners sent finds a bounded number along one index, and sorts no more than those:", () => {
  test.each(FILTERED)("%s", async (_, filters, index) => {
    const plans = await plansOf((tx) => filteredImages(tx, { ...scope, ...filters, after, limit }));
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toMatch(index);
      const steps = plan.split("; ").filter((step) => !/^SCAN (candidates|cards)$/.test(step));
      expect(steps.join("; ")).not.toMatch(/SCAN|images_list\b/);
      const sorts = steps.filter((step) => step === "USE TEMP B-TREE FOR ORDER BY").length;
      // The cards of a batch have no order of their own, and are sorted before they are bounded.
      expect(sorts).toBeLessThanOrEqual(filters.batchId ? 2 : 1);
    }
  });
});

const LOGGED: [string, Partial<requests.RequestFilter>, RegExp, number][] = [
  ["a status", { status: 409 }, /request_log_refused/, 1],
  ["an environment", { environment: "test" }, /request_log_list/, 1],
  [
    "a player",
    { externalId: "p" },
    /request_log_external .*request_players_external \(account_id=\? AND external_id=\? AND \(created_at,request_id\)</,
    3,
  ],
  ["refused ones of a player", { externalId: "p", refused: true }, /request_log_external /, 3],
];

describe("the log of requests looks at a bounded number along one index, and sorts no more than those:", () => {
  test.each(LOGGED)("%s", async (_, filter, index, sorts) => {
    const [plan = ""] = await plansOf((tx) =>
      requests.listRequests(tx, { accountId: "a", ...filter, after, limit }),
    );
    expect(plan).toMatch(index);
    const steps = plan.split("; ").filter((step) => !/^SCAN (candidates|both|own|of_many)$/.test(step));
    expect(steps.join("; ")).not.toMatch(/SCAN/);
    expect(steps.filter((step) => step.includes("TEMP B-TREE")).length).toBeLessThanOrEqual(sorts);
  });
});

test("a later page of a span begins at its position, and not at the end of the span", async () => {
  const span = { from: 1, before: 9, after, limit };
  const plans = await plansOf(async (tx) => {
    await reads.listImageRows(tx, { ...scope, ...span });
    await filteredImages(tx, { ...scope, ...span, externalId: "p" });
    await requests.listRequests(tx, { accountId: "a", ...span });
    await newestEvents(tx, { ...scope, ...span });
  });
  const walks = plans.map((plan) => /created_at[^)]*/.exec(plan)?.[0]);
  expect(walks).toEqual(plans.map(() => expect.stringContaining("created_at,id")));
});

test("whether a card is current is looked up among the player's own, from its moment on", async () => {
  const [page] = await plansOf((tx) => filteredImages(tx, { ...scope, current: true, after, limit }));
  expect(page).toContain(
    "newer USING INDEX images_external (account_id=? AND environment=? AND external_id=? AND created_at>?)",
  );
});

test("a page of accounts begins at its place in their index", async () => {
  expect(await plansOf((tx) => newestAccounts(tx, { after, limit }))).toEqual([
    "SEARCH accounts USING INDEX accounts_list ((created_at,id)<(?,?))",
  ]);
});

test("all accounts come in the order of their index, without a sort", async () => {
  expect(await plansOf(listAccounts)).toEqual(["SCAN accounts USING INDEX accounts_list"]);
});

test("the newest images of all accounts come in the order of their index, without a sort", async () => {
  expect(await plansOf((tx) => search.latestImages(tx, { limit }))).toEqual([
    "SCAN images USING INDEX images_newest",
  ]);
});

test("every query of the queue reads the unfinished alone, however many images are finished", async () => {
  const { account } = await testAccount(workspace);
  const imageId = await acceptLive(workspace, account.id);
  await workspace.store.write("a logo", async ({ db, t }) => {
    await db.insert(t.imagePictures).values({ imageId, field: "sponsor", sha256: "a" });
  });
  const plans = await plansOf(async (tx) => {
    await images.hasClaimable(tx, "live", 1);
    await images.abandonedRenders(tx, { now: 1, limit: 1 });
    await images.abandonedRenders(tx, { now: 1, limit: 1, tokens: ["node_1.lease_1"] });
    await files.sourceInUse(tx, "a");
    await images.claimNextImage(tx, { environment: "live", token: "t", now: 0, leaseExpiresAt: 1 });
  });
  expect(plans.length).toBeGreaterThanOrEqual(6);
  for (const plan of plans) {
    expect(plan).toMatch(
      /images_queue|images_account_queue|images_singles|images_open_source|image_pictures_source|photos_sha256/,
    );
    expect(plan).not.toMatch(/SCAN|TEMP B-TREE|images_list/);
  }
});

const OF_THE_QUEUE: [string, (tx: Tx) => Promise<unknown>, number][] = [
  ["the place of a create", (tx) => nextPlace(tx, scope, { most: { ahead: 100, total: 100 } }), 6],
  ["how much waits", (tx) => queueDepth(tx, "live"), 3],
];

test.each(OF_THE_QUEUE)(
  "%s is one statement, which walks the unfinished alone, along indexes, as far as its limit",
  async (_, work, searched) => {
    const plans = await plansOf(work);
    expect(plans).toHaveLength(1);
    const steps = (plans[0] ?? "").split("; ");
    const searches = steps.filter((step) => step.startsWith("SEARCH images"));
    expect(searches).toHaveLength(searched);
    for (const step of searches)
      expect(step).toMatch(/USING (COVERING )?INDEX images_(queue|account_queue|singles)\b/);
    // What was found there and limited.
    for (const step of steps.filter((step) => step.startsWith("SCAN")))
      expect(step).toMatch(/^SCAN (turns|lowest|counted|next|CONSTANT ROW|one|\(subquery)/);
    expect(steps.join()).not.toContain("TEMP B-TREE");
  },
);

test("a span of history is found along the ends of images, and each entry by its image", async () => {
  const [plan] = await plansOf((tx) => imageGroups(tx, { after: 5, until: 9 }));
  expect(plan).toContain("SEARCH images USING INDEX images_ended (completed_at>? AND completed_at<?)");
  for (const index of ["reserve", "resolution", "late_expiry"])
    expect(plan).toContain(`SEARCH ledger_entries USING INDEX ledger_one_${index} (image_id=?)`);
  expect(plan).not.toMatch(/SCAN (images|ledger)/);
});
test("pictures of images that ended since a time are found along their ends, those of one moment sorted by id", async () => {
  expect(await plansOf((tx) => files.servedPictures(tx, { now: 5, since: 5, limit }))).toEqual([
    "SEARCH images USING INDEX images_ended (completed_at>?); USE TEMP B-TREE FOR LAST TERM OF ORDER BY",
  ]);
});

test("what is looked for by an image or an external id does not walk the account's rows", async () => {
  const [byImage] = await plansOf((tx) =>
    deliveries.listDeliveryRows(tx, { ...scope, subject: "img", after, limit }),
  );
  expect(byImage).toContain("webhook_deliveries_once (event_id=?)");
  const byExternalId = (
    await plansOf((tx) =>
      search.findImagesByExternalId(tx, { ...scope, search: "player", status: "processing", limit }),
    )
  ).join("; ");
  expect(byExternalId).toContain("images_external");
  // Of the account's own rows a bounded number, for the players' names.
  expect(byExternalId).toContain("SEARCH images USING INDEX images_list");
  expect(`${byImage} ${byExternalId}`).not.toMatch(/webhook_deliveries_account|SCAN/);
});

test("what the operator console asks every few seconds reads small indexes, never whole tables", async () => {
  const plans = await plansOf(async (tx) => {
    await overviewCounts(tx, { since: 0 });
    await search.recentLiveFailures(tx, 5);
    await search.latestPictures(tx, 5);
  });
  expect(plans.length).toBeGreaterThanOrEqual(6);
  expect(plans.filter((plan) => plan.includes("images_faults"))).toHaveLength(2);
  // These indexes hold only rows in the one state that is asked for.
  const small = /INDEX (images_(queue|faults|expiry)|webhook_deliveries_(queue|leases))\b/;
  for (const step of plans.flatMap((plan) => plan.split("; ")))
    if (step.startsWith("SCAN")) expect(step).toMatch(small);
});

test("each index of the images serves a query: none is written for nothing", async () => {
  const asked = [...INDEXED_QUERIES, ...MERGED, ...OF_THE_QUEUE].map(([, work]) => work);
  const plans = await plansOf(async (tx) => {
    for (const work of asked) await work(tx);
    await search.recentLiveFailures(tx, 5);
    await search.latestImages(tx, { limit });
  });
  const used = new Set(plans.join().match(/images_\w+/g));
  const indexes = planner
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'images' AND sql IS NOT NULL",
    )
    .all();
  expect(indexes.map(({ name }) => name).filter((name) => !used.has(name))).toEqual([]);
  expect(indexes.length).toBeGreaterThan(15);
});

test("a prepared query is planned without its values, so that SQLite does not compile it at every run; no other is", async () => {
  run.length = 0;
  await store.write("test", async (tx) => {
    await reads.listImageRows(tx, { ...scope, after, limit });
    await search.recentLiveFailures(tx, limit);
  });
  const [list = "", failures = ""] = run.map(({ sql }) => sql);
  expect(hideParamsFromPlanner(list).match(/\+\?/g)).toHaveLength(list.split("?").length - 1);
  expect(hideParamsFromPlanner(failures)).toBe(failures);
});
