import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { loadTemplate } from "../../src/templates/load.ts";
import {
  imageRequest,
  ownTemplate,
  photoServer,
  post,
  type TestFolder,
  testFolder,
  untilEnded,
} from "../harness.ts";
import { runCommandWith } from "./run.ts";

// A service whose operator edits the template while a card waits, and whose process is killed meanwhile.

let folder: TestFolder;
let templatesDir: string;
const photos = photoServer();
const running = new Set<Bun.Subprocess>();
beforeAll(async () => {
  folder = testFolder();
  templatesDir = join(folder.dir, "own-templates");
  await ownTemplate(templatesDir, "season_card");
});
afterAll(async () => {
  for (const child of running) child.kill("SIGKILL");
  await photos.stop();
  await folder.remove();
});

const dataDir = () => folder.dir;
const settings = () => ({
  CARDPRESS_ALLOW_ROOT: "1",
  CARDPRESS_RENDER_WORKERS: "1",
  CARDPRESS_TEMPLATES_DIR: templatesDir,
  CARDPRESS_PRESETS: "season_card",
  CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
});

/** Starts the service and resolves with its address once it listens. */
async function serve(): Promise<{ child: Bun.Subprocess; baseUrl: string }> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts"), "serve"], {
    env: { ...process.env, ...settings(), CARDPRESS_DATA_DIR: dataDir(), CARDPRESS_PORT: "0" },
    stdout: "pipe",
    stderr: "inherit",
  });
  running.add(child);
  let log = "";
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      log += chunk;
      const [, address] = /"listening".*?(http:\/\/127\.0\.0\.1:\d+)/.exec(log) ?? [];
      if (address) resolve(address);
    }
    running.delete(child);
    reject(new Error(`serve ended: ${log.slice(-2000)}`));
  })();
  return { child, baseUrl: await promise };
}

const command = async (...args: string[]) => runCommandWith(settings(), dataDir(), ...args, "--json");
const edit = (mark: string) =>
  ownTemplate(templatesDir, "season_card", (css) => `${css}\n.skill { opacity: 0.${mark} }`);

test("a card that waited through kill -9 and an edit is drawn as it was asked for, its receipt says how, and it can be made again to the byte", async () => {
  expect((await command("migrate")).code).toBe(0);
  const created = (
    await command("account", "create", "--name", "A", "--tier", "scale", "--credits", "9")
  ).json();
  const live = ["key", "create", "--account", created.account_id, "--environment", "live"];
  const { key } = (await command(...live)).json();
  const first = await serve();
  const { digest } = await loadTemplate(join(templatesDir, "season_card"));
  const body = imageRequest({
    style: { preset: "season_card", width: 512, height: 640 },
    player: { source_image_url: photos.url("unsplash_man.jpg") },
  });
  const accepted = await post(first.baseUrl, key, body);
  expect(accepted.status).toBe(202);
  const { data } = (await accepted.json()) as { data: { image_id: string } };
  first.child.kill("SIGKILL");
  await first.child.exited;
  await edit("5");
  const second = await serve();
  const ended = await untilEnded(second.baseUrl, key, data.image_id);
  expect(ended.status).toBe("completed");
  const delivered = new Uint8Array(await (await fetch(ended.result.image_url)).arrayBuffer());

  const shown = (await command("image", "show", data.image_id)).json();
  expect(shown).toMatchObject({
    image_id: data.image_id,
    status: "completed",
    template: { name: "season_card", version: "1.0.0", digest },
    picture: {
      width: 512,
      height: 640,
      bytes: delivered.length,
      sha256: new Bun.CryptoHasher("sha256").update(delivered).digest("hex"),
    },
    tools: {
      chromium: expect.stringContaining("Chrome"),
      fonts: expect.any(String),
      vision: expect.any(String),
    },
    timings_ms: { capture: expect.any(Number) },
  });
  expect(shown.source_sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(shown.framing.head.width).toBeGreaterThan(0);

  await edit("1");
  const file = join(folder.dir, "again.png");
  const again = await command("image", "show", data.image_id, "--rerender", file);
  expect(again.json().rerendered).toMatchObject({ identical: true, sha256: shown.picture.sha256 });
  expect(Buffer.compare(await Bun.file(file).bytes(), delivered)).toBe(0);

  const listed = (await command("image", "list")).json();
  expect(listed).toMatchObject([{ image_id: data.image_id, status: "completed", template: "season_card" }]);
  const unknown = await command("image", "show", "img_none");
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("There is no image img_none")]);
  second.child.kill("SIGTERM");
  await second.child.exited;
});
