import { afterAll, expect, test } from "bun:test";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { keepTemplate } from "../../../src/app/images/keep-template.ts";
import { sweepFiles } from "../../../src/app/operations/sweep.ts";
import { type Bucket, openBucket } from "../../../src/blobs/bucket.ts";
import { bucketBlobs } from "../../../src/blobs/bucket-blobs.ts";
import { blobPath, folderBlobs } from "../../../src/blobs/folder-blobs.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../src/core/time.ts";
import { emptyBucket, stopEmulator } from "../../buckets.ts";
import { testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

afterAll(stopEmulator);

/** The bucket, and what was asked of it. */
function counted(bucket: Bucket): { bucket: Bucket; asked: string[] } {
  const asked: string[] = [];
  const noting = (name: "put" | "head" | "copy") => ({
    [name]: (key: string, ...rest: [never]) => {
      asked.push(`${name} ${key}`);
      return bucket[name](key, ...rest);
    },
  });
  return { asked, bucket: { ...bucket, ...noting("put"), ...noting("head"), ...noting("copy") } };
}

test("a bucket is asked for a template's files once an hour by each process, not at every create", async () => {
  const workspace = await testWorkspace();
  const { account } = await testAccount(workspace, { credits: 50 });
  const { digest } = await workspace.templates.current("club_card");
  const { bucket, asked } = counted(await openBucket(await emptyBucket()));
  const node = () => ({
    ...workspace,
    blobs: bucketBlobs(bucket, {
      cache: join(workspace.folder.cache, "blobs"),
      cutouts: folderBlobs(workspace.folder),
    }),
  });
  const [one, other] = [node(), node()];
  const askedBy = async (who: typeof one, creates = 5) => {
    asked.length = 0;
    for (let n = 0; n < creates; n++) await acceptLive(who, account.id);
    return asked
      .filter((request) => request.endsWith(`template/${digest}`))
      .map((each) => each.split(" ")[0]);
  };
  expect(await askedBy(one)).toEqual(["head", "put"]);
  expect(await askedBy(one)).toEqual([]);
  expect(await askedBy(other)).toEqual(["head"]);
  workspace.clock.advance(HOUR_MS - 1);
  expect(await askedBy(one)).toEqual([]);
  workspace.clock.advance(1);
  expect(await askedBy(one)).toEqual(["head"]);
  await workspace.close();
});

test("what a failed renewal left undone is done by the next create", async () => {
  const workspace = await testWorkspace();
  const loaded = await workspace.templates.current("club_card");
  const put = () => Promise.reject(new Error("the bucket is away"));
  const { clock, blobs } = workspace;
  let isAway = true;
  const faulty: typeof blobs = { ...blobs, put: (...what) => (isAway ? put() : blobs.put(...what)) };
  await expect(keepTemplate({ blobs: faulty, clock }, loaded)).rejects.toThrow("the bucket is away");
  isAway = false;
  await keepTemplate({ blobs: faulty, clock }, loaded);
  expect(await blobs.stat("template", loaded.digest)).not.toBeNull();
  await workspace.close();
});

test("a template in use is never swept, however old its files; one that nobody uses goes after a week", async () => {
  const workspace = await testWorkspace();
  const { clock, folder, blobs } = workspace;
  clock.jump(Date.now() - clock.now());
  const loaded = await workspace.templates.current("club_card");
  const path = blobPath(folder, "template", loaded.digest);
  // The files' times follow the test's clock.
  const timed: typeof blobs = {
    ...blobs,
    refresh: async (...what) => {
      const found = await blobs.refresh(...what);
      if (found) utimesSync(path, clock.now() / 1000, clock.now() / 1000);
      return found;
    },
  };
  const used = { ...workspace, blobs: timed };
  for (const until = clock.now() + 20 * DAY_MS; clock.now() < until; clock.advance(50 * MINUTE_MS)) {
    await keepTemplate(used, loaded);
    await sweepFiles(used);
    expect(await blobs.stat("template", loaded.digest)).not.toBeNull();
  }
  clock.advance(8 * DAY_MS);
  await sweepFiles(used);
  expect(await blobs.stat("template", loaded.digest)).toBeNull();
  await workspace.close();
});
