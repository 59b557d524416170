import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fillPlaceholders } from "drizzle-orm";
import { accountNames, accountsToRenew, listAccounts, newestAccounts } from "../../src/store/accounts.ts";
import { listAudit } from "../../src/store/activity.ts";
import * as batches from "../../src/store/batches.ts";
import * as deliveries from "../../src/store/deliveries.ts";
import * as forgotten from "../../src/store/forgotten-images.ts";
import * as files from "../../src/store/image-files.ts";
import * as reads from "../../src/store/image-reads.ts";
import * as search from "../../src/store/image-search.ts";
import * as images from "../../src/store/images.ts";
import { findKeyByHash } from "../../src/store/keys.ts";
import * as ledger from "../../src/store/ledger.ts";
import { overviewCounts } from "../../src/store/overview.ts";
import * as photos from "../../src/store/photos.ts";
import * as requests from "../../src/store/request-log.ts";
import { openSqliteStore } from "../../src/store/sqlite.ts";
import type { Store, Tx } from "../../src/store/store.ts";
import { sumUsage, usageByKey } from "../../src/store/usage.ts";
import { eventsSince, hasExpiredSecret, hasOldEvent, listEndpointRows } from "../../src/store/webhooks.ts";
import { type TestWorkspace, testWorkspace } from "../harness.ts";

// The plans SQLite makes for the very queries the service runs, with the values bound: a query that reads a whole table
// blocks the event loop, and with it every partner, once the table is large.

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
      .query<{ detail: string }, never[]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...params)
      .map(({ detail }) => detail)
      .join("; "),
  );
}

const scope = { accountId: "a", environment: "live" as const };
const after = { createdAt: 5, id: "x" };
const limit = 20;

