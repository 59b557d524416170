import { Database, type Statement } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import fc from "fast-check";
import { cancelBatch } from "../../../src/app/batches/cancel-batch.ts";
import { finishImage, type RenderEnd } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { audit } from "../../../src/app/operations/audit/audit.ts";
import { requeueAbandoned, sweep } from "../../../src/app/operations/sweep.ts";
import {
  changePlan,
  createAccount,
  grantCredits,
  resumeAccount,
  suspendAccount,
} from "../../../src/app/people/manage-account.ts";
import { makeSet } from "../../../src/app/sets/manage-sets.ts";
import { Refusal } from "../../../src/core/errors.ts";
import { buildDeps, type Deps } from "../../../src/service/deps.ts";
import { leaseTokens } from "../../../src/store/engine/lease-holders.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { thirdOfCount } from "../../endurance.ts";
import { ampleQueue, idlePool, readySources } from "../../fakes.ts";
import { imageRequest, type TestWorkspace, testWorkspace } from "../../harness.ts";
import { cancelOne, fetchPhoto, sendBatch } from "./money-batches.ts";
import { type FusedRandom, fusedRandom, torn } from "./money-fuse.ts";
import { IN_SET, MoneyModel, SET_SIZE } from "./money-model.ts";
import { ACCOUNTS, type Operation, operation } from "./money-operations.ts";

// Random interleavings of everything that moves credits, on the real store, beside a small model that says
// what should have happened. A failure prints fast-check's seed and path: run again with FC_SEED=...
// FC_PATH=...

/** Other histories in each run: a third of 2,000 of them, and all in a long run. */
const RUNS = Number(process.env.FC_RUNS ?? thirdOfCount(2_000));
const SEED = process.env.FC_SEED
  ? { seed: Number(process.env.FC_SEED), path: process.env.FC_PATH ?? "" }
  : {};
/**
 * A new database now and then: a shared one would grow, and a sweep would visit the accounts of every earlier
 * run.
 */
const RUNS_PER_DATABASE = 40;

interface World {
  workspace: TestWorkspace;
  /** A connection of the test's own. */
  db: Database;
  accountRow: Statement;
  imageRows: Statement;
  batchRows: Statement;
  setRows: Statement;
  random: FusedRandom;
  deps: TestWorkspace & Deps;
}

async function openWorld(): Promise<World> {
  const random = fusedRandom();
  // In memory where there is such a place: the syncs of half a million commits are not what is proven here.
  const parent = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const workspace = { ...(await testWorkspace({ parent })), random };
  const db = new Database(workspace.folder.database);
  const deps = buildDeps(workspace, { pool: idlePool, sources: readySources, queue: ampleQueue() });
  return {
    workspace,
    db,
    random,
    accountRow: db.query(
      "SELECT credit_limit, plan_period, credits_plan, credits_topup, credits_held, status FROM accounts WHERE id = ?",
    ),
    imageRows: db.query(
      "SELECT id, state, renders, lease_token FROM images WHERE account_id = ? ORDER BY rowid",
    ),
    setRows: db.query(
      "SELECT c.image_id, c.serial, c.state FROM set_cards c JOIN card_sets s ON s.id = c.set_id WHERE s.account_id = ? ORDER BY c.rowid",
    ),
    batchRows: db.query(
      "SELECT id, total, completed, failed, canceled_at IS NOT NULL, completed_at IS NOT NULL FROM batches WHERE account_id = ? ORDER BY rowid",
    ),
    deps,
  };
}

/** One run: the same operations on the store and on the model, compared after each. */
class Run {
  readonly model = new MoneyModel();
  readonly accountIds: string[] = [];
  /** By account and environment. */
  readonly setIds = new Map<string, string>();
  readonly leases: { imageId: string; token: string; renders: number }[] = [];

  constructor(readonly world: World) {}

  get now(): number {
    return this.world.workspace.clock.now();
  }

  async start(limits: number[]): Promise<void> {
    for (const credits of limits) {
      const made = await createAccount(this.world.workspace, { name: "Rovers", tier: "scale", credits });
      this.accountIds.push(made.id);
      for (const environment of ["live", "test"] as const) {
        const players = [{ externalId: imageRequest().player.external_id, name: "", number: null }];
        const set = { name: "Season", season: "", parallels: [{ name: "gold", size: SET_SIZE }], players };
        const {
          set: { id },
        } = await makeSet(this.world.workspace, { accountId: made.id, environment }, set);
        this.setIds.set(`${this.accountIds.length - 1} ${environment}`, id);
      }
      this.model.addAccount(credits, this.now);
    }
  }

