import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listReader, type ReadSquadList } from "../../../src/app/batches/list-reader.ts";
import { MAX_LIST_READERS, MAX_WAITING_LISTS } from "../../../src/core/list-limits.ts";
import { listReaderCommand } from "../../../src/service/system.ts";
import { residentBytes } from "../../../src/system/own-limits.ts";
import { HEAD, workbook } from "./workbooks.ts";

const warnings: unknown[][] = [];
const log = {
  info: () => {},
  warn: (...line: unknown[]) => void warnings.push(line),
  error: () => {},
};
const text = (list: string) => new TextEncoder().encode(list);
const read = listReader({ command: listReaderCommand(), log });

/** A reader whose process is this script instead. */
function readerOf(script: string): ReadSquadList {
  const file = join(mkdtempSync(join(tmpdir(), "list-reader-")), "reader.ts");
  writeFileSync(file, script);
  return listReader({ command: [process.execPath, file], log });
}
const OWN_LIMITS = JSON.stringify(join(import.meta.dir, "../../../src/system/own-limits.ts"));

test("a list comes back from the process that parses it, and so does what is wrong with one", async () => {
  expect(await read("acc_1", text("Name,Nr\nJosé,9"))).toEqual({
    columns: ["Name", "Nr"],
    rows: [{ line: 2, cells: ["José", "9"] }],
  });
  expect(
    (await read("acc_1", workbook(`${HEAD}<row r="2"><c r="A2" t="s"><v>2</v></c></row>`))).rows,
  ).toEqual([{ line: 2, cells: ["José", "", ""] }]);
  await expect(read("acc_1", text("Name\n"))).rejects.toMatchObject({
    code: "INVALID_REQUEST",
    message: expect.stringContaining("no players"),
  });
});

test("a sheet that hides how far it spreads costs its own process, and the sender a refusal", async () => {
  const hidden = '<c x=">" r="XFD20000" t="inlineStr"><is><t>x</t></is></c>';
  const sheet = workbook(`${HEAD}<row r="20000">${hidden}</row>`);
  await expect(read("acc_1", sheet)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  expect((await read("acc_1", text("Name\nA"))).rows).toHaveLength(1);
});

test("the kernel ends a process that takes more memory or time than it set itself", async () => {
  const limited = (work: string) =>
    readerOf(`import { limitSelf } from ${OWN_LIMITS};
limitSelf({ moreMemoryBytes: ${512 * 1024 ** 2}, cpuSeconds: 1 });
${work}`);
  for (const work of [
    "for (;;);",
    "const kept = []; for (let at = 0; ; at++) kept.push({ at, more: { at } });",
    "const kept = []; for (;;) kept.push(new Uint8Array(64e6).fill(1));",
    'let text = "x"; for (;;) text = Buffer.from(text + text).toString();',
  ])
    await expect(limited(work)("acc_1", text("Name\nA"))).rejects.toThrow("more memory or time");
  expect(warnings.map(([event]) => event)).toContain("list_reader_ended");
});

test("the memory in use of a process is known, and none of one that has ended", async () => {
  expect(residentBytes(process.pid)).toBeGreaterThan(10 * 1024 ** 2);
  const ended = Bun.spawn(["true"]);
  await ended.exited;
  expect(residentBytes(ended.pid)).toBe(0);
});

test("a process that answers without an end is ended, and none gets the service's secrets", async () => {
  const endless = readerOf('for (;;) await Bun.write(Bun.stdout, "x".repeat(1e6));');
  await expect(endless("acc_1", text("Name\nA"))).rejects.toThrow("more memory or time");
  process.env.CARDPRESS_TRIED_SECRET = "for nobody's eyes";
  const environment = readerOf(
    "console.log(JSON.stringify({ list: { columns: Object.keys(process.env), rows: [] } }));",
  );
  const { columns } = await environment("acc_1", text("Name\nA"));
  delete process.env.CARDPRESS_TRIED_SECRET;
  expect(columns.filter((name) => name.startsWith("CARDPRESS"))).toEqual([]);
});

test("few lists are read at once, one of each account, and the others wait or are asked to come again", async () => {
  const one = readerOf(
    "await Bun.stdin.bytes(); console.log(JSON.stringify({ list: { columns: [], rows: [] } }));",
  );
  const most = MAX_LIST_READERS + MAX_WAITING_LISTS;
  const all = Array.from({ length: most }, (_, at) => one(`acc_${at}`, text("Name\nA")));
  const busy = { code: "LIMIT_REACHED" };
  await expect(one("acc_0", text("Name\nA"))).rejects.toMatchObject(busy);
  await expect(one("acc_more", text("Name\nA"))).rejects.toMatchObject(busy);
  expect(await Promise.all(all)).toHaveLength(most);
  expect((await one("acc_0", text("Name\nA"))).rows).toEqual([]);
});