const CASES: [string, (tx: Tx) => Promise<unknown>, RegExp][] = [
  [
    "an account's images",
    (tx) => reads.listImages(tx, { ...scope, after, limit }),
    /images_list .*created_at,id/,
  ],
  [
    "the completed ones",
    (tx) => reads.listImages(tx, { ...scope, status: "completed", after, limit }),
    /images_list_state .*state=.*created_at,id/,
  ],
  [
    "a page of an account's images",
    (tx) => reads.listImageRows(tx, { ...scope, after, limit }),
    /images_list .*created_at,id/,
  ],
  [
    "a page of those in the making",
    (tx) => reads.listImageRows(tx, { ...scope, status: "processing", after, limit }),
    /images_list_state .*state=.*images_list_state .*state=/,
  ],
  ["an image for its answer", (tx) => reads.findImageAnswer(tx, { ...scope, id: "x" }), /autoindex_images/],
  ["a picture by its name", (tx) => reads.findImageByOutput(tx, "x"), /images_output_name/],
  ["pictures to remove", (tx) => files.expiredOutputs(tx, 5, limit), /images_expiry/],
  ["an account's deliveries", (tx) => deliveries.listDeliveryRows(tx, { ...scope, limit }), /_account /],
  [
    "an account's deliveries of both environments",
    (tx) => deliveries.listDeliveryRows(tx, { accountId: "a", limit }),
    /_account .*environment=.*_account .*environment=/,
  ],
  [
    "the few failed deliveries of both",
    (tx) => deliveries.listDeliveryRows(tx, { accountId: "a", state: "failed", after, limit }),
    /_undelivered .*environment=.*_undelivered .*environment=/,
  ],
  [
    "an endpoint's deliveries",
    (tx) => deliveries.listDeliveryRows(tx, { ...scope, endpointId: "e", after, limit }),
    /_endpoint /,
  ],
  [
    "the few failed deliveries",
    (tx) => deliveries.listDeliveryRows(tx, { ...scope, state: "failed", after, limit }),
    /_undelivered /,
  ],
  ["endpoints with something due", (tx) => deliveries.dueEndpoints(tx, 5), /webhook_deliveries_queue/],
  [
    "the next deliveries of an endpoint",
    (tx) => deliveries.claimDeliveries(tx, { endpointId: "e", limit, token: "t", now: 5, leaseExpiresAt: 6 }),
    /webhook_deliveries_queue/,
  ],
  ["claims that outlived their lease", (tx) => deliveries.hasExpiredClaim(tx, 5), /_leases/],
  ["an account's endpoints", (tx) => listEndpointRows(tx, scope), /webhook_endpoints_account/],
  ["events since a time", (tx) => eventsSince(tx, { ...scope, since: 5, after, limit }), /_events_account/],
  ["events to delete", (tx) => hasOldEvent(tx, 5), /webhook_events_age/],
  ["an account's newest grant", (tx) => ledger.latestGrant(tx, "a"), /ledger_grants/],
  ["an account's grant of a month", (tx) => ledger.planGrant(tx, "a", "2026-11"), /ledger_one_grant/],
  ["a statement's newest entries", (tx) => ledger.newestEntries(tx, "a", limit), /ledger_account/],
  ["an account's entries", (tx) => ledger.listEntries(tx, "a", limit), /ledger_account/],
  ["the reservation of an image", (tx) => ledger.findReservation(tx, "i"), /ledger_one_reserve/],
  ["the reservations of images", (tx) => ledger.findReservations(tx, ["i", "j"]), /ledger_one_reserve/],
  ["usage", (tx) => sumUsage(tx, scope, { from: "a", to: "b" }), /day>\? AND day<\?/],
  ["an old secret that expired", (tx) => hasExpiredSecret(tx, 5), /_old_secrets/],
  ["the names of some accounts", (tx) => accountNames(tx, ["a", "b"]), /accounts USING INDEX .*id=/],
  ["accounts to renew", (tx) => accountsToRenew(tx, "2026-12", limit), /accounts_plan_period/],
  ["the audit log", (tx) => listAudit(tx, { accountId: "a", after, limit }), /audit_account/],
  [
    "a player's images",
    (tx) => forgotten.imagesOfPlayer(tx, { ...scope, externalId: "p" }, limit),
    /images_external/,
  ],
  ["images that ended long ago", (tx) => forgotten.endedBefore(tx, scope, 5, limit), /images_list /],
  ["what is left of deleted images", (tx) => forgotten.forgottenWithFiles(tx, 5, limit), /images_forgotten/],
  ["whether traces are left", (tx) => forgotten.hasTraces(tx), /images_forgotten/],
  [
    "the log of a deleted player",
    (tx) => forgotten.emptyRequests(tx, { accountId: "a", externalId: "p" }),
    /request_log_external/,
  ],
  ["who else has a photo", (tx) => files.imageNames(tx, "s", "a"), /images_source.*images_badge/],
  ["an account's uploads", (tx) => photos.uploadsOf(tx, "a", 5), /photos_account/],
  ["expired uploads", (tx) => photos.deleteExpiredUploads(tx, 5, limit), /photos_expiry/],
  ["an upload's bytes", (tx) => photos.hasUpload(tx, "s"), /photos_sha256/],
  ["usage by key", (tx) => usageByKey(tx, scope, { from: "a", to: "b" }), /day>\? AND day<\?/],
  [
    "an account's batches",
    (tx) => batches.listBatches(tx, { ...scope, after, limit }),
    /batches_list .*created_at,id/,
  ],
  ["a batch by its key", (tx) => batches.findBatchByKey(tx, { ...scope, key: "k", since: 0 }), /batches_/],
  ["a batch's images", (tx) => batches.imagesOfBatch(tx, "b"), /batch_cards.*batch_id=/],
  [
    "an image's end in its batches",
    (tx) => batches.countInBatches(tx, ["i"], "failed", 5),
    /batch_cards_image/,
  ],
  ["unfinished cards of batches", (tx) => batches.openBatchCards(tx, scope), /images_account_queue/],
  ["canceled batches", (tx) => batches.canceledBatches(tx, 5), /batches_canceled/],
  ["a canceled batch's cards", (tx) => batches.unbegunOfBatch(tx, "b", 5), /batch_cards_image/],
  [
    "the next photo to fetch",
    (tx) => batches.hasWaiting(tx, { now: 5, exceptAccounts: ["a"] }),
    /images_queue/,
  ],
  [
    "an account's requests",
    (tx) => requests.listRequests(tx, { accountId: "a", after, limit }),
    /request_log_list/,
  ],
  [
    "the refused ones",
    (tx) => requests.listRequests(tx, { accountId: "a", refused: true, after, limit }),
    /request_log_refused/,
  ],
  [
    "those about a player",
    (tx) => requests.listRequests(tx, { accountId: "a", externalId: "p", after, limit }),
    /request_log_external/,
  ],
  ["old requests", (tx) => requests.deleteOldRequests(tx, 5, limit), /request_log_age/],
  ["a key", (tx) => findKeyByHash(tx, "h"), /api_keys_hash/],
];

