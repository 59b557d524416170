import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import {
  imageRequest,
  photoServer,
  post,
  testAccount,
  testConfig,
  testFolder,
  untilEnded,
} from "../harness.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");
const CREATES = 5;

/** Whether this machine has strace and lets it look into our own processes. */
const canTrace =
  Bun.which("strace") !== null && Bun.spawnSync(["strace", "-o", "/dev/null", "true"]).exitCode === 0;
if (!canTrace) console.log("No strace here: the test that counts the syncs before a 202 is skipped.");

test.skipIf(!canTrace)(
  "between a create and its 202 the photo and the write-ahead log are synced to the disk",
  async () => {
    const folder = testFolder();
    const workspace = await openWorkspace(testConfig(folder.dir), quietLog());
    const { liveKey } = await testAccount(workspace, { credits: 100 });
    await workspace.store.close();
    const photos = photoServer();
    const server = Bun.spawn([process.execPath, MAIN, "serve"], {
      env: {
        ...process.env,
        CARDPRESS_DATA_DIR: folder.dir,
        CARDPRESS_PORT: "0",
        CARDPRESS_RENDER_WORKERS: "1",
        CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin,
      },
      stdout: "pipe",
      stderr: "ignore",
    });
    const address = await lineWith(server.stdout, /"address":"([^"]+)"/);
    const create = async (photo: string) => {
      const body = imageRequest({
        player: { source_image_url: photos.url(photo) },
        style: { width: 512, height: 512 },
      });
      const answer = await post(address, liveKey, body);
      expect(answer.status).toBe(202);
      const { data } = (await answer.json()) as { data: { image_id: string } };
      // Nothing else commits while the next one is under way.
      await untilEnded(address, liveKey, data.image_id);
    };
    await create("astronaut.png");
    // Attached late, so that the render worker and its browser, which are there by now, are left alone.
    const trace = join(folder.dir, "trace");
    const calls = "trace=fsync,fdatasync,read,recvfrom,recvmsg,write,writev,sendto,sendmsg";
    const strace = Bun.spawn(
      ["strace", "-f", "-y", "-s", "48", "-e", calls, "-o", trace, "-p", `${server.pid}`],
      {
        stdout: "ignore",
        stderr: "pipe",
      },
    );
    await lineWith(strace.stderr, /(attached)/);
    for (let n = 0; n < CREATES; n++) await create(n === 0 ? "camera.png" : "astronaut.png");
    strace.kill("SIGINT");
    await strace.exited;
    server.kill("SIGTERM");
    await server.exited;
    await photos.stop();

    expect(existsSync(trace)).toBe(true);
    const spans = readFileSync(trace, "utf8")
      .split(/"POST \/v1\/images/)
      .slice(1);
    expect(spans).toHaveLength(CREATES);
    const synced = spans.map((span) => {
      const [before = "", after] = span.split(/"HTTP\/1\.1 202/);
      expect(after).toBeDefined();
      return [...before.matchAll(/f(?:data)?sync\(\d+<([^>]*)>/g)].map(([, path = ""]) => path);
    });
    for (const paths of synced)
      expect(paths.filter((path) => path.endsWith("cardpress.db-wal")).length).toBeGreaterThan(0);
    // The first of them brought a new photo: its bytes, and the folder that names it.
    expect(synced[0]?.some((path) => path.includes("/sources/"))).toBe(true);
    console.log(`Syncs before each 202: ${synced.map((paths) => paths.length).join(", ")}`);
    await folder.remove();
  },
);

/** Reads until a line matches, and keeps reading so that the writer never blocks. */
function lineWith(stream: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const found = Promise.withResolvers<string>();
  void (async () => {
    let text = "";
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) {
      text = (text + new TextDecoder().decode(chunk)).slice(-10_000);
      const match = pattern.exec(text)?.[1];
      if (match !== undefined) found.resolve(match);
    }
    found.reject(new Error(`it ended without ${pattern}: ${text}`));
  })();
  return found.promise;
}
