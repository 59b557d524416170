import { queueEstimate } from "../../src/app/images/queue-estimate.ts";
import { ledgerPage, newestEntries } from "../../src/store/credits/ledger.ts";
import { sumUsage, usageByDay } from "../../src/store/credits/usage.ts";
import { listBatches } from "../../src/store/images/batches.ts";
import { endedBefore } from "../../src/store/images/forgotten-images.ts";
import {
  expiredOutputs,
  imageNames,
  servedPictures,
  sourceInUse,
  templateInUse,
} from "../../src/store/images/image-files.ts";
import { filteredImages } from "../../src/store/images/image-filters.ts";
import {
  countImages,
  findImageAnswer,
  listImageRows,
  listImages,
} from "../../src/store/images/image-reads.ts";
import {
  findImagesByExternalId,
  latestImages,
  latestPictures,
  recentLiveFailures,
} from "../../src/store/images/image-search.ts";
import { abandonedRenders, hasClaimable } from "../../src/store/images/images.ts";
import { queueDepth } from "../../src/store/images/queue-depth.ts";
import { nextPlace } from "../../src/store/images/queue-place.ts";
import { accountsRunningLow, endpointsInTrouble } from "../../src/store/overviews/attention.ts";
import { accountNumbers, earliestDue } from "../../src/store/overviews/gauges.ts";
import { overviewCounts } from "../../src/store/overviews/overview.ts";
import { listRequests } from "../../src/store/overviews/request-log.ts";
import { newestAccounts } from "../../src/store/people/accounts.ts";
import { listActivity } from "../../src/store/people/activity.ts";
import { consentOf, listConsents } from "../../src/store/people/consents.ts";
import type { Tx } from "../../src/store/store.ts";
import { dueEndpoints, listDeliveryRows } from "../../src/store/webhooks/deliveries.ts";
import { eventsSince, hasOldEvent, newestEvents } from "../../src/store/webhooks/webhooks.ts";
import { COMMON_PLAYER, createdAtOf, FILLED_AT, idOf } from "./fill.ts";

const DAY_MS = 86_400_000;
const scope = { accountId: "acct_0", environment: "live" } as const;
const other = { ...scope, accountId: "acct_1" };

