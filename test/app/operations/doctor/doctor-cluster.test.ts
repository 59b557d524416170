import { expect, test } from "bun:test";
import { join } from "node:path";
import { examine } from "../../../../src/app/operations/doctor/doctor.ts";
import { testConfig, testFolder } from "../../../harness.ts";

test("a doctor on a new machine looks at database and bucket before it has a folder, and fails where they are out of reach", async () => {
  const { dir, remove } = testFolder();
  const keyFile = join(dir, "secret.key");
  await Bun.write(keyFile, Buffer.alloc(32, 7).toString("base64"));
  const config = testConfig(join(dir, "none"), {
    CARDPRESS_DATABASE_URL: "postgres://nobody@127.0.0.1:1/none",
    CARDPRESS_S3_ENDPOINT: "http://127.0.0.1:1",
    CARDPRESS_S3_REGION: "us-east-1",
    CARDPRESS_S3_BUCKET: "cards",
    CARDPRESS_S3_ACCESS_KEY_ID: "id",
    CARDPRESS_S3_SECRET_ACCESS_KEY: "secret",
    CARDPRESS_SECRET_KEY_FILE: keyFile,
  });
  const found = (await examine(config)).find(({ check }) => check === "database");
  expect(found).toMatchObject({ status: "failed", message: expect.stringContaining("cannot be used") });
  await remove();
});
