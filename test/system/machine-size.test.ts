import { expect, test } from "bun:test";
import { memoryLimit } from "../../src/system/machine-size.ts";

const files = (contents: Record<string, string>) => (path: string) => contents[path];

test("the memory of a container or a unit counts, not the machine's around it", () => {
  const limited = files({
    "/proc/self/cgroup": "0::/system.slice/cardpress.service\n",
    "/sys/fs/cgroup/system.slice/cardpress.service/memory.max": "1000\n",
  });
  expect(memoryLimit(5000, limited)).toBe(1000);
  const older = files({
    "/proc/self/cgroup": "4:memory:/libpod/1\n0::/libpod/1\n",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes": "2000\n",
  });
  expect(memoryLimit(5000, older)).toBe(2000);
  expect(memoryLimit(5000, files({ "/sys/fs/cgroup/memory.max": "max\n" }))).toBe(5000);
});
