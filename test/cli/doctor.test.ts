import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { setBucket } from "../../src/app/exports/manage-bucket.ts";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { claimImage } from "../../src/app/images/render-image.ts";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { keepClockMark } from "../../src/system/clock-file.ts";
import { acceptLive } from "../app/accepting.ts";
import { ownTemplate, type TestFolder, testAccount, testConfig, testFolder } from "../harness.ts";
import { plainChromium } from "../render/plain-chromium.ts";
import { runCommandWith } from "./run.ts";

let folder: TestFolder | undefined;
afterEach(async () => {
  await folder?.remove();
  folder = undefined;
});

async function filled(): Promise<string> {
  folder = testFolder();
  const workspace = await openWorkspace(testConfig(folder.dir), quietLog());
  await testAccount(workspace, { credits: 5 });
  await workspace.store.close();
  return folder.dir;
}

async function cardpress(dataDir: string, env: Record<string, string>, ...args: string[]) {
  const { code, json } = await runCommandWith(
    { CARDPRESS_ALLOW_ROOT: "1", ...env },
    dataDir,
    ...args,
    "--json",
  );
  return { code, json: json() };
}

const statuses = (checks: { check: string; status: string }[]) =>
  Object.fromEntries(checks.map(({ check, status }) => [check, status]));

test("doctor finds a sound installation sound, and launches its browser to be sure", async () => {
  const { code, json } = await cardpress(await filled(), {}, "doctor");
  expect(code).toBe(0);
  const sandbox = process.getuid?.() === 0 ? "warning" : "ok";
  expect(statuses(json.checks)).toMatchObject({
    config: "ok",
    disk: expect.any(String),
    sandbox,
    browser: "ok",
    database: "ok",
    audit: "ok",
    pictures: "ok",
    webhooks: "ok",
  });
});

test("doctor names settings that are none, a browser that is none, and a clock that is not where the service left it", async () => {
  const dir = await filled();
  // The machine's own word: this process has run for long, and its clock has drifted by parts of a second.
  const elapsed = uptime() * 1000 - 500;
  await keepClockMark(join(dir, "clock.json"), { wall: Date.now() + 90 * 60_000, elapsed });
  const env = { CARDPRESS_BAKUP_DIR: "/mnt/backup", CARDPRESS_CHROMIUM: "/bin/false" };
  const { json } = await cardpress(dir, env, "doctor");
  const [config] = json.checks;
  expect(config).toMatchObject({ check: "config", status: "warning" });
  expect(config.message).toContain("without effect: CARDPRESS_BAKUP_DIR.");
  const browser = json.checks.find(({ check }: { check: string }) => check === "browser");
  expect(browser.message).toMatch(/exit code 1\. If it is no Chromium, set CARDPRESS_CHROMIUM to one/);
  const clock = json.checks.find(({ check }: { check: string }) => check === "clock");
  expect(clock).toMatchObject({ status: "warning", message: expect.stringContaining("90 minutes behind") });
});

test("doctor warns of a browser whose cards cannot move, and says what to do", async () => {
  const dir = await filled();
  const env = { CARDPRESS_CHROMIUM: await plainChromium(dir) };
  const { json } = await cardpress(dir, env, "doctor");
  const browser = json.checks.find(({ check }: { check: string }) => check === "browser");
  expect(browser).toMatchObject({
    status: "warning",
    message: expect.stringMatching(/cannot move.+Update it, or let CARDPRESS_CHROMIUM name a newer one\./),
  });
});

