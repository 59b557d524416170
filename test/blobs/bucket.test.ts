import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { type BucketSettings, openBucket } from "../../src/blobs/bucket.ts";
import { bucketBlobs } from "../../src/blobs/bucket-blobs.ts";
import { folderBlobs } from "../../src/blobs/folder-blobs.ts";
import { withDeadlineBudget } from "../../src/core/patience.ts";
import { StorageUnavailable } from "../../src/core/storage-unavailable.ts";
import { openDataFolder } from "../../src/system/data-folder.ts";
import { emptyBucket, stopEmulator } from "../buckets.ts";
import { type TestFolder, testFolder } from "../harness.ts";

// What is special about a bucket: what every way to keep blobs promises is in blobs.test.ts.

const NAME = "img_1-Xy.png";
const open: TestFolder[] = [];
afterEach(async () => {
  for (const folder of open.splice(0)) await folder.remove();
});
afterAll(stopEmulator);

describe("a bucket", () => {
  const settings = (endpoint: string): BucketSettings => ({
    endpoint,
    region: "us-east-1",
    bucket: "cards",
    accessKeyId: "testkey",
    secretAccessKey: "testsecret",
  });
  /** What each answer of a storage about an object has. */
  const headers = { ETag: '"v"' };
  /** A storage with prescribed answers, which counts its requests. */
  function storage(answer: (asked: number) => Response | Promise<Response>) {
    let asked = 0;
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => answer(++asked) });
    return { url: `http://127.0.0.1:${server.port}`, asked: () => asked, stop: () => server.stop(true) };
  }

  test("that fails twice is asked a third time, and nobody notices", async () => {
    const { url, asked, stop } = storage((n) => new Response(null, { status: n < 3 ? 503 : 200, headers }));
    await (await openBucket(settings(url))).put("source/ab", new Uint8Array([1]));
    expect(asked()).toBe(3);
    await stop();
  });

  test("that goes on failing, gives no answer or cannot be reached is storage that cannot be used now", async () => {
    const failing = storage(() => new Response(null, { status: 500 }));
    const silent = storage(() => new Promise<Response>(() => {}));
    for (const url of [failing.url, silent.url, "http://127.0.0.1:1"]) {
      const bucket = await openBucket(settings(url), { tryMs: 100 });
      await expect(bucket.head("source/ab")).rejects.toThrow(StorageUnavailable);
      expect(await bucketBlobs(bucket, await bucketOptions()).isWritable()).toBe(false);
    }
    await failing.stop();
    await silent.stop();
  });

  test("of which an answer breaks off or stalls is read again, and never half", async () => {
    const whole = new Uint8Array(1_000).fill(7);
    /** Promises all of the bytes, and sends a part of them. */
    const part = (end: (socket: Bun.Socket) => void) =>
      Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          data: (socket) => {
            asked += 1;
            const isLast = asked === 3;
            socket.write('HTTP/1.1 200 OK\r\nETag: "v"\r\nContent-Length: 1000\r\n\r\n');
            socket.write(isLast ? whole : whole.slice(500));
            if (!isLast) end(socket);
          },
        },
      });
    let asked = 0;
    for (const end of [(socket: Bun.Socket) => void socket.end(), () => {}]) {
      asked = 0;
      const server = part(end);
      const url = `http://127.0.0.1:${server.port}`;
      const options = await bucketOptions();
      const blobs = bucketBlobs(await openBucket(settings(url), { tryMs: 200 }), options);
      expect(await Bun.file(await blobs.local("source", "ab")).bytes()).toEqual(whole);
      expect(asked).toBe(3);
      asked = -10;
      await expect(blobs.open("source", "ab")).rejects.toThrow(StorageUnavailable);
      server.stop(true);
    }
  });

  test("of which each answer breaks off or stalls serves nothing to a viewer, rather than a part", async () => {
    const ends: [string, (socket: Bun.Socket) => void][] = [
      ["Content-Length: 300000\r\n\r\n", (socket) => void socket.end()],
      ["Content-Length: 300000\r\n\r\n", () => {}],
      ["Transfer-Encoding: chunked\r\n\r\n30d40\r\n", (socket) => void socket.end()],
    ];
    for (const [head, end] of ends) {
      const half = Bun.listen({
        hostname: "127.0.0.1",
        port: 0,
        socket: {
          data: (socket) => {
            socket.write(`HTTP/1.1 200 OK\r\nETag: "v"\r\n${head}`);
            socket.write(new Uint8Array(150_000));
            end(socket);
          },
        },
      });
      const bucket = await openBucket(settings(`http://127.0.0.1:${half.port}`), { tryMs: 200 });
      const blobs = bucketBlobs(bucket, await bucketOptions());
      const asked = new Request("http://localhost/cdn/picture");
      await expect(blobs.serve("picture", NAME, asked, {})).rejects.toThrow(StorageUnavailable);
      half.stop(true);
    }
  });

  test("is not believed that something is kept, found or copied by an answer that names no ETag", async () => {
    const pages = ["", "<html>Back soon</html>"];
    for (const page of pages) {
      const { url, stop } = storage(() => new Response(page));
      const bucket = await openBucket(settings(url));
      await expect(bucket.put("picture/ab", new Uint8Array([1]))).rejects.toThrow(StorageUnavailable);
      await expect(bucket.read("source/ab")).rejects.toThrow(StorageUnavailable);
      await expect(bucket.head("source/ab")).rejects.toThrow(StorageUnavailable);
      await expect(bucket.copy("source/ab", "source/ab")).rejects.toThrow(StorageUnavailable);
      const blobs = bucketBlobs(bucket, await bucketOptions());
      const viewed = new Request("http://localhost/cdn/picture");
      await expect(blobs.serve("picture", NAME, viewed, {})).rejects.toThrow(StorageUnavailable);
      await stop();
    }
  });

  test("that stalls is waited for no longer than the request it is asked for may wait, all together", async () => {
    const { url, asked, stop } = storage(() => new Promise<Response>(() => {}));
    const bucket = await openBucket(settings(url), { tryMs: 60_000 });
    await withDeadlineBudget(100, async () => {
      await expect(bucket.head("source/ab")).rejects.toThrow(StorageUnavailable);
      await expect(bucket.copy("source/ab", "source/ab")).rejects.toThrow(StorageUnavailable);
    });
    expect(asked()).toBeGreaterThan(0);
    await stop();
  });

  test("whose answers have no length is read all the same", async () => {
    const inParts = () =>
      new ReadableStream({
        start: async (controller) => {
          controller.enqueue(new TextEncoder().encode("half a "));
          await new Promise(setImmediate);
          controller.enqueue(new TextEncoder().encode("photo"));
          controller.close();
        },
      });
    const { url, stop } = storage(() => new Response(inParts(), { headers }));
    expect((await fetch(url)).headers.get("Content-Length")).toBeNull();
    const read = await (await openBucket(settings(url))).read("source/ab");
    expect(new TextDecoder().decode(read)).toBe("half a photo");
    await stop();
  });

  test("that is missing takes nothing and says so", async () => {
    const here = await emptyBucket();
    const missing = await openBucket({ ...here, bucket: `${here.bucket}-not` });
    await expect(missing.put("source/ab", new Uint8Array([1]))).rejects.toThrow(/there is no bucket/);
    await expect(missing.check()).rejects.toThrow(/there is no bucket/);
  });

  async function bucketOptions() {
    const made = testFolder();
    open.push(made);
    return { cache: join(made.dir, "copies"), cutouts: folderBlobs(openDataFolder(made.dir)) };
  }

  test("has copies here in a bounded place: those that nobody asked for longest go, those in use stay", async () => {
    const options = await bucketOptions();
    const blobs = bucketBlobs(await openBucket(await emptyBucket()), { ...options, cacheBytes: 25 });
    for (const name of ["aa", "ab", "ac", "ad"]) await blobs.put("source", name, "0123456789");
    const longAgo = Date.parse("2026-01-01T00:00:00Z") / 1000;
    for (const name of ["aa", "ab"]) {
      const path = await blobs.local("source", name);
      utimesSync(path, longAgo, longAgo);
    }
    await blobs.local("source", "aa");
    await blobs.local("source", "ac");
    const kept = () => readdirSync(join(options.cache, "source")).toSorted();
    expect(kept()).toEqual(["aa", "ac"]);
    await blobs.local("source", "ad");
    expect(kept()).toEqual(["aa", "ac", "ad"]);
    await blobs.remove("source", "aa");
    expect(kept()).toEqual(["ac", "ad"]);
    expect(await Bun.file(await blobs.local("source", "ab")).text()).toBe("0123456789");
  });

  test("writes a photo that is seen again the same day no second time", async () => {
    const bucket = await openBucket(await emptyBucket());
    let copies = 0;
    const copy: typeof bucket.copy = (...keys) => {
      copies += 1;
      return bucket.copy(...keys);
    };
    const blobs = bucketBlobs({ ...bucket, copy }, await bucketOptions());
    await blobs.put("source", "aa", "0123456789");
    for (let seen = 0; seen < 3; seen++) expect(await blobs.refresh("source", "aa", 10)).toBe(true);
    expect(await blobs.refresh("source", "aa", 9)).toBe(false);
    expect(copies).toBe(0);
    const weekLater = bucketBlobs({ ...bucket, copy }, { ...(await bucketOptions()), renewedAfterMs: -1 });
    expect(await weekLater.refresh("source", "aa", 10)).toBe(true);
    expect(copies).toBe(1);
  });

  test("that is full is not writable until it takes a picture again, and is asked by writing only meanwhile", async () => {
    const bucket = await openBucket(await emptyBucket());
    let isFull = true;
    const written: string[] = [];
    const put: typeof bucket.put = async (key, body) => {
      if (isFull) throw new StorageUnavailable(new Error("QuotaExceeded"));
      written.push(key);
      await bucket.put(key, body);
    };
    const blobs = bucketBlobs({ ...bucket, put }, await bucketOptions());
    expect(await blobs.isWritable()).toBe(false);
    isFull = false;
    expect([await blobs.isWritable(), await blobs.isWritable()]).toEqual([true, true]);
    expect(written).toEqual(["probe/picture"]);
    isFull = true;
    await expect(blobs.put("picture", NAME, "drawn")).rejects.toThrow(StorageUnavailable);
    expect(await blobs.isWritable()).toBe(false);
    const left: string[] = [];
    for await (const { key } of bucket.list("")) left.push(key);
    expect(left).toEqual([]);
  });

  test("of which another machine removed a photo keeps neither its copy nor its cutout here", async () => {
    const options = await bucketOptions();
    const settings = await emptyBucket();
    const blobs = bucketBlobs(await openBucket(settings), options);
    const another = bucketBlobs(await openBucket(settings), await bucketOptions());
    const longAgo = Date.parse("2026-01-01T00:00:00Z") / 1000;
    for (const name of ["aa", "ab", "ac"]) {
      await blobs.put("source", name, "a photo");
      await blobs.put("cutout", `${name}-8`, "cut out of it");
      const path = await blobs.local("source", name);
      if (name === "ac") continue; // which is in use here
      utimesSync(path, longAgo, longAgo);
      utimesSync(await blobs.local("cutout", `${name}-8`), longAgo, longAgo);
    }
    for (const name of ["aa", "ac"]) await another.remove("source", name);
    expect(await blobs.tidy(0)).toBe(2);
    expect(readdirSync(join(options.cache, "source")).toSorted()).toEqual(["ab", "ac"]);
    expect([await blobs.stat("cutout", "aa-8"), await blobs.stat("cutout", "ab-8")]).toEqual([
      null,
      { bytes: 13 },
    ]);
  });

  test("lists more names than an answer holds, each once, also while those before are removed", async () => {
    const bucket = await openBucket(await emptyBucket());
    // Upper and lower case, on both sides of the end of a page.
    const names = Array.from({ length: 1_100 }, (_, n) => `picture/${n % 2 === 0 ? "x" : "X"}${n}`);
    for (let n = 0; n < names.length; n += 50)
      await Promise.all(names.slice(n, n + 50).map((name) => bucket.put(name, new Uint8Array([1]))));
    const seen: string[] = [];
    for await (const { key } of bucket.list("picture/")) {
      seen.push(key);
      if (seen.length % 3 === 0) await bucket.remove(key);
    }
    expect(seen.toSorted()).toEqual(names.toSorted());
  });

  test("keeps no cutout: each machine makes its own", async () => {
    const options = await bucketOptions();
    const bucket = await openBucket(await emptyBucket());
    const blobs = bucketBlobs(bucket, options);
    await blobs.put("cutout", "ab12-8", "cut out");
    expect(await bucket.head("cutout/ab12-8")).toBeUndefined();
    expect(await (await options.cutouts.open("cutout", "ab12-8"))?.text()).toBe("cut out");
  });

  test("answers a part that is none with 416, and a HEAD with the length alone", async () => {
    const blobs = bucketBlobs(await openBucket(await emptyBucket()), await bucketOptions());
    await blobs.put("picture", NAME, "0123456789");
    const beyond = new Request("https://cards.example/x", { headers: { Range: "bytes=20-30" } });
    const none = await blobs.serve("picture", NAME, beyond, {});
    expect([none?.status, none?.headers.get("content-range")]).toEqual([416, "bytes */10"]);
    const head = new Request("https://cards.example/x", { method: "HEAD" });
    const served = await blobs.serve("picture", NAME, head, {});
    expect([served?.status, served?.headers.get("content-length"), served?.body]).toEqual([200, "10", null]);
  });
});
