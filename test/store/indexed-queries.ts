import { nextSpan } from "../../src/store/audit/sealed-books.ts";
import * as ledger from "../../src/store/credits/ledger.ts";
import { sumUsage, usageByKey } from "../../src/store/credits/usage.ts";
import * as batchCounts from "../../src/store/images/batch-counts.ts";
import * as batchKeys from "../../src/store/images/batch-keys.ts";
import * as batchPlaces from "../../src/store/images/batch-places.ts";
import * as batches from "../../src/store/images/batches.ts";
import * as forgotten from "../../src/store/images/forgotten-images.ts";
import * as files from "../../src/store/images/image-files.ts";
import * as pictures from "../../src/store/images/image-pictures.ts";
import * as reads from "../../src/store/images/image-reads.ts";
import * as search from "../../src/store/images/image-search.ts";
import * as photos from "../../src/store/images/photos.ts";
import * as publications from "../../src/store/images/publications.ts";
import * as requests from "../../src/store/overviews/request-log.ts";
import { accountNames, accountsToRenew } from "../../src/store/people/accounts.ts";
import { listActivity } from "../../src/store/people/activity.ts";
import { findKeyByHash } from "../../src/store/people/keys.ts";
import { findGallery } from "../../src/store/sets/card-sets.ts";
import { editionCounts, shownPlayers } from "../../src/store/sets/set-cards.ts";
import type { Tx } from "../../src/store/store.ts";
import * as deliveries from "../../src/store/webhooks/deliveries.ts";
import {
  eventsSince,
  hasExpiredSecret,
  hasOldEvent,
  listEndpointRows,
  newestEvents,
} from "../../src/store/webhooks/webhooks.ts";

const scope = { accountId: "a", environment: "live" as const };
const after = { createdAt: 5, id: "x" };
const limit = 20;

/**
 * Queries that each follow an index from where it begins: what they are for, the query, and the steps of its
 * plan on SQLite.
 */
