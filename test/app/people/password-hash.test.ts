import { expect, test } from "bun:test";
import { hashPassword, verifyPassword } from "../../../src/app/people/password-hash.ts";
import { MAX_WAITING_PASSWORDS } from "../../../src/core/sign-in-limits.ts";

test("a flood of sign-ins waits in a queue that ends, and those past its end are asked to come back", async () => {
  const asked = Array.from({ length: 2 * MAX_WAITING_PASSWORDS }, () => hashPassword("a wet pitch"));
  const ends = await Promise.allSettled(asked);
  const refused = ends.filter((end) => end.status === "rejected");
  expect(refused.length).toBeGreaterThan(0);
  expect(ends.length - refused.length).toBeGreaterThanOrEqual(MAX_WAITING_PASSWORDS);
  for (const { reason } of refused)
    expect(reason).toMatchObject({ code: "SERVICE_OVERLOADED", retryAfterSeconds: 60 });
  expect(await verifyPassword("a wet pitch", await hashPassword("a wet pitch"))).toBeTrue();
});
