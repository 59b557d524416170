import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { type Loop, startLoop } from "../../src/app/loop.ts";
import { createKey } from "../../src/app/people/manage-account.ts";
import { makeSigningSecret } from "../../src/app/people/manage-signing.ts";
import { webhookHeaders } from "../../src/core/webhook-signature.ts";
import { SAMPLES, type Sample } from "../../src/http/docs/samples.ts";
import { freePort } from "../../src/service/free-port.ts";
import { testAccount } from "../harness.ts";
import { type TestApi, testApi } from "./api.ts";

// The programs of the guides, run as their readers run them. A language without its interpreter here is left
// out by name.

let api: TestApi;
let dir: string;
let key: string;
let loop: Loop;
beforeAll(async () => {
  // The photo of the samples is this service's own, at the address it knows itself by.
  const port = await freePort("127.0.0.1");
  api = await testApi({ port, env: { CARDPRESS_BASE_URL: `http://127.0.0.1:${port}` } });
  dir = await mkdtemp(join(tmpdir(), "cardpress-samples-"));
  key = (await testAccount(api)).testKey;
  // The loop that serves test images, as the running service has it.
  loop = startLoop({
    name: "mock",
    concurrency: 1,
    pollMs: 5,
    runOne: (signal, more) => renderNextTestImage(api, signal, more),
    log: api.log,
  });
});
afterAll(async () => {
  await loop.stop();
  await api.close();
  await rm(dir, { recursive: true, force: true });
});

const RUNNERS: Record<string, { program: string; run: (file: string, port: number) => string[] }> = {
  sh: { program: "sh", run: (file) => ["sh", file] },
  ts: { program: process.execPath, run: (file) => [process.execPath, file] },
  python: { program: "python3", run: (file) => ["python3", file] },
  php: {
    program: "php",
    run: (file, port) => (port > 0 ? ["php", "-S", `127.0.0.1:${port}`, file] : ["php", file]),
  },
  // As `go run` does it, which leaves the program it built running when it is ended itself.
  go: {
    program: "go",
    run: (file) => ["sh", "-c", `go build -o "${file}.out" "${file}" && exec "${file}.out"`],
  },
};

/**
 * Starts a sample as a guide shows it, filled in for this service. `port` is 0 for one that does not listen.
 */
async function start({ file, language, text }: Sample, env: Record<string, string>, port = 0) {
  const path = join(dir, file);
  const filled = text.replaceAll("{{base_url}}", api.baseUrl).replaceAll("{{preset}}", "club_card");
  await Bun.write(path, filled);
  return Bun.spawn(RUNNERS[language]?.run(path, port) ?? [], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
}

/** A test that says so where the language cannot be run here. */
function inLanguage(name: string, sample: Sample, prove: () => Promise<void>): void {
  const { program = "" } = RUNNERS[sample.language] ?? {};
  if (Bun.which(program)) test(name, prove);
  else test.skip(`${name} (not run: there is no ${program} here)`, prove);
}

for (const sample of SAMPLES.quickstart)
  inLanguage(`the quickstart in ${sample.tab} makes a card and names its address`, sample, async () => {
    const child = await start(sample, { CARDPRESS_KEY: key });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect({ code: await child.exited, err }).toMatchObject({ code: 0 });
    expect(out).toMatch(/http:\/\/127\.0\.0\.1:\d+\/cdn\/img_\w+-\w+\.png/);
  });

for (const sample of SAMPLES.quickstart.filter(({ language }) => language !== "sh"))
  inLanguage(`the quickstart in ${sample.tab} says what is wrong with a key`, sample, async () => {
    const child = await start(sample, { CARDPRESS_KEY: "sk_test_wrong" });
    const err = (await new Response(child.stderr).text()) + (await new Response(child.stdout).text());
    expect(await child.exited).not.toBe(0);
    expect(err).toContain("INVALID_API_KEY");
  });

for (const sample of SAMPLES.signed)
  inLanguage(
    `the address that ${sample.tab} signs answers with the card, and a changed one does not`,
    sample,
    async () => {
      const { account } = await testAccount(api, { name: sample.tab });
      const { record } = await createKey(api, {
        accountId: account.id,
        environment: "test",
        name: "signs",
        by: null,
      });
      const { secret } = await makeSigningSecret(api, record);
      const child = await start(sample, { CARDPRESS_KEY_ID: record.id, CARDPRESS_SIGNING_SECRET: secret });
      const [out, err] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      expect({ code: await child.exited, err }).toMatchObject({ code: 0 });
      const picture = await fetch(out.trim());
      expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
      expect((await fetch(out.trim().replace("=87", "=99"))).status).toBe(403);
    },
  );

const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const old = `whsec_${Buffer.alloc(32, 8).toString("base64")}`;
const body = JSON.stringify({ type: "image.completed", data: { image_id: "img_1", name: "Zoë" } });
const signed = (secrets: string[], ageMs = 0) =>
  webhookHeaders({ id: "evt_1", timestampMs: Date.now() - ageMs, body }, secrets);

for (const sample of SAMPLES.webhook)
  inLanguage(
    `the receiver in ${sample.tab} takes what the service signs, and nothing else`,
    sample,
    async () => {
      const port = await freePort("127.0.0.1");
      const child = await start(sample, { CARDPRESS_WEBHOOK_SECRET: secret, PORT: String(port) }, port);
      const post = (headers: Record<string, string>, text = body) =>
        fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body: text }).then(
          ({ status }) => status,
        );
      try {
        await answering(() => post(signed([secret])), child.exited);
        expect(await post(signed([secret]))).toBe(204);
        expect(await post(signed([old, secret]))).toBe(204);
        expect(await post(signed([secret]), body.replace("img_1", "img_2"))).toBe(401);
        expect(await post(signed([old]))).toBe(401);
        expect(await post(signed([secret], 301_000))).toBe(401);
        expect(await post({ ...signed([secret]), "webhook-id": "evt_2" })).toBe(401);
        expect(await post({})).toBe(401);
      } finally {
        child.kill();
        await child.exited;
      }
    },
  );

for (const sample of SAMPLES.webhook)
  inLanguage(`the receiver in ${sample.tab} takes nothing without a secret`, sample, async () => {
    const port = await freePort("127.0.0.1");
    const child = await start(sample, { CARDPRESS_WEBHOOK_SECRET: "", PORT: String(port) }, port);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const signature = new Bun.CryptoHasher("sha256", "")
      .update(`evt_1.${timestamp}.${body}`)
      .digest("base64");
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": timestamp,
      "webhook-signature": `v1,${signature}`,
    };
    const post = () => fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
    try {
      // It ends at once, or refuses all calls.
      const answered = answering(post, child.exited).then(post);
      const status = await answered.then(
        (answer) => answer.status,
        () => "ended",
      );
      expect([500, "ended"]).toContain(status);
    } finally {
      child.kill();
      await child.exited;
    }
  });

/** Waits until something listens, or the program has ended. */
async function answering(ask: () => Promise<unknown>, ended: Promise<number>): Promise<void> {
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const answered = await ask().then(
      () => true,
      () => false,
    );
    if (answered) return;
    await Bun.sleep(50);
  }
  throw new Error("the receiver ended before it answered");
}
