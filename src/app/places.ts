import { existsSync } from "node:fs";
import type { Blobs } from "../blobs/blobs.ts";
import type { Cluster } from "../cluster-config.ts";
import type { Config } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";
import { secretKeyId } from "../core/secret-box.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { openJobs } from "../jobs/open-jobs.ts";
import { openSqliteStore, type StoreOptions } from "../store/engine/sqlite.ts";
import type { Store } from "../store/store.ts";
import { type DataFolder, refuseLostDatabase } from "../system/data-folder.ts";
import { loadSecretKey, requireSecretKey } from "../system/secret-key.ts";
import { blobsIn, openFolderFiles, openUsableBucket, refuseFolderBucket } from "./bucket-files.ts";

/**
 * Where rows, blobs and the key are kept: in the data folder, the blobs perhaps in a bucket; or in
 * PostgreSQL, a bucket and a file of its own.
 */
export interface Places {
  store: Store;
  jobs: Jobs;
  blobs: Blobs;
  secretKey: Uint8Array;
}

/**
 * Opens the store of a data folder and brings it to the newest schema; an engine that is reached over a
 * network takes its time.
 */
export type OpenStore = (file: string, options: StoreOptions) => Store | Promise<Store>;

export interface PlacesOptions extends Pick<StoreOptions, "verify" | "mapped" | "rewriteCommand"> {
  /** Another way to open the store of a data folder: the tests put themselves between it and its users. */
  openStore?: OpenStore | undefined;
  /** Where the queue reports what is not as it should be. */
  log?: Pick<Log, "warn">;
  /** The data folder that hands its bucket over to servers on PostgreSQL, by the id in its note. */
  bucketFrom?: string | undefined;
}

/** Opens them. Throws an OperatorError where one cannot be used as it is. */
export async function openPlaces(
  { cluster, bucket }: Pick<Config, "cluster" | "bucket">,
  folder: DataFolder,
  options: PlacesOptions = {},
): Promise<Places> {
  if (cluster) {
    refuseOwnDatabase(folder);
    return openCluster(cluster, folder, options);
  }
  const { openStore = openSqliteStore, verify = false, mapped = false, rewriteCommand = [] } = options;
  refuseLostDatabase(folder);
  const queued = await withJobs(
    await openStore(folder.database, { verify, mapped, rewriteCommand }),
    options,
  );
  try {
    const blobs = await openFolderFiles(folder, bucket);
    return { ...queued, blobs, secretKey: loadSecretKey(folder.secretKey) };
  } catch (error) {
    await queued.store.close();
    throw error;
  }
}

/** Opens those outside of the folder, whatever lies in it. */
export async function openCluster(
  cluster: Cluster,
  folder: DataFolder,
  options: PlacesOptions = {},
): Promise<Places> {
  const secretKey = requireSecretKey(cluster.secretKeyFile);
  const bucket = await openUsableBucket(cluster.bucket);
  await refuseFolderBucket(bucket, cluster.bucket, options.bucketFrom);
  const blobs = await blobsIn(bucket, folder);
  // Loaded here and not before: a service with all its data in a folder does without them.
  const { openPostgresStore } = await import("../store/engine/postgres.ts");
  const { refuseOtherSealingKey } = await import("../store/engine/sealing-key.ts");
  const store = await openPostgresStore({
    url: cluster.databaseUrl,
    connections: cluster.databaseConnections,
    patient: options.mapped ?? false,
  });
  try {
    await refuseOtherSealingKey(store.rawQuery, {
      keyId: secretKeyId(secretKey),
      file: cluster.secretKeyFile,
    });
  } catch (error) {
    await store.close();
    throw error;
  }
  return { ...(await withJobs(store, options)), blobs, secretKey };
}

/** The queue of renders in a store; it is closed with it. */
async function withJobs(
  store: Store,
  { log = { warn: () => {} } }: PlacesOptions,
): Promise<Pick<Places, "store" | "jobs">> {
  try {
    const jobs = await openJobs(store, log);
    const close = async () => {
      await jobs.close();
      await store.close();
    };
    return { store: { ...store, close }, jobs };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Nobody's accounts and credits are to be left behind unseen. */
function refuseOwnDatabase({ database, root }: DataFolder): void {
  if (!existsSync(database)) return;
  throw new OperatorError(
    `CARDPRESS_DATABASE_URL is set, but ${root} holds a database of its own. Copy it with "cardpress migrate --to", and set CARDPRESS_DATA_DIR to another folder, where this machine keeps only copies and files in the making; or unset the variable to go on with this one.`,
  );
}
