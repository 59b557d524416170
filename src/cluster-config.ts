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
  bucket: { endpoint: string; region: string; bucket: string; accessKeyId: string; secretAccessKey: string };
  /** Holds the key that seals secrets at rest: 32 bytes in base64. */
  secretKeyFile: string;
}

const VARIABLES = [
  "CARDPRESS_DATABASE_URL",
  "CARDPRESS_S3_ENDPOINT",
  "CARDPRESS_S3_REGION",
  "CARDPRESS_S3_BUCKET",
  "CARDPRESS_S3_ACCESS_KEY_ID",
  "CARDPRESS_S3_SECRET_ACCESS_KEY",
  "CARDPRESS_SECRET_KEY_FILE",
] as const;

/** Throws an OperatorError for what works on a data folder alone. */
export function refuseInCluster({ cluster }: { cluster: Cluster | undefined }): void {
  if (!cluster) return;
  throw new OperatorError(
    "CARDPRESS_DATABASE_URL is set: there is no data folder to copy or to unpack into. Back PostgreSQL up with pg_dump or its own archive, and keep versions of the bucket's objects.",
  );
}

/**
 * All of them or none: undefined without any. Throws an OperatorError that names what is missing or wrong.
 */
export function readCluster(
  env: Record<string, string | undefined>,
  { databaseConnections }: Pick<Cluster, "databaseConnections">,
): Cluster | undefined {
  const missing = VARIABLES.filter((name) => !env[name]);
  if (missing.length === VARIABLES.length) return undefined;
  if (missing.length > 0) {
    const given = VARIABLES.filter((name) => env[name]);
    throw new OperatorError(
      `${given[0]} is set, but not ${missing.join(", ")}. With PostgreSQL the pictures are kept in a bucket and the key in a file of its own: set all of these, or none.`,
      2,
    );
  }
  const value = (name: (typeof VARIABLES)[number]) => env[name] ?? "";
  const database = URL.parse(value("CARDPRESS_DATABASE_URL"));
  // Neither is shown: it holds a password.
  if (!database || !/^postgres(ql)?:$/.test(database.protocol) || database.pathname.length < 2)
    throw new OperatorError(
      "CARDPRESS_DATABASE_URL must be an address such as postgres://user:password@db.example.com:5432/cardpress.",
      2,
    );
  const endpoint = URL.parse(value("CARDPRESS_S3_ENDPOINT"));
  if (!endpoint || !/^https?:$/.test(endpoint.protocol) || endpoint.username)
    throw new OperatorError(
      "CARDPRESS_S3_ENDPOINT must be an address such as https://s3.eu-central-1.amazonaws.com, without the bucket.",
      2,
    );
  if (env.CARDPRESS_BACKUP_DIR)
    throw new OperatorError(
      "CARDPRESS_BACKUP_DIR is set, but with CARDPRESS_DATABASE_URL the service makes no backups itself: use those of PostgreSQL and the versions of the bucket, and unset it.",
      2,
    );
  return {
    databaseUrl: value("CARDPRESS_DATABASE_URL"),
    databaseConnections,
    bucket: {
      endpoint: value("CARDPRESS_S3_ENDPOINT"),
      region: value("CARDPRESS_S3_REGION"),
      bucket: value("CARDPRESS_S3_BUCKET"),
      accessKeyId: value("CARDPRESS_S3_ACCESS_KEY_ID"),
      secretAccessKey: value("CARDPRESS_S3_SECRET_ACCESS_KEY"),
    },
    secretKeyFile: value("CARDPRESS_SECRET_KEY_FILE"),
  };
}
