import { CreateBucketCommand, S3Client } from "@aws-sdk/client-s3";
import { startFauxqs } from "fauxqs";
import type { BucketSettings } from "../src/blobs/bucket.ts";

let buckets = 0;

/** On the storage at `given`, or on the one named by the environment, or on the emulator. */
export async function emptyBucket(given = process.env.CARDPRESS_TEST_S3): Promise<BucketSettings> {
  const endpoint = given ?? (await emulator());
  const [accessKeyId = "", secretAccessKey = ""] = (
    process.env.CARDPRESS_TEST_S3_KEY ?? "testkey:testsecret"
  ).split(":");
  const bucket = `cards-${process.pid}-${Date.now()}-${++buckets}`;
  const client = new S3Client({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
  });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return { endpoint, region: "us-east-1", bucket, accessKeyId, secretAccessKey };
}

let running: ReturnType<typeof startFauxqs> | undefined;

export async function stopEmulator(): Promise<void> {
  await (await running)?.stop();
  running = undefined;
}

async function emulator(): Promise<string> {
  running ??= startFauxqs({ port: 0, host: "127.0.0.1", logger: false });
  return `http://127.0.0.1:${(await running).port}`;
}
