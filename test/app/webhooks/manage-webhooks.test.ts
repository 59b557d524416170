import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sweep } from "../../../src/app/operations/sweep.ts";
import { resumeAccount, suspendAccount } from "../../../src/app/people/manage-account.ts";
import { addMember } from "../../../src/app/people/manage-users.ts";
import { createDeliverer } from "../../../src/app/webhooks/deliver-webhook.ts";
import {
  getDelivery,
  listDeliveries,
  recoverSince,
  redeliver,
  sendTest,
} from "../../../src/app/webhooks/manage-deliveries.ts";
import {
  createEndpoint,
  enableEndpoint,
  getEndpoint,
  listEndpoints,
  removeEndpoint,
  revokeOldSecret,
  rotateSecret,
  updateEndpoint,
} from "../../../src/app/webhooks/manage-webhooks.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../../../src/core/outbound-limits.ts";
import { GuardedHttpError } from "../../../src/sources/guarded-http.ts";
import { listActivity } from "../../../src/store/people/activity.ts";
import { testAccount } from "../../harness.ts";
import { ENGINE, tamper } from "../../postgres.ts";
import { startCanary } from "../../sources/servers.ts";
import { deliverDue, receiver, verify, type WebhookWorkspace, webhookWorkspace } from "./receivers.ts";

const URL = "https://hooks.example/cards";
const DAY_MS = 86_400_000;

let workspace: WebhookWorkspace;
beforeEach(async () => {
  // A name of the outside world, at an address of the public range.
  workspace = await webhookWorkspace({ resolve: async () => ["93.184.216.34"] });
});
afterEach(() => workspace.close());

const create = (change: Partial<Parameters<typeof createEndpoint>[1]> = {}) =>
  createEndpoint(workspace, { accountId: workspace.accountId, environment: "test", url: URL, ...change });

describe("creating an endpoint", () => {
  // It looks into SQLite's own files.
  test.skipIf(ENGINE === "postgres")(
    "gives its secret once; neither the list nor the database shows it",
    async () => {
      const { endpoint, secret } = await create({ events: ["image.failed", "image.completed"] });
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(endpoint).toMatchObject({
        url: URL,
        events: ["image.completed", "image.failed"],
        state: "enabled",
      });
      const listed = await listEndpoints(workspace, { accountId: workspace.accountId, environment: "test" });
      expect(listed).toEqual([endpoint]);
      expect(await listEndpoints(workspace, { accountId: workspace.accountId, environment: "live" })).toEqual(
        [],
      );
      const text = secret.slice("whsec_".length);
      const raw = Buffer.from(text, "base64").toString("latin1");
      const files = ["cardpress.db", "cardpress.db-wal"].map((name) =>
        readFileSync(join(workspace.folder.root, name)),
      );
      const stored = Buffer.concat(files).toString("latin1");
      expect([stored.includes("hooks.example"), stored.includes(text), stored.includes(raw)]).toEqual([
        true,
        false,
        false,
      ]);
    },
  );

  test("stops at ten in each environment; a removed one makes room", async () => {
    for (let i = 0; i < MAX_WEBHOOK_ENDPOINTS - 1; i++) await create();
    const { endpoint } = await create();
    await expect(create()).rejects.toThrow("at most 10 test endpoints. Remove one");
    await create({ environment: "live" });
    await removeEndpoint(workspace, { endpointId: endpoint.id });
    await create();
  });

  test.each([
    [[], "events: It is empty"],
    [
      ["image.done"],
      'events: It holds "image.done". Use image.completed, image.failed, image.published, batch.completed, player.recalled, credits.low, usage.alert',
    ],
    [["webhook.test"], 'It holds "webhook.test"'],
  ])("refuses the events %p by name", async (events, message) => {
    await expect(create({ events })).rejects.toThrow(message);
  });

  test("refuses an unknown account", async () => {
    await expect(create({ accountId: "acct_x" })).rejects.toThrow("There is no account acct_x");
  });

  test("refuses every hostile address by its field, at registration and at a change, and asks none", async () => {
    const canary = await startCanary();
    try {
      const lines = readFileSync(join(import.meta.dir, "../../sources/hostile-addresses.txt"), "utf8").split(
        "\n",
      );
      const hostile = lines.filter((line) => line !== "" && !line.startsWith("#"));
      const { endpoint } = await create();
      for (const line of hostile) {
        const url = line.replaceAll("PORT", String(canary.port));
        const refused = await create({ url }).catch((error) => error);
        expect([url, refused.code, refused.details?.[0]?.field]).toEqual([url, "INVALID_REQUEST", "url"]);
        const change = await updateEndpoint(workspace, { endpointId: endpoint.id }, { url }).catch(
          (error) => error,
        );
        expect([url, change.code]).toEqual([url, "INVALID_REQUEST"]);
      }
      expect(hostile.length).toBeGreaterThan(50);
      expect(await canary.connections()).toBe(0);
      expect(await listEndpoints(workspace, { accountId: workspace.accountId })).toEqual([endpoint]);
    } finally {
      canary.close();
    }
  });

  test("refuses a name that leads to a private address as if it did not exist", async () => {
    const asking = async (resolve: () => Promise<string[]>) => {
      const context = { ...workspace, outbound: { resolve } };
      const input = { accountId: workspace.accountId, environment: "test", url: URL } as const;
      return (await createEndpoint(context, input).catch((error) => error)).message;
    };
    const isPrivate = await asking(async () => ["93.184.216.34", "10.0.0.1"]);
    const unknown = await asking(async () => Promise.reject(new Error("ENOTFOUND")));
    expect(isPrivate).toContain(
      "url: The host of this address was not found or is not on the public internet",
    );
    expect(unknown).toBe(isPrivate);
  });
});

