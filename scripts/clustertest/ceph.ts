import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openBucket } from "../../src/blobs/bucket.ts";
import { emptyBucket } from "../../test/buckets.ts";
import { steadyPort } from "../steady-port.ts";
import { sendSignal } from "./node.ts";

/** What a server of Ceph's consists of, by Debian's packages of these names. */
const PROGRAMS = ["radosgw", "ceph-mon", "ceph-osd", "ceph", "ceph-authtool", "monmaptool", "radosgw-admin"];
const PACKAGES = "radosgw ceph-mon ceph-osd ceph-common";

export interface Ceph {
  endpoint: string;
  stop(): Promise<void>;
}

/** Why Ceph cannot be started on this machine, with what helps; undefined when it can. */
function cephIsMissing(): string | undefined {
  const missing = PROGRAMS.filter((program) => !Bun.which(program));
  if (missing.length === 0) return undefined;
  return `Ceph's gateway is not installed (${missing.join(", ")}). Debian and Ubuntu: apt-get install --no-install-recommends ${PACKAGES}`;
}

/**
 * One monitor, one object store in memory and one S3 gateway of Ceph on this machine, with the key
 * testkey:testsecret. Rejects where they are missing or do not start.
 */
export async function startCeph(folder: string): Promise<Ceph> {
  const missing = cephIsMissing();
  if (missing !== undefined) throw new Error(missing);
  const port = await steadyPort();
  mkdirSync(folder, { recursive: true });
  const stop = async () => {
    for (const name of ["rgw", "osd", "mon"]) {
      const file = Bun.file(join(folder, `${name}.pid`));
      if (await file.exists()) sendSignal(Number(await file.text()), "SIGKILL");
    }
  };
  const started = Bun.spawn(["bash", join(import.meta.dir, "start-ceph.sh"), folder, String(port)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await started.exited) !== 0) {
    await stop();
    throw new Error(`Ceph did not start, see ${folder}/log`);
  }
  const endpoint = `http://127.0.0.1:${port}`;
  await makePools(endpoint).catch(async (error) => {
    await stop();
    throw error;
  });
  return { endpoint, stop };
}

/** Ceph makes the pools of its objects at the first put, which takes seconds. */
async function makePools(endpoint: string): Promise<void> {
  const bucket = await openBucket(await emptyBucket(endpoint), { tryMs: 60_000 });
  await bucket.put("first", new TextEncoder().encode("first"));
}
