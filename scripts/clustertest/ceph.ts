import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { steadyPort } from "../steady-port.ts";

export interface Ceph {
  endpoint: string;
  stop(): Promise<void>;
}

/**
 * One monitor, one object store in memory and one S3 gateway of Ceph on this machine, with the key testkey:testsecret.
 * Debian: radosgw, ceph-mon, ceph-osd, ceph-common. Rejects where they are missing or do not start.
 */
export async function startCeph(folder: string): Promise<Ceph> {
  const port = await steadyPort();
  mkdirSync(folder, { recursive: true });
  const started = Bun.spawn(["bash", join(import.meta.dir, "start-ceph.sh"), folder, String(port)], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if ((await started.exited) !== 0) throw new Error(`Ceph did not start, see ${folder}/log`);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    stop: async () => {
      for (const name of ["rgw", "osd", "mon"]) {
        const pid = Number(await Bun.file(join(folder, `${name}.pid`)).text());
        if (pid > 1) process.kill(pid, "SIGKILL");
      }
    },
  };
}
