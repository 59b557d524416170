import { afterAll, expect, test } from "bun:test";
import { testFolder } from "../harness.ts";
import { runCommand } from "./run.ts";

const folder = testFolder();
afterAll(() => folder.remove());

test("a second demo in the same folder makes its card for the account of the first", async () => {
  const demo = async () => (await runCommand(folder.dir, "demo", "--once", "--json")).json();
  const first = await demo();
  const second = await demo();
  expect(second.account_id).toBe(first.account_id);
  expect(second.image_id).not.toBe(first.image_id);
  expect(second.share_url).toContain(`/share/${second.image_id}-`);
  expect(await Bun.file(second.file).exists()).toBe(true);
  const accounts = (await runCommand(folder.dir, "account", "list", "--json")).json();
  expect(accounts.map(({ name }: { name: string }) => name)).toEqual(["Demo FC"]);
});
