import type { BucketSettings } from "./blobs/bucket.ts";
import { OperatorError } from "./core/errors.ts";

/**
 * Where state is kept when it is not kept in the data folder, which then holds nothing that is missed when it
 * goes.
 */
export interface Cluster {
  /** Such as postgres://user:password@host:5432/database. */
  databaseUrl: string;
  /** How many connections to it a process opens at most. */
  databaseConnections: number;
  bucket: BucketSettings;
  /** Holds the key that seals secrets at rest: 32 bytes in base64. */
  secretKeyFile: string;
}

const BUCKET_VARIABLES = [
  "CARDPRESS_S3_ENDPOINT",
  "CARDPRESS_S3_REGION",
  "CARDPRESS_S3_BUCKET",
  "CARDPRESS_S3_ACCESS_KEY_ID",
  "CARDPRESS_S3_SECRET_ACCESS_KEY",
] as const;
const CLUSTER_VARIABLES = ["CARDPRESS_DATABASE_URL", "CARDPRESS_SECRET_KEY_FILE"] as const;

/** Throws an OperatorError for what works on a data folder alone. */
export function refuseInCluster({ cluster }: { cluster: Cluster | undefined }): void {
  if (!cluster) return;
  throw new OperatorError(
    "CARDPRESS_DATABASE_URL is set: there is no data folder to copy or to unpack into. Back PostgreSQL up with pg_dump or its own archive, and keep versions of the bucket's objects.",
  );
}

/**
 * The bucket alone, with which rows stay in the data folder; or all of PostgreSQL, bucket and key. Throws an
 * OperatorError that names what is missing or wrong.
 */
export function readStorage(
  env: Record<string, string | undefined>,
  { databaseConnections }: Pick<Cluster, "databaseConnections">,
): { cluster: Cluster | undefined; bucket: BucketSettings | undefined } {
  const isShared = CLUSTER_VARIABLES.some((name) => env[name]);
  const bucket = readBucket(env, isShared ? CLUSTER_VARIABLES : []);
  if (!bucket || !isShared) return { cluster: undefined, bucket };
  const { CARDPRESS_DATABASE_URL: databaseUrl = "", CARDPRESS_SECRET_KEY_FILE: secretKeyFile = "" } = env;
  const database = URL.parse(databaseUrl);
  // Neither is shown: it holds a password.
  if (!database || !/^postgres(ql)?:$/.test(database.protocol) || database.pathname.length < 2)
    throw new OperatorError(
      "CARDPRESS_DATABASE_URL must be an address such as postgres://user:password@db.example.com:5432/cardpress.",
      2,
    );
  if (env.CARDPRESS_BACKUP_DIR)
    throw new OperatorError(
      "CARDPRESS_BACKUP_DIR is set, but with CARDPRESS_DATABASE_URL the service makes no backups itself: use those of PostgreSQL and the versions of the bucket, and unset it.",
      2,
    );
  return { cluster: { databaseUrl, databaseConnections, bucket, secretKeyFile }, bucket };
}

/** Needs `others` too; undefined where none of all is set. */
function readBucket(
  env: Record<string, string | undefined>,
  others: readonly string[],
): BucketSettings | undefined {
  const all = [...others, ...BUCKET_VARIABLES];
  const missing = all.filter((name) => !env[name]);
  if (missing.length === all.length) return undefined;
  if (missing.length > 0) {
    const given = all.find((name) => env[name]);
    const why =
      others.length > 0
        ? "With PostgreSQL the pictures are kept in a bucket and the key in a file of its own"
        : "Photos and pictures are kept in a bucket by its address, its name and a key";
    throw new OperatorError(
      `${given} is set, but not ${missing.join(", ")}. ${why}: set all of these, or none.`,
      2,
    );
  }
  const value = (name: (typeof BUCKET_VARIABLES)[number]) => env[name] ?? "";
  const endpoint = URL.parse(value("CARDPRESS_S3_ENDPOINT"));
  if (!endpoint || !/^https?:$/.test(endpoint.protocol) || endpoint.username)
    throw new OperatorError(
      "CARDPRESS_S3_ENDPOINT must be an address such as https://s3.eu-central-1.amazonaws.com, without the bucket.",
      2,
    );
  return {
    endpoint: value("CARDPRESS_S3_ENDPOINT"),
    region: value("CARDPRESS_S3_REGION"),
    bucket: value("CARDPRESS_S3_BUCKET"),
    accessKeyId: value("CARDPRESS_S3_ACCESS_KEY_ID"),
    secretAccessKey: value("CARDPRESS_S3_SECRET_ACCESS_KEY"),
  };
}
