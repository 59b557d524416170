import { postgresKit } from "./postgres-kit.ts";
import { defineTables } from "./schema.ts";

/** The same tables on Postgres, exported one by one because drizzle-kit reads this module's exports. */
export const postgresTables = defineTables(postgresKit);
export const {
  accounts,
  apiKeys,
  images,
  imageMetadata,
  imagePictures,
  imageReceipts,
  ledgerEntries,
  idempotencyRecords,
  usageDays,
  usageKeys,
  usageFailures,
  webhookEndpoints,
  webhookEvents,
  webhookDeliveries,
  deliveryAttempts,
} = postgresTables;
export const { photos, batches, batchCards, requestLog, requestPlayers } = postgresTables;
export const { users, memberships, setupLinks, passkeys, identities, sessions, auditEntries, mails } =
  postgresTables;
export const { templates, templateVersions } = postgresTables;
export const { brandKits, playerConsents } = postgresTables;
export const { accountBuckets, imageExports } = postgresTables;
export const { cardSets, setPlayers, setCards } = postgresTables;
export const { sealedSpans, sealedSums } = postgresTables;
export const { statusDays, statusNotices } = postgresTables;
