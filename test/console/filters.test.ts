import { expect, onTestFinished, test } from "bun:test";
import { momentsOf, readDays } from "../../src/console/filters.tsx";
import { testAccount, testServer } from "../harness.ts";
import { client, testMember } from "./sessions.ts";

test("the days of a list are days that a calendar has, and the last one is meant whole", () => {
  expect(readDays(new URLSearchParams("from=2026-02-30&to=2026-02-28"))).toEqual({
    from: "",
    to: "2026-02-28",
  });
  expect(readDays(new URLSearchParams("from=yesterday"))).toEqual({ from: "", to: "" });
  expect(momentsOf({ from: "2026-02-28", to: "2026-02-28" })).toEqual({
    from: Date.UTC(2026, 1, 28),
    before: Date.UTC(2026, 2, 1),
  });
});

test("days of which the first is after the last are named as what leaves a list empty", async () => {
  const server = await testServer({ renders: false });
  onTestFinished(() => server.close());
  const own = await testAccount(server.service);
  const member = await testMember(server.service, own.account.id, "ana@rovers.example");
  const ana = await client(server.service, server.baseUrl, member);
  const text = async (path: string) => (await ana.get(path)).text();
  for (const path of ["images?", "images?search=maya&", "images?status=failed&", "requests?"]) {
    expect(await text(`/console/${path}from=2026-03-02&to=2026-03-01`)).toContain("From is after to:");
    expect(await text(`/console/${path}from=2026-03-01&to=2026-03-01`)).not.toContain("From is after to");
  }
});
