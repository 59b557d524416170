import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { folderBlobs } from "../../src/blobs/folder-blobs.ts";
import { Refusal } from "../../src/core/errors.ts";
import { MAX_BADGE_BYTES, MAX_SOURCE_BYTES } from "../../src/core/limits.ts";
import {
  createSourceFetcher,
  failureReasonOf,
  type SourceFetcherOptions,
} from "../../src/sources/fetch-source.ts";
import { BUILD } from "../../src/version.ts";
import { animatedWebp, jpeg, png, pngBomb, pngOfDepth, turnedByExif, webp, withScans } from "./pictures.ts";
import { head, serveFiles, serveRaw, type TestServer } from "./servers.ts";

let sourcesDir: string;
/** Blobs whose photos and badges lie in this folder. */
function blobsIn(sources: string) {
  return folderBlobs({ sources, cutouts: "", images: "", placeholders: "", templateFiles: "" });
}
/** Where a source lies in it. */
function pathOf({ sha256 }: { sha256: string }): string {
  return join(sourcesDir, sha256.slice(0, 2), sha256);
}
const servers: TestServer[] = [];
beforeEach(async () => {
  sourcesDir = await mkdtemp(join(tmpdir(), "cardpress-sources-"));
});
afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await rm(sourcesDir, { recursive: true });
});

async function using(starting: Promise<TestServer>): Promise<TestServer> {
  const server = await starting;
  servers.push(server);
  return server;
}

function fetcherFor(server: TestServer, options: Partial<SourceFetcherOptions> = {}) {
  return createSourceFetcher({
    blobs: blobsIn(sourcesDir),
    allowedOrigins: new Set([server.origin]),
    ...options,
  });
}

