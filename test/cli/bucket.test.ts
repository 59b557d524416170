import { afterAll, expect, test } from "bun:test";
import { emptyBucket, stopEmulator } from "../buckets.ts";
import { testFolder } from "../harness.ts";
import { runCommandWith } from "./run.ts";

afterAll(stopEmulator);

test("an account's bucket is named, tried, shown and removed by command; its JSON has the words of all others, and no secret", async () => {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = await emptyBucket();
  const folder = testFolder();
  const env = { CARDPRESS_EXPORT_ALLOWED_ORIGINS: new URL(endpoint).origin };
  const run = (...args: string[]) => runCommandWith(env, folder.dir, ...args, "--json");
  await run("migrate");
  const account = ["account", "create", "--name", "Rovers", "--tier", "starter", "--credits", "5"];
  const { account_id: id } = (await run(...account)).json();
  const secret = `${folder.dir}/secret.txt`;
  await Bun.write(secret, `${secretAccessKey}\n`);
  const key = ["--bucket", bucket, "--access-key-id", accessKeyId, "--secret-file", secret];
  const set = await run("bucket", "set", "--account", id, "--endpoint", endpoint, ...key);
  expect([set.err, set.out]).toEqual(["", `{"works":true,"fault":null}\n`]);
  const shown = await run("bucket", "show", "--account", id);
  expect(shown.json()).toEqual({
    bucket: {
      endpoint,
      region,
      bucket,
      key_pattern: "{image_id}",
      access_key_id: accessKeyId,
      failing_since: null,
      error: null,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    },
    waiting: 0,
    failed: [],
  });
  expect((await run("bucket", "retry", "--account", id)).json()).toEqual({ cards: 0 });
  expect((await run("bucket", "remove", "--account", id)).json()).toEqual({ removed: true });
  for (const command of ["test", "retry", "remove"]) {
    const { code, err } = await run("bucket", command, "--account", "acct_nobody");
    expect([command, code, err]).toEqual([command, 1, expect.stringContaining("There is no account")]);
  }
  await folder.remove();
});
