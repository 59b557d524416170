import { expect, test } from "bun:test";
import { checkWorkers } from "../../../../src/app/operations/doctor/check-workers.ts";
import { workersFor } from "../../../../src/core/machine-limits.ts";

/** What machines sold with so many gigabytes report: the kernel keeps some. */
const machine = (cores: number, gigabytes: number) => ({ cores, memoryBytes: 0.96 * gigabytes * 1024 ** 3 });

test("there is a worker for each core that has the memory for it, and always one", () => {
  expect(workersFor(machine(1, 1))).toBe(1);
  expect(workersFor(machine(4, 0.5))).toBe(1);
  expect(workersFor(machine(2, 1))).toBe(1);
  expect(workersFor(machine(2, 2))).toBe(2);
  expect(workersFor(machine(8, 4))).toBe(4);
  expect(workersFor(machine(4, 16))).toBe(4);
});

test("a machine, container or unit without memory for a single card is reported with what it needs", () => {
  expect(checkWorkers({ renderWorkers: 1 }, machine(1, 1))).toEqual({
    status: "ok",
    message: "1 render worker on 1 core and 1.0 GB",
  });
  const { status, message } = checkWorkers({ renderWorkers: 1 }, machine(1, 0.5));
  expect([status, message]).toEqual(["warning", expect.stringContaining("at least 0.6 GB")]);
});

test("more workers than memory or cores are reported with the number that fits", () => {
  const { status, message } = checkWorkers({ renderWorkers: 4 }, machine(4, 2));
  expect([status, message]).toEqual(["warning", expect.stringContaining("CARDPRESS_RENDER_WORKERS=2")]);
  const cores = checkWorkers({ renderWorkers: 4 }, machine(2, 16));
  expect([cores.status, cores.message]).toEqual(["warning", expect.stringContaining("RENDER_WORKERS=2")]);
});

test("what a machine gets by default is never too much for it", () => {
  for (const cores of [1, 2, 4, 16, 64])
    for (const gigabytes of [1, 2, 4, 8, 64]) {
      const size = machine(cores, gigabytes);
      expect(checkWorkers({ renderWorkers: workersFor(size) }, size).status).toBe("ok");
    }
});
