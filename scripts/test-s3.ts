/**
 * Runs the suites of buckets on a real S3 storage, Ceph's gateway, which it starts; everywhere else they run
 * on an emulator.
 *
 *   bun run test:s3 [files and options of bun test]
 *
 * Debian and Ubuntu: apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-common. Where it
 * is missing or does not start it says so and ends well. With CARDPRESS_TEST_S3=http://host:port it uses that
 * storage instead, with the key in CARDPRESS_TEST_S3_KEY=id:secret; its user must be allowed to create
 * buckets, which are not removed.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCeph } from "./clustertest/ceph.ts";
import { offerHelp } from "./help.ts";
import { runSuites } from "./run-suites.ts";

const SUITES = ["test/blobs", "test/app/exports", "test/service/folder-bucket.test.ts"];

offerHelp(import.meta);
const folder = mkdtempSync(join(tmpdir(), "cardpress-ceph-"));
const given = process.env.CARDPRESS_TEST_S3;
const storage = given
  ? { endpoint: given, stop: async () => {} }
  : await startCeph(folder).catch((error: Error) => {
      console.log(`Skipped: ${error.message}`);
      rmSync(folder, { recursive: true, force: true });
      process.exit(0);
    });
try {
  process.exitCode = await runSuites(SUITES, { CARDPRESS_TEST_S3: storage.endpoint });
} finally {
  await storage.stop();
  rmSync(folder, { recursive: true, force: true });
}