test("an address that this machine cannot look up now is refused as our fault", async () => {
  const resolve = async () => Promise.reject(new GuardedHttpError("ours", "Try again."));
  const context = { ...workspace, outbound: { resolve } };
  const input = { accountId: workspace.accountId, environment: "test", url: URL } as const;
  const error = await createEndpoint(context, input).catch((thrown) => thrown);
  expect([error.code, error.retryAfterSeconds]).toEqual(["SERVICE_OVERLOADED", 15]);
});

test("a suspended account sends no tests, and does again once it is resumed", async () => {
  const { endpoint } = await create();
  await suspendAccount(workspace, endpoint.accountId, "Invoice unpaid");
  await expect(sendTest(workspace, { endpointId: endpoint.id })).rejects.toThrow("The account is suspended");
  expect((await listDeliveries(workspace, { accountId: endpoint.accountId })).items).toEqual([]);
  await resumeAccount(workspace, endpoint.accountId);
  expect((await sendTest(workspace, { endpointId: endpoint.id })).eventType).toBe("webhook.test");
});

test("another account's endpoints and deliveries are as unknown as none, and stay untouched", async () => {
  const { account: other } = await testAccount(workspace, { name: "United" });
  const { endpoint } = await create();
  const delivery = await sendTest(workspace, { endpointId: endpoint.id });
  const ref = { endpointId: endpoint.id, accountId: other.id };
  const deliveryRef = { deliveryId: delivery.id, accountId: other.id };
  for (const attempt of [
    () => getEndpoint(workspace, ref),
    () => updateEndpoint(workspace, ref, { events: null }),
    () => rotateSecret(workspace, ref),
    () => revokeOldSecret(workspace, ref),
    () => enableEndpoint(workspace, ref),
    () => sendTest(workspace, ref),
    () => recoverSince(workspace, ref, 0),
    () => removeEndpoint(workspace, ref),
    () => redeliver(workspace, deliveryRef),
    () => getDelivery(workspace, deliveryRef),
  ]) {
    expect(await attempt().catch((error) => error.code)).toBe("NOT_FOUND");
  }
  expect((await listDeliveries(workspace, { accountId: other.id, endpointId: endpoint.id })).items).toEqual(
    [],
  );
  expect(await getEndpoint(workspace, { ...ref, accountId: workspace.accountId })).toEqual(
    await getEndpoint(workspace, { endpointId: endpoint.id }),
  );
});