  async step(operation: Operation): Promise<void> {
    const { workspace } = this.world;
    switch (operation.op) {
      case "create":
        return this.create(operation);
      case "burst":
        return this.burst(operation.account, operation.count);
      case "torn create":
        return this.tornCreate(operation);
      case "batch":
        return sendBatch(this, operation);
      case "photo":
        return fetchPhoto(this, operation);
      case "cancel":
        return cancelOne(this, operation);
      case "claim":
        return this.claim(operation.environment);
      case "finish":
        return this.finish(operation);
      case "pass":
        return workspace.clock.advance(operation.ms);
      case "next month": {
        const date = new Date(this.now);
        return workspace.clock.set(
          new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)).toISOString(),
        );
      }
      case "sweep":
        await sweep(workspace);
        return this.model.sweep(this.now, { restart: false });
      case "restart":
        await requeueAbandoned(workspace, { tokens: await leaseTokens(workspace.store.read) });
        return this.model.sweep(this.now, { restart: true });
      case "grant":
        await grantCredits(workspace, {
          accountId: this.id(operation.account),
          amount: operation.amount,
          reason: null,
        });
        this.model.account(operation.account).topup += operation.amount;
        return;
      case "change plan": {
        const { account, credits } = operation;
        await changePlan(workspace, this.id(account), { tier: "growth", credits });
        return this.model.planned(account, credits);
      }
      case "suspend":
        await suspendAccount(workspace, this.id(operation.account), null);
        this.model.account(operation.account).suspended = true;
        return;
      case "resume":
        await resumeAccount(workspace, this.id(operation.account));
        this.model.account(operation.account).suspended = false;
        return;
    }
  }

  /** One create as the HTTP side makes it; the error's code when it is refused. */
  private async send(who: number, environment: "live" | "test", key: string, payload: number) {
    const account = await findAccount(this.world.workspace.store.read, this.id(who));
    if (!account) throw new Error("the account is gone");
    const id = this.setIds.get(`${who} ${environment}`) ?? "";
    const request = {
      ...imageRequest({ player: { number: 1 + payload } }),
      ...(payload === IN_SET ? { set: { id, parallel: "gold" } } : {}),
    };
    try {
      const { answer, replayed } = await this.world.deps.accept({
        account,
        environment,
        idempotencyKey: key,
        request,
      });
      return { code: replayed ? "replayed" : "accepted", body: JSON.stringify(answer) };
    } catch (error) {
      if (error instanceof Refusal) return { code: error.code as string, body: "" };
      throw error;
    }
  }

  private async create({ account, environment, key, payload }: Operation & { op: "create" }): Promise<void> {
    const scope = `${account} ${environment} ${key}`;
    const expected = this.model.expectCreate(account, environment, scope, payload, this.now);
    const answer = await this.send(account, environment, `key-${key}`, payload);
    expect(answer.code).toBe(expected);
    if (answer.code === "replayed")
      expect(answer.body).toBe(this.model.records.get(scope)?.body ?? "no record");
    if (answer.code === "accepted") this.accepted(account, environment, scope, payload, answer.body);
  }

  private accepted(
    account: number,
    environment: "live" | "test",
    scope: string,
    payload: number,
    body: string,
  ): void {
    const imageId: string = JSON.parse(body).image_id;
    this.model.accepted(account, environment, scope, { payload, imageId, body }, this.now);
  }

  /** Parallel creates with different keys: as many are accepted as there are credits. */
  private async burst(account: number, count: number): Promise<void> {
    const keys = Array.from({ length: count }, (_, n) => `burst-${this.model.images.size}-${n}`);
    const answers = await Promise.all(keys.map((key) => this.send(account, "live", key, 0)));
    // Ids count up in the order of writing, which is no guarantee of the service, and so decides turns in the
    // queue.
    const accepted = [...answers.entries()]
      .filter(([, { code }]) => code === "accepted")
      .toSorted(([, a], [, b]) => (JSON.stringify(a.body) < JSON.stringify(b.body) ? -1 : 1));
    for (const [n, { body }] of accepted) this.accepted(account, "live", keys[n] ?? "", 0, body);
    // With all of them accepted there was enough; with one refused there is nothing left, or the account is
    // suspended.
    for (const answer of answers.filter(({ code }) => code !== "accepted")) {
      expect(answer.code).toBe(this.model.expectCreate(account, "live", "no such key", 0, this.now));
    }
  }

  /** A fault in the middle of the transaction leaves nothing: the comparison after this step proves it. */
  private async tornCreate({ account, environment, key, payload, after }: Operation & { op: "torn create" }) {
    const scope = `${account} ${environment} ${key}`;
    const expected = this.model.expectCreate(account, environment, scope, payload, this.now);
    const answer = await torn(this.world.random, after, () =>
      this.send(account, environment, `key-${key}`, payload),
    );
    if (!answer) return expect(expected).toBe("accepted");
    expect(answer.code).toBe(expected);
    if (answer.code === "accepted") this.accepted(account, environment, scope, payload, answer.body);
  }

  private async claim(environment: "live" | "test"): Promise<void> {
    const image = await claimImage(this.world.workspace, environment);
    if (!image) return;
    this.model.claimed(image.id, image.leaseToken, this.now);
    this.leases.push({ imageId: image.id, token: image.leaseToken, renders: image.renders });
  }

  private async finish({ lease: back, kind, torn: isTorn }: Operation & { op: "finish" }): Promise<void> {
    const lease = this.leases.at(-1 - (back % Math.max(1, this.leases.length)));
    if (!lease) return;
    const name = `${lease.imageId}-${lease.token}.png`;
    const output = {
      name,
      width: 1,
      height: 1,
      contentType: "image/png",
      bytes: 1,
      composition: "cutout" as const,
    };
    const end: RenderEnd =
      kind === "completed"
        ? { kind, output }
        : kind === "refused"
          ? { kind, message: "no player", reason: "no_player" }
          : { kind };
    if (isTorn) {
      const done = await torn(this.world.random, 0, () => finishImage(this.world.workspace, lease, end));
      // Ends that need no ledger entry go through although no id can be made.
      if (done) this.model.finish(lease.imageId, lease.token, kind);
      return;
    }
    const finished = await finishImage(this.world.workspace, lease, end);
    expect(finished !== undefined).toBe(this.model.finish(lease.imageId, lease.token, kind));
  }

  /**
   * Balances and images are the model's. Read past the code under test, in two queries, because this runs
   * most.
   */
  compare(): void {
    const kept = this.accountIds.map((id) => this.world.accountRow.get(id));
    const expected = this.model.accounts.map(({ limit, period, plan, topup, held, suspended }) => [
      limit,
      period,
      plan,
      topup,
      held,
      suspended ? "suspended" : "active",
    ]);
    expect(kept.map((row) => Object.values(row ?? {}))).toEqual(expected);
    for (const [index, id] of this.accountIds.entries()) {
      const images = [...this.model.images].filter(([, image]) => image.account === index);
      expect(this.world.imageRows.values(id)).toEqual(
        images.map(([imageId, { state, renders, lease }]) => [imageId, state, renders, lease?.token ?? null]),
      );
      const numbered = images.filter(([, { serial }]) => serial !== undefined);
      expect(this.world.setRows.values(id)).toEqual(
        numbered.map(([imageId, { serial, state }]) => {
          const kept = state === "completed" ? "final" : state === "failed" ? "released" : "held";
          return [imageId, state === "failed" ? null : (serial ?? null), kept];
        }),
      );
      const batches = [...this.model.batches].filter(([, batch]) => batch.account === index);
      expect(this.world.batchRows.values(id)).toEqual(
        batches.map(([batchId]) => {
          const { total, completed, failed, canceled, isOver } = this.model.counts(batchId);
          return [batchId, total, completed, failed, Number(canceled), Number(isOver)];
        }),
      );
    }
  }

  /** Ends what the run left open, so that the next run on this database finds an empty queue. */
  async clear(): Promise<void> {
    for (const [id, { account, environment }] of this.model.batches)
      await cancelBatch(this.world.workspace, { accountId: this.id(account), environment, id });
    for (const [imageId, { lease, renders }] of this.model.images) {
      if (lease)
        await finishImage(
          this.world.workspace,
          { imageId, token: lease.token, renders },
          { kind: "refused", message: "x", reason: "no_player" },
        );
    }
    this.world.workspace.clock.advance(60_000);
    for (const environment of ["live", "test"] as const) {
      for (
        let image = await claimImage(this.world.workspace, environment);
        image;
        image = await claimImage(this.world.workspace, environment)
      ) {
        await finishImage(
          this.world.workspace,
          { imageId: image.id, token: image.leaseToken, renders: image.renders },
          { kind: "refused", message: "x", reason: "no_player" },
        );
      }
    }
  }

  id(account: number): string {
    return this.accountIds[account] ?? "";
  }
}

