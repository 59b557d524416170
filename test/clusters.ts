import { join } from "node:path";
import { SQL } from "bun";
import { emptyBucket } from "./buckets.ts";
import { testFolder } from "./harness.ts";
import { postgresUrl } from "./postgres.ts";

interface Place {
  /** The database to make. */
  url: URL;
  /** Where the key's file is put. */
  dir: string;
}

/** The settings of an empty database and an empty bucket. */
export async function emptyCluster(
  { url, dir }: Place = {
    url: new URL(postgresUrl(`cluster ${crypto.randomUUID()}`)),
    dir: testFolder().dir,
  },
): Promise<Record<string, string>> {
  const admin = new SQL(new URL("/postgres", url).href, { max: 1 });
  await admin.unsafe(`CREATE DATABASE ${url.pathname.slice(1)}`);
  await admin.close();
  const bucket = await emptyBucket();
  const key = join(dir, "key");
  await Bun.write(key, Buffer.alloc(32, 7).toString("base64"));
  return {
    CARDPRESS_DATABASE_URL: url.href,
    CARDPRESS_S3_ENDPOINT: bucket.endpoint,
    CARDPRESS_S3_REGION: bucket.region,
    CARDPRESS_S3_BUCKET: bucket.bucket,
    CARDPRESS_S3_ACCESS_KEY_ID: bucket.accessKeyId,
    CARDPRESS_S3_SECRET_ACCESS_KEY: bucket.secretAccessKey,
    CARDPRESS_SECRET_KEY_FILE: key,
  };
}