describe("the audit log", () => {
  const moved = "https://hooks.example/moved";
  /** Everything that can be done to an endpoint, in turn. */
  const changes = async (by?: string) => {
    const made = await create(by === undefined ? {} : { by });
    const ref = { endpointId: made.endpoint.id, ...(by === undefined ? {} : { by }) };
    await updateEndpoint(workspace, ref, { url: moved });
    await rotateSecret(workspace, ref);
    await revokeOldSecret(workspace, ref);
    await enableEndpoint(workspace, ref);
    for (let i = 0; i < 201; i++) await workspace.happen();
    await recoverSince(workspace, ref, workspace.clock.now());
    await removeEndpoint(workspace, ref);
  };
  const lines = async () => {
    const rows = await listActivity(workspace.store.read, { accountId: workspace.accountId, limit: 7 });
    return rows.toReversed().map(({ entry, email }) => [entry.action, entry.subject, email]);
  };
  const entriesBy = (who: string | null) => [
    ["webhook.created", URL, who],
    ["webhook.changed", moved, who],
    ["webhook.secret_rotated", moved, who],
    ["webhook.old_secret_revoked", moved, who],
    ["webhook.enabled", moved, who],
    ["webhook.recovered", `${moved}, events since 2026-11-15T12:00:00.000Z`, who],
    ["webhook.removed", moved, who],
  ];

  test("names every change of an endpoint once with who made it, also the command line's", async () => {
    await changes();
    expect(await lines()).toEqual(entriesBy(null));
    const member = { email: "ana@example.com", role: "owner", vouched: true } as const;
    const { user } = await addMember(workspace, { accountId: workspace.accountId, ...member });
    await changes(user.id);
    expect(await lines()).toEqual(entriesBy("ana@example.com"));
  });

  test("and its log entry are one: a change of an endpoint that cannot be logged is not made", async () => {
    const { endpoint } = await create();
    const ref = { endpointId: endpoint.id };
    await workspace.happen();
    await tamper(
      workspace.folder.database,
      ENGINE === "postgres"
        ? "ALTER TABLE audit_entries ADD CONSTRAINT no_room_in_the_log CHECK (false) NOT VALID"
        : "CREATE TRIGGER full BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no_room_in_the_log'); END",
    );
    const { t, db: read } = workspace.store.read;
    const state = async () => [
      await read.select().from(t.webhookEndpoints),
      await read.select().from(t.webhookDeliveries),
    ];
    const before = await state();
    for (const change of [
      () => create(),
      () => updateEndpoint(workspace, ref, { url: moved }),
      () => rotateSecret(workspace, ref),
      () => revokeOldSecret(workspace, ref),
      () => enableEndpoint(workspace, ref),
      () => recoverSince(workspace, ref, 0),
      () => removeEndpoint(workspace, ref),
    ])
      await expect(change()).rejects.toThrow();
    expect(await state()).toEqual(before);
  });
});

test("a test event goes to its endpoint alone, also against its filter", async () => {
  const [asked, other] = [receiver(), receiver()];
  try {
    workspace.allow(asked.origin, other.origin);
    const { id, secret } = await workspace.endpoint(asked.url, ["credits.low"]);
    await workspace.endpoint(other.url);
    const delivery = await sendTest(workspace, { endpointId: id });
    await deliverDue(createDeliverer(workspace));
    expect(asked.received[0]?.event).toMatchObject({
      type: "webhook.test",
      environment: "test",
      data: { message: expect.stringContaining("test") },
    });
    verify(secret, asked.received[0] as never, workspace.clock.now());
    expect(other.received).toEqual([]);
    const detail = await getDelivery(workspace, { deliveryId: delivery.id });
    expect(detail).toMatchObject({ state: "delivered", history: [{ status: 200 }] });
    expect(JSON.parse(detail.event.body)).toEqual(asked.received[0]?.event);
  } finally {
    asked.close();
    other.close();
  }
});

