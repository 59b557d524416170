import { afterAll, beforeAll, expect, test } from "bun:test";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(() => {
  api = testApi();
});
afterAll(() => api.close());

async function ready() {
  const response = await send(api, "/ready");
  return { status: response.status, checks: ((await response.json()) as { checks?: object }).checks };
}

const READY = { status: 200, checks: { database: true, renderer: true, disk: true, accepting: true } };
const NO_DISK = { status: 503, checks: { ...READY.checks, disk: false } };

for (const name of ["sources", "cutouts", "images"] as const) {
  test(`/ready is 503 while nothing can be written into ${name}, and 200 once it can`, async () => {
    const path = api.folder[name];
    renameSync(path, `${path}-away`);
    // Not even root may use a file as a folder.
    writeFileSync(path, "");
    expect(await ready()).toEqual(NO_DISK);
    rmSync(path);
    renameSync(`${path}-away`, path);
    expect(await ready()).toEqual(READY);
  });
}

test("/ready is 503 while the data folder is moved away", async () => {
  renameSync(api.dataDir, `${api.dataDir}-away`);
  expect(await ready()).toEqual(NO_DISK);
  renameSync(`${api.dataDir}-away`, api.dataDir);
  expect(await ready()).toEqual(READY);
});
