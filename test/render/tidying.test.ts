import { expect, test } from "bun:test";
import { tidying } from "../../src/render/tidying.ts";

test("memory is tidied after five cards even if each next one comes at once, and never amid one", async () => {
  let isWorking = false;
  let tidied = 0;
  const work = tidying(() => {
    expect(isWorking).toBeFalse();
    tidied++;
  });
  for (let card = 0; card < 16; card++)
    await work(async () => {
      isWorking = true;
      await null;
      isWorking = false;
    });
  expect(tidied).toBe(3);
});