describe("deliveries", () => {
  test("are listed newest first, page by page, by filter", async () => {
    await workspace.endpoint(URL, ["image.completed"]);
    const { id: second } = await workspace.endpoint(URL);
    for (let i = 0; i < 5; i++) {
      workspace.clock.advance(1);
      await workspace.happen(i === 2 ? "image.failed" : "image.completed", `img_n${i}`);
    }
    const accountId = workspace.accountId;
    const all: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await listDeliveries(workspace, { accountId, limit: 4, ...(cursor ? { cursor } : {}) });
      all.push(...page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(all).toHaveLength(9);
    expect(new Set(all).size).toBe(9);
    const count = async (filter: object) =>
      (await listDeliveries(workspace, { accountId, ...filter })).items.length;
    expect(await count({ endpointId: second })).toBe(5);
    expect(await count({ eventType: "image.failed" })).toBe(1);
    expect(await count({ imageId: "img_n1" })).toBe(2);
    expect(await count({ imageId: "img_other" })).toBe(0);
    expect(await count({ state: "delivered" })).toBe(0);
    expect(await count({ environment: "live" })).toBe(0);
    await expect(listDeliveries(workspace, { accountId, cursor: "nonsense" })).rejects.toThrow(
      "Start again without it",
    );
  });

  test("of both environments are one list, newest first, page by page", async () => {
    const ids: string[] = [];
    for (const environment of ["test", "live", "test", "test", "live"] as const) {
      const { endpoint } = await create({ environment });
      // Two at one moment: then the id decides.
      for (let i = 0; i < 2; i++) ids.push((await sendTest(workspace, { endpointId: endpoint.id })).id);
      workspace.clock.advance(1);
    }
    const pages: string[][] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const query = { accountId: workspace.accountId, limit: 3, cursor };
      const page = await listDeliveries(workspace, query);
      pages.push(page.items.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    expect(pages.map(({ length }) => length)).toEqual([3, 3, 3, 1]);
    expect(pages.flat()).toEqual(ids.toReversed());
  });

  test("since a time are recovered: failed, waiting and never made ones; not what arrived, nor other types", async () => {
    let status = 410;
    const partner = receiver(() => new Response(null, { status }));
    try {
      workspace.allow(partner.origin);
      await workspace.happen("image.completed", "img_before");
      workspace.clock.advance(1);
      const since = workspace.clock.now();
      const early = await workspace.happen("image.completed", "img_no_endpoint_yet");
      const { id } = await workspace.endpoint(partner.url, ["image.completed"]);
      const deliverer = createDeliverer(workspace);
      status = 200;
      await workspace.happen("image.completed", "img_arrived");
      await deliverDue(deliverer);
      status = 410;
      const failed = await workspace.happen("image.completed", "img_gone");
      await deliverDue(deliverer);
      const missed = await workspace.happen("image.completed", "img_while_disabled");
      await workspace.happen("image.failed", "img_unwanted");
      await expect(recoverSince(workspace, { endpointId: id }, since)).rejects.toThrow(
        "is disabled: It answered 410 Gone",
      );

      status = 500;
      await enableEndpoint(workspace, { endpointId: id });
      const waiting = await workspace.happen("image.completed", "img_waiting");
      await deliverDue(deliverer);
      status = 200;
      partner.received.length = 0;
      expect(await recoverSince(workspace, { endpointId: id }, since)).toEqual({ recovered: 4 });
      await deliverDue(deliverer);
      const subjects = partner.received.map(({ event }) => event.data.image_id).sort();
      expect(subjects).toEqual([early, failed, missed, waiting].sort());
      expect(await recoverSince(workspace, { endpointId: id }, since)).toEqual({ recovered: 0 });
    } finally {
      partner.close();
    }
  });

  test("are recovered by the thousand, in batches", async () => {
    for (let i = 0; i < 450; i++) await workspace.happen();
    const { endpoint } = await create();
    expect(await recoverSince(workspace, { endpointId: endpoint.id }, 0)).toEqual({ recovered: 450 });
  });

  test("and their events are swept after 30 days, unless they are still under way", async () => {
    const { endpoint } = await create();
    await workspace.happen("image.completed", "img_old");
    const { items } = await listDeliveries(workspace, { accountId: workspace.accountId });
    workspace.clock.advance(30 * DAY_MS);
    const swept = async () => {
      await sweep(workspace);
      return (await listDeliveries(workspace, { accountId: workspace.accountId })).items.length;
    };
    expect(await swept()).toBe(1);
    await removeEndpoint(workspace, { endpointId: endpoint.id });
    expect(getDelivery(workspace, { deliveryId: items[0]?.id ?? "" })).resolves.toMatchObject({
      state: "failed",
    });
    expect(await swept()).toBe(0);
    const rows = await workspace.store.read.db.select().from(workspace.store.read.t.webhookEndpoints);
    expect(rows).toEqual([]);
  });
});

test("an old secret is forgotten once it no longer signs", async () => {
  const { endpoint } = await create();
  await rotateSecret(workspace, { endpointId: endpoint.id });
  workspace.clock.advance(DAY_MS);
  await sweep(workspace);
  const [row] = await workspace.store.read.db.select().from(workspace.store.read.t.webhookEndpoints);
  expect(row).toMatchObject({ previousSecret: null, previousSecretExpiresAt: null });
});