export const INDEXED_QUERIES: [string, (tx: Tx) => Promise<unknown>, RegExp][] = [
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
    "those of a span of time",
    (tx) => reads.listImageRows(tx, { ...scope, from: 5, before: 9, after, limit }),
    /images_list .*created_at/,
  ],
  ["an image for its answer", (tx) => reads.findImageAnswer(tx, { ...scope, id: "x" }), /autoindex_images/],
  ["a card's page", (tx) => reads.findAnyImage(tx, "x"), /autoindex_images/],
  ["a gallery by its name", (tx) => findGallery(tx, "g"), /card_sets_gallery/],
  [
    "the players of a gallery's page",
    (tx) => shownPlayers(tx, { setId: "s", now: 5, from: 3, limit }),
    /set_cards_list .*set_id=.*player>.*autoindex_images/,
  ],
  [
    "how many cards of a closed edition its players have",
    (tx) => editionCounts(tx, { setId: "s", parallels: ["day"], players: [3, 4] }),
    /set_cards_list .*set_id=.*player=.*parallel=/,
  ],
  [
    "a picture by its name, or by that of its back",
    (tx) => reads.findImageByOutput(tx, "x"),
    /images_output_name \(output_name=\?\).*images_back_output_name \(back_output_name=\?\)/,
  ],
  [
    "whether a picture needs a template",
    (tx) => files.templateInUse(tx, "d"),
    /images_template \(template_digest=\?\)/,
  ],
  [
    "where a span of history ends",
    (tx) => nextSpan(tx, { after: 5, before: 9 }),
    /images_ended \(completed_at>/,
  ],
  ["pictures to remove", (tx) => files.expiredOutputs(tx, 5, limit), /images_expiry/],
  ["an account's deliveries", (tx) => deliveries.listDeliveryRows(tx, { ...scope, limit }), /_account /],
  [
    "an endpoint's deliveries",
    (tx) => deliveries.listDeliveryRows(tx, { ...scope, endpointId: "e", after, limit }),
    /_endpoint /,
  ],
  [
    "an endpoint's deliveries of one type",
    (tx) =>
      deliveries.listDeliveryRows(tx, {
        ...scope,
        endpointId: "e",
        eventType: "player.recalled",
        after,
        limit,
      }),
    /webhook_deliveries_type /,
  ],
  [
    "images to be published",
    (tx) => publications.duePublications(tx, { now: 1, limit }),
    /images_publication/,
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
  [
    "an account's newest events of a type",
    (tx) => newestEvents(tx, { ...scope, type: "image.failed", limit }),
    /_events_type .*type/,
  ],
  [
    "an account's newest events",
    (tx) => newestEvents(tx, { ...scope, from: 1, before: 9, after, limit }),
    /_events_account .*created_at/,
  ],
  ["an event's deliveries", (tx) => deliveries.deliveriesOfEvent(tx, "e"), /webhook_deliveries_once/],
  ["events to delete", (tx) => hasOldEvent(tx, 5), /webhook_events_age/],
  ["an account's newest grant", (tx) => ledger.latestGrant(tx, "a"), /ledger_grants/],
  ["an account's grant of a month", (tx) => ledger.planGrant(tx, "a", "2026-11"), /ledger_one_grant/],
  ["a statement's newest entries", (tx) => ledger.newestEntries(tx, "a", limit), /ledger_account/],
  ["an account's entries", (tx) => ledger.ledgerPage(tx, { accountId: "a", limit }), /ledger_account/],
  ["the reservation of an image", (tx) => ledger.findReservation(tx, "i"), /ledger_one_reserve/],
  ["the reservations of images", (tx) => ledger.findReservations(tx, ["i", "j"]), /ledger_one_reserve/],
  ["usage", (tx) => sumUsage(tx, scope, { from: "a", to: "b" }), /day>\? AND day<\?/],
  ["an old secret that expired", (tx) => hasExpiredSecret(tx, 5), /_old_secrets/],
  ["the names of some accounts", (tx) => accountNames(tx, ["a", "b"]), /accounts USING INDEX .*id=/],
  ["accounts to renew", (tx) => accountsToRenew(tx, "2026-12", limit), /accounts_plan_period/],
  ["the audit log", (tx) => listActivity(tx, { accountId: "a", after, limit }), /audit_account/],
  [
    "a player's images",
    (tx) => forgotten.imagesOfPlayer(tx, { ...scope, externalId: "p" }, limit),
    /images_external/,
  ],
  ["images that ended long ago", (tx) => forgotten.endedBefore(tx, scope, 5, limit), /images_list /],
  [
    "what is left of deleted images",
    (tx) => forgotten.forgottenWithFiles(tx, { until: 5, skip: 0, limit }),
    /images_forgotten/,
  ],
  ["whether traces are left", (tx) => forgotten.hasTraces(tx), /images_forgotten/],
  [
    "the log of a deleted player",
    (tx) => forgotten.emptyRequests(tx, { accountId: "a", environment: "live", externalId: "p" }),
    /request_log_external/,
  ],
  [
    "whether something unfinished needs a photo or badge",
    (tx) => files.sourceInUse(tx, "s"),
    /images_open_source \(source_sha256=\?\).*images_open_badge \(badge_sha256=\?\)/,
  ],
  ["who else has a picture", (tx) => pictures.isFieldPicture(tx, "s", "a"), /image_pictures_source/],
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
  ["a batch by its key", (tx) => batchKeys.findBatchByKey(tx, { ...scope, key: "k" }), /batches_/],
  [
    "batches by the start of their keys",
    (tx) => batchKeys.batchesByKeyStart(tx, { ...scope, start: "k" }),
    /batches_/,
  ],
  ["a batch's images", (tx) => batches.imagesOfBatch(tx, "b"), /batch_cards.*batch_id=/],
  [
    "an image's end in its batches",
    (tx) => batchCounts.countInBatches(tx, ["i"], "failed", 5),
    /batch_cards_image/,
  ],
  [
    "cards' places in their batch",
    (tx) => batchPlaces.placesOf(tx, "b", ["i"]),
    /batch_cards.*(image|batch)_id=/,
  ],
  ["what replaces a batch's cards", (tx) => batchPlaces.changesOfBatch(tx, "b"), /batch_cards.*batch_id=/],
  [
    "a player's history",
    (tx) => search.historyOfPlayer(tx, { ...scope, externalId: "p", limit }),
    /images_external .*external_id=/,
  ],
  ["unfinished cards of batches", (tx) => batches.openBatchCards(tx, scope), /images_account_queue/],
  ["canceled batches", (tx) => batches.canceledBatches(tx, 5), /batches_canceled/],
  ["a canceled batch's cards", (tx) => batches.unbegunOfBatch(tx, "b", 5), /batch_cards_image/],
  [
    "the next photo to fetch",
    (tx) => batches.nextWaiting(tx, { now: 5, exceptAccounts: ["a"] }),
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
  ["old requests", (tx) => requests.deleteOldRequests(tx, 5, limit), /request_log_age/],
  ["a key", (tx) => findKeyByHash(tx, "h"), /api_keys_hash/],
];