/** What is asked of a database of so many images, by whom it is asked or what it shows. */
export const QUESTIONS: Record<string, (tx: Tx, images: number) => Promise<unknown>> = {
  "list, first page": (tx) => listImageRows(tx, { ...scope, limit: 21 }),
  "list, in the middle": (tx, n) => listImageRows(tx, { ...scope, after: middle(n), limit: 21 }),
  "list, completed, in the middle": (tx, n) =>
    listImageRows(tx, { ...scope, status: "completed", after: middle(n), limit: 21 }),
  "list, failed, in the middle": (tx, n) =>
    listImageRows(tx, { ...scope, status: "failed", after: middle(n), limit: 21 }),
  "list, processing": (tx) => listImageRows(tx, { ...scope, status: "processing", limit: 21 }),
  "list, of a span": (tx) => listImageRows(tx, { ...scope, ...aDay, limit: 21 }),
  "list, failed ones of a span": (tx) =>
    listImageRows(tx, { ...scope, ...aDay, status: "failed", limit: 21 }),
  "list, of a player": (tx, n) => filteredImages(tx, { ...scope, externalId: `player-${n / 2}`, limit: 20 }),
  "list, of a batch": (tx) => filteredImages(tx, { ...scope, batchId: "bat_1", limit: 20 }),
  "list, of a batch, failed": (tx) =>
    filteredImages(tx, { ...scope, batchId: "bat_1", status: "failed", limit: 20 }),
  "list, current cards": (tx) => filteredImages(tx, { ...scope, current: true, limit: 20 }),
  "list, current cards, in the middle": (tx, n) =>
    filteredImages(tx, { ...scope, current: true, after: middle(n), limit: 20 }),
  "list, by metadata that all have": (tx) =>
    filteredImages(tx, { ...scope, metadata: [["season", "2026"]], limit: 20 }),
  "list, by metadata that all have, in the middle": (tx, n) =>
    filteredImages(tx, { ...scope, metadata: [["season", "2026"]], after: middle(n), limit: 20 }),
  "list, by metadata that one has": (tx, n) =>
    filteredImages(tx, { ...scope, metadata: [["crm", `${n / 2}`]], limit: 20 }),
  "list, by metadata that none has": (tx) =>
    filteredImages(tx, { ...scope, metadata: [["crm", "none"]], limit: 20 }),
  "list, failed ones of metadata that all have": (tx) =>
    filteredImages(tx, { ...scope, metadata: [["season", "2026"]], status: "failed", limit: 20 }),
  "list, by metadata that all and metadata that one has": (tx, n) =>
    filteredImages(tx, {
      ...scope,
      metadata: [
        ["season", "2026"],
        ["crm", `${n / 2}`],
      ],
      limit: 20,
    }),
  "list, a failed player": (tx, n) =>
    filteredImages(tx, { ...scope, externalId: `player-${n / 2}`, status: "failed", limit: 20 }),
  "list, of a player in a span": (tx, n) =>
    filteredImages(tx, { ...scope, ...aDay, externalId: `player-${n / 2}`, limit: 20 }),
  "list, of a batch in a span": (tx) =>
    filteredImages(tx, { ...scope, ...aDay, batchId: "bat_1", limit: 20 }),
  "list, by metadata that all have, of a span": (tx) =>
    filteredImages(tx, { ...scope, ...aDay, metadata: [["season", "2026"]], limit: 20 }),
  "list, processing ones of metadata that all have": (tx) =>
    filteredImages(tx, { ...scope, metadata: [["season", "2026"]], status: "processing", limit: 20 }),
  "list, current cards of a span": (tx) =>
    filteredImages(tx, { ...scope, ...aDay, current: true, limit: 20 }),
  "list, of a player, a batch, metadata, a span and failed": (tx, n) =>
    filteredImages(tx, {
      ...{ ...scope, ...aDay, externalId: `player-${n / 2}`, batchId: "bat_1", status: "failed", limit: 20 },
      metadata: [["season", "2026"]],
    }),
  "list, processing ones of a span": (tx) =>
    listImageRows(tx, { ...scope, ...aDay, status: "processing", limit: 21 }),
  "list, of a span, in the middle": (tx, n) =>
    listImageRows(tx, { ...scope, from: 0, before: FILLED_AT, after: middle(n), limit: 21 }),
  "list, a small account's": (tx) => listImageRows(tx, { ...other, limit: 21 }),
  get: (tx, n) => findImageAnswer(tx, { ...scope, id: idOf(n / 2) }),
  usage: (tx) => sumUsage(tx, scope, { from: "2026-11-01", to: "2026-11-30" }),
  "usage by day": (tx) => usageByDay(tx, scope, { from: "2026-11-01", to: "2026-11-30" }),
  "console, images of one day": (tx) => listImages(tx, { ...scope, ...aDay, limit: 25 }),
  "console, failed images of one day": (tx) =>
    listImages(tx, { ...scope, ...aDay, status: "failed", limit: 25 }),
  "console, numbers beside the list": (tx) => countImages(tx, scope),
  "console, numbers of one day": (tx) => countImages(tx, { ...scope, ...aDay }),
  "console, search of a player": (tx, n) =>
    findImagesByExternalId(tx, { ...scope, search: `player-${n / 2}`, limit: 25 }),
  "console, search of many players": (tx) =>
    findImagesByExternalId(tx, { ...scope, search: "player-1", limit: 25 }),
  "console, search of nobody": (tx) => findImagesByExternalId(tx, { ...scope, search: "nobody", limit: 25 }),
  "console, search of failed ones on a day": (tx) =>
    findImagesByExternalId(tx, { ...scope, ...aDay, search: "player", status: "failed", limit: 25 }),
  "console, deliveries": (tx) => listDeliveryRows(tx, { ...scope, limit: 26 }),
  "console, deliveries of both environments": (tx) =>
    listDeliveryRows(tx, { accountId: "acct_0", limit: 26 }),
  "console, an endpoint's deliveries, in the middle": (tx, n) =>
    listDeliveryRows(tx, { ...scope, endpointId: "ep_acct_0", after: deliveryInTheMiddle(n), limit: 26 }),
  "console, failed deliveries": (tx) => listDeliveryRows(tx, { ...scope, state: "failed", limit: 26 }),
  "console, deliveries about an image": (tx, n) =>
    listDeliveryRows(tx, { ...scope, subject: idOf(n / 2), limit: 26 }),
  "webhooks, endpoints with something due": (tx) => dueEndpoints(tx, FILLED_AT),
  "console, statement": (tx) => newestEntries(tx, "acct_0", 26),
  "console, grants": (tx) => ledgerPage(tx, { accountId: "acct_0", grantsOnly: true, limit: 26 }),
  "operators, overview": (tx) => overviewCounts(tx, { since: FILLED_AT - DAY_MS }),
  "operators and metrics, queue": (tx) => queueDepth(tx, "live"),
  "operators, failures": (tx) => recentLiveFailures(tx, 12),
  "operators, pictures": (tx) => latestPictures(tx, 12),
  "operators, accounts": (tx) => newestAccounts(tx, { after: undefined, limit: 26 }),
  "operators, search of an account": (tx) =>
    newestAccounts(tx, { after: undefined, search: "club 1", limit: 26 }),
  "operators, activity": (tx) => listActivity(tx, { accountId: "acct_0", limit: 26 }),
  "operators, who runs low": (tx) => accountsRunningLow(tx, 10, 20),
  "operators, endpoints in trouble": (tx) =>
    endpointsInTrouble(tx, { failingSince: 0, disabledSince: FILLED_AT, limit: 20 }),
  "command, newest images of an account": (tx) => latestImages(tx, { accountId: "acct_0", limit: 20 }),
  "command, newest images": (tx) => latestImages(tx, { limit: 20 }),
  "events of an hour": (tx) => eventsSince(tx, { ...scope, since: FILLED_AT - DAY_MS / 24, limit: 100 }),
  "events, first page": (tx) => newestEvents(tx, { ...scope, limit: 21 }),
  "events, of a type": (tx) => newestEvents(tx, { ...scope, type: "image.failed", limit: 21 }),
  "events, of a type that none has": (tx) =>
    newestEvents(tx, { ...scope, type: "player.recalled", limit: 21 }),
  "events, of a type in a span": (tx) =>
    newestEvents(tx, { ...scope, ...aDay, type: "image.completed", limit: 21 }),
  "events, of a span": (tx) => newestEvents(tx, { ...scope, ...aDay, limit: 21 }),
  "events, in the middle": (tx, n) => newestEvents(tx, { ...scope, after: eventInTheMiddle(n), limit: 21 }),
  "batches, first page": (tx) => listBatches(tx, { ...scope, limit: 21 }),
  "players, consents": (tx) => listConsents(tx, { accountId: "acct_0", limit: 21 }),
  "players, consents in the middle": (tx, n) =>
    listConsents(tx, {
      accountId: "acct_0",
      after: { updatedAt: middle(n).createdAt, externalId: `player-${n / 2}` },
      limit: 21,
    }),
  "players, one's consent": (tx, n) => consentOf(tx, { accountId: "acct_0", externalId: `player-${n / 2}` }),
  "request log, first page": (tx) => listRequests(tx, log),
  "request log, in the middle": (tx, n) => listRequests(tx, { ...log, after: requestInTheMiddle(n) }),
  "request log, of a span": (tx) => listRequests(tx, { ...log, ...aDay }),
  "request log, refused": (tx) => listRequests(tx, { ...log, refused: true }),
  "request log, a status that most have": (tx) => listRequests(tx, { ...log, status: 202 }),
  "request log, a status that few have": (tx) => listRequests(tx, { ...log, status: 500 }),
  "request log, a status that none has": (tx) => listRequests(tx, { ...log, status: 409 }),
  "request log, a success that none has": (tx) => listRequests(tx, { ...log, status: 204 }),
  "request log, an environment that none has": (tx) => listRequests(tx, { ...log, environment: "test" }),
  "request log, of a player": (tx, n) => listRequests(tx, { ...log, externalId: `player-${n / 2 + 4}` }),
  "request log, of a player of many requests": (tx) =>
    listRequests(tx, { ...log, externalId: COMMON_PLAYER }),
  "request log, refused ones of that player in a span": (tx) =>
    listRequests(tx, { ...log, ...aDay, externalId: COMMON_PLAYER, refused: true }),
  "request log, of a player that none is about": (tx) => listRequests(tx, { ...log, externalId: "none" }),
  "metrics, credits": (tx) => accountNumbers(tx),
  "metrics, deliveries": (tx) => earliestDue(tx),
  "create, its place in the queue": (tx) =>
    nextPlace(tx, other, { most: queueEstimate({ workers: 8 }).mostCounted("live") }),
  "queue, whether something waits": (tx) => hasClaimable(tx, "live", FILLED_AT),
  "queue, left by the dead": (tx) => abandonedRenders(tx, { now: FILLED_AT, limit: 100 }),
  "sweep, whether an event is old": (tx) => hasOldEvent(tx, FILLED_AT - 29 * DAY_MS),
  "sweep, expired pictures": (tx) => expiredOutputs(tx, FILLED_AT - 1000 * DAY_MS, 100),
  "sweep, whether a photo is needed": (tx) => sourceInUse(tx, "f".repeat(64)),
  "sweep, whether a template is needed": (tx) => templateInUse(tx, "f".repeat(64)),
  "sweep, images to forget": (tx) => endedBefore(tx, scope, 1000, 50),
  "forget, who else has a photo": (tx) => imageNames(tx, "f".repeat(64), "acct_0"),
  "audit, a page of pictures": (tx) => servedPictures(tx, { now: FILLED_AT, limit: 1000 }),
};

const log = { accountId: "acct_0", limit: 26 } as const;
const aDay = { from: FILLED_AT - 10 * DAY_MS, before: FILLED_AT - 9 * DAY_MS };

function middle(images: number) {
  const at = 2 * Math.floor(images / 4);
  return { createdAt: createdAtOf(at, images), id: idOf(at) };
}

function eventInTheMiddle(images: number) {
  const { createdAt, id } = middle(images);
  return { createdAt: createdAt + 2_000, id: id.replace("img_", "evt_") };
}

function requestInTheMiddle(images: number) {
  const { createdAt, id } = middle(images);
  return { createdAt, id: id.replace("img_", "req_") };
}

function deliveryInTheMiddle(images: number) {
  const { createdAt, id } = middle(images);
  return { createdAt: createdAt + 2_000, id: id.replace("img_", "dlv_") };
}