describe("found along one index, without a scan or a sort:", () => {
  test.each(CASES)("%s", async (_, work, index) => {
    const plans = (await plansOf(work)).join("; ");
    expect(plans).toMatch(index);
    expect(plans).not.toMatch(/SCAN|TEMP B-TREE/);
  });
});

test("a page of accounts begins at its place in their index", async () => {
  expect(await plansOf((tx) => newestAccounts(tx, { after, limit }))).toEqual([
    "SEARCH accounts USING INDEX accounts_list ((created_at,id)<(?,?))",
  ]);
});

test("all accounts come in the order of their index, without a sort", async () => {
  expect(await plansOf(listAccounts)).toEqual(["SCAN accounts USING INDEX accounts_list"]);
});

test("every query of the queue reads the unfinished alone, however many images are finished", async () => {
  const plans = await plansOf(async (tx) => {
    await images.nextPlace(tx, scope);
    await images.countByState(tx);
    await images.hasClaimable(tx, "live", 1);
    await images.abandonedRenders(tx, { now: 1, limit: 1 });
    await images.abandonedRenders(tx, { now: 1, limit: 1, tokens: ["node_1.lease_1"] });
    await files.sourceInUse(tx, "a");
    await images.claimNextImage(tx, { environment: "live", token: "t", now: 0, leaseExpiresAt: 1 });
    await search.queueDepth(tx, "live");
  });
  expect(plans.length).toBeGreaterThanOrEqual(10);
  for (const plan of plans) {
    expect(plan).toMatch(/images_queue|images_account_queue|images_singles|photos_sha256/);
    expect(plan).not.toMatch(/SCAN|TEMP B-TREE|images_list/);
  }
});

test("what is looked for by an image or an external id does not walk the account's rows", async () => {
  const [byImage] = await plansOf((tx) =>
    deliveries.listDeliveryRows(tx, { ...scope, subject: "img", after, limit }),
  );
  expect(byImage).toContain("webhook_deliveries_once (event_id=?)");
  const [byExternalId] = await plansOf((tx) =>
    search.findImagesByExternalId(tx, { ...scope, search: "player", status: "processing", limit }),
  );
  expect(byExternalId).toContain("images_external");
  // Of the account's own rows a bounded number, for the players' names.
  expect(byExternalId).toContain("CO-ROUTINE newest; SEARCH images USING INDEX images_list");
  expect(`${byImage} ${byExternalId?.replace("SCAN newest", "")}`).not.toMatch(
    /webhook_deliveries_account|SCAN/,
  );
});

test("what the operator console asks every few seconds reads small indexes, never whole tables", async () => {
  const plans = await plansOf(async (tx) => {
    await overviewCounts(tx, { since: 0 });
    await search.queueDepth(tx, "live");
    await search.recentLiveFailures(tx, 5);
    await search.latestPictures(tx, 5);
  });
  expect(plans.length).toBeGreaterThanOrEqual(7);
  // These indexes hold only rows in the one state that is asked for.
  const small = /INDEX (images_(queue|failures|expiry)|webhook_deliveries_(queue|leases))\b/;
  for (const step of plans.flatMap((plan) => plan.split("; ")))
    if (step.startsWith("SCAN")) expect(step).toMatch(small);
});