test("doctor names pictures that are gone, and a secret.key that is not the one webhooks and buckets were sealed with", async () => {
  folder = testFolder();
  const hook = "http://127.0.0.1:1";
  const config = testConfig(folder.dir, { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: hook });
  const workspace = await openWorkspace(config, quietLog());
  const { account } = await testAccount(workspace, { credits: 5 });
  const { endpoint } = await createEndpoint(workspace, {
    accountId: account.id,
    environment: "live",
    url: `${hook}/`,
  });
  const origins = new Set(["http://127.0.0.1:9000"]);
  await setBucket(
    { ...workspace, config: { ...workspace.config, exportAllowedOrigins: origins } },
    { accountId: account.id },
    {
      ...{ endpoint: "http://127.0.0.1:9000", region: "us-east-1", bucket: "cards" },
      ...{ keyPattern: "{image_id}", accessKeyId: "id", secretAccessKey: "secret" },
    },
  );
  await acceptLive(workspace, account.id);
  const image = await claimImage(workspace, "live");
  if (!image) throw new Error("nothing to claim");
  const output = {
    name: `${image.id}-x.png`,
    width: 1,
    height: 1,
    contentType: "image/png",
    bytes: 1,
    composition: "cutout" as const,
  };
  const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
  await finishImage(workspace, lease, { kind: "completed", output });
  await workspace.store.close();
  const sound = await cardpress(folder.dir, {}, "doctor");
  expect(statuses(sound.json.checks)).toMatchObject({ webhooks: "ok", "account buckets": "ok" });
  rmSync(workspace.folder.secretKey);
  const gone = await cardpress(folder.dir, {}, "doctor");
  expect(statuses(gone.json.checks)).toMatchObject({
    ...{ audit: "ok", pictures: "failed", webhooks: "failed" },
    "account buckets": "failed",
  });
  expect(JSON.stringify(gone.json.checks)).toContain(image.id);
  writeFileSync(workspace.folder.secretKey, Buffer.alloc(32, 7).toString("base64"));
  const foreign = await cardpress(folder.dir, {}, "doctor");
  expect(statuses(foreign.json.checks)).toMatchObject({ webhooks: "failed", "account buckets": "failed" });
  for (const id of [endpoint.id, account.id]) expect(JSON.stringify(foreign.json.checks)).toContain(id);
});

test("doctor names a broken setting, a browser that is not there, and a database without its guards", async () => {
  const dir = await filled();
  const setting = await cardpress(dir, { CARDPRESS_PORT: "many" }, "doctor");
  expect(setting).toMatchObject({
    code: 1,
    json: { ok: false, checks: [{ check: "config", status: "failed" }] },
  });

  const db = new Database(join(dir, "cardpress.db"));
  db.run("DROP TRIGGER ledger_entries_no_update");
  db.close();
  const { code, json } = await cardpress(dir, { CARDPRESS_CHROMIUM: "/nowhere/chromium" }, "doctor");
  expect(code).toBe(1);
  expect(statuses(json.checks)).toMatchObject({ browser: "failed", database: "failed" });
  expect(JSON.stringify(json.checks)).toContain("ledger_entries_no_update");
});

test("audit exits with 0 on sound books, with 1 on broken ones, and says whose", async () => {
  const dir = await filled();
  expect(await cardpress(dir, {}, "audit")).toMatchObject({ code: 0, json: { ok: true } });
  const db = new Database(join(dir, "cardpress.db"));
  db.run("UPDATE accounts SET credits_plan = 6");
  const [id] = db.query("SELECT id FROM accounts").values()[0] as [string];
  db.close();
  const { code, json } = await cardpress(dir, {}, "audit");
  expect(code).toBe(1);
  const named = json.findings.flatMap((f: { broken: { id: string }[] }) =>
    f.broken.map((breach) => breach.id),
  );
  expect(new Set(named)).toEqual(new Set([id]));
});

test("doctor names the listed templates with their versions and places, and says what one lacks", async () => {
  folder = testFolder();
  const templates = join(folder.dir, "templates");
  await ownTemplate(templates, "season_card");
  const { dir } = folder;
  const find = async (presets: string) => {
    const env = { CARDPRESS_TEMPLATES_DIR: templates, CARDPRESS_PRESETS: presets };
    const { json } = await cardpress(dir, env, "doctor");
    return json.checks.find(({ check }: { check: string }) => check === "templates");
  };
  const place = join(templates, "season_card");
  expect(await find("season_card,club_card")).toEqual({
    check: "templates",
    status: "ok",
    message: `season_card 1.0.0 (${place}), club_card 1.0.0 (built in)`,
  });
  rmSync(join(place, "card.css"));
  expect(await find("season_card")).toEqual({
    check: "templates",
    status: "failed",
    message: `CARDPRESS_PRESETS lists what cannot be used. ${place}/card.css cannot be read. A template folder holds template.json, card.html and card.css.`,
  });
});
