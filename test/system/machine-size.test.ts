import { expect, test } from "bun:test";
import { hasProcessorShare, memoryLimit } from "../../src/system/machine-size.ts";

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

test("a systemd service and a container have a share of the processor of their own, a program begun by hand has none", () => {
  const has = (groups: string, ...paths: string[]) =>
    hasProcessorShare(
      files({ "/proc/self/cgroup": groups, ...Object.fromEntries(paths.map((path) => [path, "100\n"])) }),
    );
  const service = "0::/system.slice/cardpress.service\n";
  expect(has(service, "/sys/fs/cgroup/system.slice/cardpress.service/cpu.weight")).toBeTrue();
  // Without the controller its programs compete with all others.
  expect(has(service)).toBeFalse();
  expect(has("0::/\n", "/sys/fs/cgroup/cpu.weight")).toBeTrue();
  expect(has("0::/\n")).toBeFalse();
  expect(has("4:cpu,cpuacct:/docker/1\n0::/\n")).toBeTrue();
  expect(has("5:cpuset:/docker/1\n4:cpuacct,cpu:/\n0::/\n")).toBeFalse();
  expect(has("")).toBeFalse();
});