let world: World | undefined;
let runs = 0;
/** Audits and ends a database; `sound` is false when a run on it has failed already. */
const closeWorld = async (sound: boolean) => {
  const closing = world;
  world = undefined;
  if (!closing) return;
  const report = sound ? await audit(closing.workspace.store, closing.workspace.clock.now()) : undefined;
  closing.db.close();
  await closing.workspace.close();
  expect(report?.findings.filter(({ ok }) => !ok) ?? []).toEqual([]);
};
afterAll(() => closeWorld(false));

test(`credits, images and replays do what the model says (${RUNS} random histories)`, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(4), { minLength: ACCOUNTS, maxLength: ACCOUNTS }),
      fc.array(operation, { maxLength: 25, size: "max" }),
      async (limits, operations) => {
        if (runs++ % RUNS_PER_DATABASE === 0) await closeWorld(true);
        world ??= await openWorld();
        const run = new Run(world);
        try {
          await run.start(limits);
          for (const operation of operations) {
            await run.step(operation);
            run.compare();
          }
          await run.clear();
        } catch (error) {
          // The next run, perhaps a shrunk one of this, must not meet what this one left.
          await closeWorld(false);
          throw error;
        }
      },
    ),
    { numRuns: RUNS, ...SEED },
  );
  await closeWorld(true);
});