async function storedFiles(): Promise<string[]> {
  const entries = await readdir(sourcesDir, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

async function expectRefusal(answer: Promise<unknown>, message: string, field = "player.source_image_url") {
  const error = await answer.then(
    () => undefined,
    (cause) => cause,
  );
  if (!(error instanceof Refusal)) throw new Error(`Expected a Refusal, got ${error}`);
  expect(error.code).toBe("UNSUPPORTED_IMAGE_SOURCE");
  expect(error.details?.map((detail) => detail.field)).toEqual([field]);
  expect(error.details?.[0]?.message).toContain(message);
  expect(error.message).toContain(field);
  expect(await storedFiles()).toEqual([]);
}

/** Serves the bytes as a photo whose name and type say nothing true, and fetches it. */
async function photoOf(bytes: Uint8Array) {
  const server = await using(serveFiles({ "/photo.txt": bytes }));
  return fetcherFor(server).fetchPhoto(`${server.origin}/photo.txt`);
}

describe("a photo", () => {
  test.each([
    ["image/jpeg", () => jpeg(300, 240)],
    ["image/jpeg", () => jpeg(300, 240, true)],
    ["image/png", async () => png(300, 240)],
    ["image/webp", () => webp(300, 240)],
  ] as const)("is known as %s by its content and kept under its hash", async (contentType, make) => {
    const bytes = await make();
    const source = await photoOf(bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const path = pathOf({ sha256 });
    expect(source).toEqual({ sha256, bytes: bytes.length, width: 300, height: 240, contentType });
    expect(new Uint8Array(await readFile(path))).toEqual(new Uint8Array(bytes));
    expect(await storedFiles()).toEqual([path]);
  });

  test("has the size people see, after EXIF orientation", async () => {
    expect(await photoOf(turnedByExif(await jpeg(300, 240)))).toMatchObject({ width: 240, height: 300 });
  });

  test("may be just large enough, carry bytes behind its end, and come by a redirect", async () => {
    const bytes = Buffer.concat([await jpeg(200, 201), Buffer.from("a phone's video")]);
    const server = await using(
      serveRaw((socket, request) => {
        if (request.startsWith("GET /old")) return socket.end(head(301, { Location: "/new" }));
        socket.write(head(200, { "Content-Encoding": "identity" }));
        socket.end(bytes);
      }),
    );
    const source = await fetcherFor(server).fetchPhoto(`${server.origin}/old`);
    expect(source).toMatchObject({ width: 200, height: 201, bytes: bytes.length });
  });

  test("is asked for under the program's own name", async () => {
    const server = await using(serveFiles({ "/a": png(200, 200) }));
    await fetcherFor(server, { docsUrl: "https://cards.example/docs" }).fetchPhoto(`${server.origin}/a`);
    expect(server.requests[0]).toContain(`User-Agent: cardpress/${BUILD} (+https://cards.example/docs)\r\n`);
    expect(server.requests[0]).toContain("Accept: image/jpeg, image/png, image/webp");
  });
});

describe("refused by content, with what was found and what to do", () => {
  const isoMedia = (brand: string) => Buffer.from(`\0\0\0\x20ftyp${brand}\0\0\0\0mif1`, "latin1");
  const text = (content: string) => Buffer.from(content);
  test.each([
    [
      "GIF",
      Buffer.from("GIF89a\x2c\x01\x2c\x01\x80\0\0", "latin1"),
      "It is a GIF; JPEG, PNG or WebP is needed. Convert it",
    ],
    ["AVIF", isoMedia("avif"), "It is an AVIF"],
    ["HEIC", isoMedia("heic"), "It is a HEIC"],
    ["HEIF", isoMedia("mif1"), "It is a HEIC"],
    ["video", isoMedia("isom"), "It is a video"],
    ["TIFF", Buffer.from("II*\0\x08\0\0\0", "latin1"), "It is a TIFF"],
    ["PDF", text("%PDF-1.7"), "It is a PDF"],
    ["SVG", text('<?xml version="1.0"?>\n<!-- x -->\n<svg xmlns="x"/>'), "It is an SVG"],
    ["web page", text("\ufeff\n <!DOCTYPE html><title>Sign in</title>"), "It is a web page, not a picture"],
    ["web page with a drawing", text("<html><body><svg /></body></html>"), "It is a web page, not a picture"],
    ["JSON", text('{"error":"no such photo"}'), "It is text, not a picture"],
    ["nothing", text(""), "It is empty"],
    ["noise", text("JFIF"), "It is not a JPEG, PNG or WebP"],
    ["a WebP header alone", text("RIFF....WEBP"), "header is damaged"],
    ["animated WebP", animatedWebp(300, 300), "animated WebP"],
  ])("%s", async (_, bytes, message) => {
    await expectRefusal(photoOf(bytes), message);
  });
});

describe("refused by size in pixels", () => {
  test("199 pixels on the short side", async () => {
    await expectRefusal(
      photoOf(png(400, 199)),
      "It has 400 x 199 pixels; at least 200 are needed on the short side.",
    );
  });

  test.each([
    [8_000, 5_001, "(40.1 megapixels); the limit is 40 megapixels"],
    [30_000, 30_000, "(900 megapixels)"],
    [0x7fffffff, 0x7fffffff, "impossible size"],
  ])("a header that claims %d x %d", async (width, height, message) => {
    await expectRefusal(photoOf(pngBomb(width, height)), message);
  });

  test("a JPEG of more scans than any camera writes", async () => {
    await expectRefusal(photoOf(withScans(await jpeg(300, 240), 101)), "more than 100 scans");
  });
});

describe("refused by size in bytes", () => {
  const oversized = (bytes: number) =>
    serveRaw((socket) => socket.write(head(200, { "Content-Length": bytes })));
  const endless = () =>
    serveRaw((socket) => {
      socket.write(head(200));
      const pour = () => {
        while (socket.writable && socket.write(Buffer.alloc(1 << 20)));
      };
      socket.on("drain", pour);
      pour();
    });

  test("by the announced length, before the body", async () => {
    const server = await using(oversized(MAX_SOURCE_BYTES + 1));
    await expectRefusal(fetcherFor(server).fetchPhoto(server.origin), "larger than 15 MB. It has 15.1 MB.");
    await server.firstClosed;
  });

  test("by what arrives, where nothing was announced", async () => {
    const server = await using(endless());
    await expectRefusal(
      fetcherFor(server).fetchPhoto(server.origin),
      "The photo is larger than 15 MB. Make it smaller",
    );
    await server.firstClosed;
  });

  test("a badge has its own limits and its own field", async () => {
    const field = "branding.club_badge_url";
    const heavy = await using(oversized(MAX_BADGE_BYTES + 1));
    await expectRefusal(fetcherFor(heavy).fetchBadge(heavy.origin), "The badge is larger than 5 MB", field);
    const server = await using(
      serveFiles({
        "/15": png(15, 40),
        "/svg": Buffer.from("<svg/>"),
        "/16": png(16, 16),
        "/large": await jpeg(2001, 2000),
        "/scans": withScans(await jpeg(300, 240), 21),
        "/depth": pngOfDepth(3, 64),
        "/short": pngBomb(64, 64),
      }),
    );
    const fetcher = fetcherFor(server);
    await expectRefusal(fetcher.fetchBadge(`${server.origin}/15`), "at least 16", field);
    await expectRefusal(fetcher.fetchBadge(`${server.origin}/svg`), "Export it as PNG", field);
    await expectRefusal(fetcher.fetchBadge(`${server.origin}/large`), "the limit is 4 megapixels", field);
    await expectRefusal(fetcher.fetchBadge(`${server.origin}/scans`), "more than 20 scans", field);
    for (const broken of ["depth", "short"])
      await expectRefusal(fetcher.fetchBadge(`${server.origin}/${broken}`), "damaged inside", field);
    expect(await fetcher.fetchBadge(`${server.origin}/16`)).toMatchObject({
      width: 16,
      contentType: "image/png",
    });
  });
});

test("each refusal has the reason that programs read", async () => {
  const server = await using(
    serveFiles({
      "/small": png(199, 300),
      "/wide": png(8_000, 5_001),
      "/text": Buffer.from("not a picture"),
      "/good": png(300, 300),
    }),
  );
  const heavy = await using(
    serveRaw((socket) => socket.write(head(200, { "Content-Length": MAX_SOURCE_BYTES + 1 }))),
  );
  const reason = (answer: Promise<unknown>) => answer.then(() => "none", failureReasonOf);
  const photo = (path: string, of = server) => reason(fetcherFor(of).fetchPhoto(of.origin + path));
  const badge = (path: string) => reason(fetcherFor(server).fetchBadge(server.origin + path));
  const picture = (path: string) =>
    reason(fetcherFor(server).fetchPicture("fields.sponsor", server.origin + path));
  expect(await photo("/good")).toBe("none");
  expect(await photo("/missing")).toBe("photo_unreachable");
  expect(await reason(fetcherFor(server).fetchPhoto("https://127.0.0.1/"))).toBe("photo_unreachable");
  expect(await photo("/small")).toBe("photo_too_small");
  expect(await photo("/wide")).toBe("photo_too_large");
  expect(await photo("", heavy)).toBe("photo_too_large");
  expect(await photo("/text")).toBe("photo_undecodable");
  expect(await badge("/missing")).toBe("badge_unreachable");
  expect(await badge("/text")).toBe("badge_unusable");
  expect(await picture("/good")).toBe("none");
  expect(await picture("/missing")).toBe("picture_unreachable");
  expect(await picture("/wide")).toBe("picture_unusable");
});

describe("refused by how the server answers", () => {
  test.each([
    [404, "The address answered 404. Check that it is public and opens in a private browser window."],
    [401, "answered 401. Check that it is public"],
    [206, "answered 206"],
    [304, "answered 304"],
    [503, "answered 503. Try again later"],
  ])("%d", async (status, message) => {
    // The body is larger than allowed: the status is what matters.
    const server = await using(serveRaw((socket) => socket.write(head(status, { "Content-Length": 1e9 }))));
    await expectRefusal(fetcherFor(server).fetchPhoto(server.origin), message);
  });

  test("compressed, although asked not to", async () => {
    const bytes = gzipSync(png(300, 240));
    const server = await using(
      serveRaw((socket) => {
        socket.write(head(200, { "Content-Encoding": "gzip", "Content-Length": bytes.length }));
        socket.end(bytes);
      }),
    );
    await expectRefusal(fetcherFor(server).fetchPhoto(server.origin), "Switch Content-Encoding off");
  });

  test("too slow, cut off, or in a circle", async () => {
    const silent = await using(serveRaw(() => {}));
    await expectRefusal(
      fetcherFor(silent, { timeoutMs: 80 }).fetchPhoto(silent.origin),
      "within 0.08 seconds. Host the photo",
    );
    const broken = await using(serveRaw((socket) => socket.end(`${head(200, { "Content-Length": 9 })}x`)));
    await expectRefusal(fetcherFor(broken).fetchPhoto(broken.origin), "broke off");
    const circle = await using(serveRaw((socket) => socket.end(head(302, { Location: "/" }))));
    await expectRefusal(fetcherFor(circle).fetchPhoto(circle.origin), "more than 3 times");
    expect(circle.requests).toHaveLength(4);
  });
});

test("an address that is not public gets one message, whatever is there", async () => {
  const open = await using(serveRaw((socket) => socket.end(head(200))));
  const messages = new Set<string>();
  const hosts = [
    `127.0.0.1:${open.port}`,
    "127.0.0.1:1",
    "169.254.169.254",
    "localhost",
    "db.internal",
    "db.company.example",
  ];
  for (const host of hosts) {
    const fetcher = createSourceFetcher({
      blobs: blobsIn(sourcesDir),
      allowedOrigins: new Set(),
      resolve: async () => ["10.1.2.3"],
    });
    const error = await fetcher.fetchPhoto(`https://${host}/a.jpg`).catch((cause) => cause);
    messages.add(error.message);
  }
  expect([...messages]).toEqual([
    "The photo in player.source_image_url cannot be used. The host of this address was not found or is not on the public internet. Check its spelling, and use an address that opens in a private browser window from anywhere.",
  ]);
  expect(open.requests).toEqual([]);
});

describe("storage", () => {
  test("the same photo again makes no second file, and the first one young again", async () => {
    const server = await using(serveFiles({ "/a": png(300, 240), "/b": png(300, 240) }));
    const fetcher = fetcherFor(server);
    const path = pathOf(await fetcher.fetchPhoto(`${server.origin}/a`));
    const { ino } = await stat(path);
    await utimes(path, 1_000, 1_000);
    expect(pathOf(await fetcher.fetchPhoto(`${server.origin}/b`))).toBe(path);
    const again = await stat(path);
    expect(again.ino).toBe(ino);
    expect(again.mtimeMs).toBeGreaterThan(1_000_000);
    expect(await storedFiles()).toEqual([path]);
  });

  test("a file that lost its end is written anew", async () => {
    const server = await using(serveFiles({ "/a": png(300, 240) }));
    const fetcher = fetcherFor(server);
    const source = await fetcher.fetchPhoto(`${server.origin}/a`);
    const path = pathOf(source);
    await writeFile(path, "half");
    await fetcher.fetchPhoto(`${server.origin}/a`);
    expect((await stat(path)).size).toBe(source.bytes);
  });

  test("the same photo many times at once is one whole file", async () => {
    const photo = png(300, 240);
    const server = await using(serveFiles({ "/a": photo }));
    const fetcher = fetcherFor(server);
    const sources = await Promise.all(
      Array.from({ length: 40 }, () => fetcher.fetchPhoto(`${server.origin}/a`)),
    );
    const paths = [...new Set(sources.map(pathOf))];
    expect(paths).toHaveLength(1);
    expect(await storedFiles()).toEqual(paths);
    expect((await stat(paths[0] ?? "")).size).toBe(photo.length);
  });

  test("a folder that cannot be written is the service's fault, not the photo's", async () => {
    const file = join(sourcesDir, "a-file");
    await writeFile(file, "");
    const server = await using(serveFiles({ "/a": png(300, 240) }));
    const fetcher = fetcherFor(server, { blobs: blobsIn(join(file, "sources")) });
    const error = await fetcher.fetchPhoto(`${server.origin}/a`).catch((cause) => cause);
    expect(error).toBeInstanceOf(Refusal);
    expect([error.code, error.retryAfterSeconds]).toEqual(["SERVICE_OVERLOADED", 60]);
    expect(error.cause.code).toBe("ENOTDIR");
    expect(error.message).not.toContain(sourcesDir);
  });

  test("a disk that fills up in the middle leaves no half file", async () => {
    const script = `
      import { folderBlobs } from ${JSON.stringify(`${import.meta.dir}/../../src/blobs/folder-blobs.ts`)};
      import { storeSource } from ${JSON.stringify(`${import.meta.dir}/../../src/sources/source-files.ts`)};
      await storeSource(folderBlobs({ sources: ${JSON.stringify(sourcesDir)} }), new Uint8Array(1 << 20)).catch((error) => console.log(error.code, error.cause.code));`;
    // A limit on file sizes makes the write fail half-way, as a full disk does.
    const limited = ["sh", "-c", 'ulimit -f 64; exec "$0" -e "$1"', process.execPath, script];
    const child = Bun.spawn(limited, { stdout: "pipe", stderr: "pipe" });
    expect((await new Response(child.stdout).text()).trim()).toBe("SERVICE_OVERLOADED EFBIG");
    expect(await storedFiles()).toEqual([]);
  });
});

/** Runs a script in a separate process, whose last lines find no file descriptor left. */
async function withoutDescriptors(first: string, last: string): Promise<string> {
  const script = `
    import { closeSync, openSync } from "node:fs";
    import { folderBlobs } from ${JSON.stringify(`${import.meta.dir}/../../src/blobs/folder-blobs.ts`)};
    import { createSourceFetcher } from ${JSON.stringify(`${import.meta.dir}/../../src/sources/fetch-source.ts`)};
    const report = (error) => console.log(error.code, error.retryAfterSeconds, error.details?.length);
    ${first}
    const opened = [];
    try { for (;;) opened.push(openSync("/dev/null", "r")); } catch {}
    ${last}
    closeSync(opened.pop());`;
  const limited = ["sh", "-c", 'ulimit -n 48; exec "$0" -e "$1"', process.execPath, script];
  const child = Bun.spawn(limited, { stdout: "pipe", stderr: "pipe" });
  return (await new Response(child.stdout).text()).trim();
}

test.each(["127.0.0.1", "photos.example", "localhost"])(
  "a lack of descriptors is reported as our fault, not as that of a photo at %s",
  async (host) => {
    const server = await using(serveFiles({ "/a": png(300, 240) }));
    const origin = `http://${host}:${server.port}`;
    const fetcher = `const fetcher = createSourceFetcher({
      blobs: folderBlobs({ sources: ${JSON.stringify(sourcesDir)} }), allowedOrigins: new Set([${JSON.stringify(origin)}]) });
      const photo = ${JSON.stringify(`${origin}/a`)};`;
    expect(await withoutDescriptors(fetcher, "await fetcher.fetchPhoto(photo).catch(report);")).toBe(
      "SERVICE_OVERLOADED 15 undefined",
    );
    expect(server.requests).toEqual([]);
  },
);

test("a refused connection is the host's fault as long as there are descriptors", async () => {
  const server = await serveFiles({});
  server.close();
  await expectRefusal(fetcherFor(server).fetchPhoto(`${server.origin}/a`), "No connection");
});
