import { IDEMPOTENCY_RETENTION_MS, LEASE_MS, MAX_RENDERS } from "../../../src/core/limits.ts";
import { monthOf } from "../../../src/core/time.ts";

// What credits, images and replays should do, in the plainest words: maps and numbers, no database, no
// transactions.

export interface ModelAccount {
  limit: number;
  period: string;
  plan: number;
  topup: number;
  held: number;
  suspended: boolean;
}

export interface ModelImage {
  account: number;
  environment: "live" | "test";
  state: "waiting" | "queued" | "rendering" | "completed" | "failed";
  renders: number;
  lease: { token: string; expiresAt: number } | undefined;
  /** Its number in the account's set; undefined outside of it. */
  serial: number | undefined;
  /** Where its credit came from; undefined for test images. */
  credit: { bucket: "plan" | "topup"; period: string } | undefined;
}

export interface ModelBatch {
  account: number;
  environment: "live" | "test";
  imageIds: string[];
  canceled: boolean;
}

export interface ModelRecord {
  payload: number;
  imageId: string;
  body: string;
  expiresAt: number;
}

/** The payload whose cards belong to the set of their account and environment, and how many that has. */
export const IN_SET = 1;
export const SET_SIZE = 3;

export type CreateAnswer =
  | "accepted"
  | "replayed"
  | "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD"
  | "INSUFFICIENT_CREDITS"
  | "PARALLEL_FULL"
  | "PARTNER_SUSPENDED";

/** A live card of a batch waits for its photo; test cards have none. */
const BEGINNING = { live: "waiting", test: "queued" } as const;

export class MoneyModel {
  readonly accounts: ModelAccount[] = [];
  readonly images = new Map<string, ModelImage>();
  readonly records = new Map<string, ModelRecord>();
  readonly batches = new Map<string, ModelBatch>();
  /** Batches by the keys they were sent with. */
  readonly batchKeys = new Map<string, { payload: string; batchId: string; expiresAt: number }>();

  addAccount(limit: number, now: number): void {
    const period = monthOf(now);
    this.accounts.push({ limit, period, plan: limit, topup: 0, held: 0, suspended: false });
  }

  /** A changed plan counts from the next month on. */
  planned(index: number, limit: number): void {
    this.account(index).limit = limit;
  }

  account(index: number): ModelAccount {
    const account = this.accounts[index];
    if (!account) throw new Error(`no account ${index} in the model`);
    return account;
  }

  /** What a create must answer. */
  expectCreate(
    index: number,
    environment: "live" | "test",
    key: string,
    payload: number,
    now: number,
  ): CreateAnswer {
    const account = this.account(index);
    const record = this.records.get(key);
    if (record && record.expiresAt > now) {
      return record.payload === payload ? "replayed" : "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD";
    }
    if (payload === IN_SET && this.freeSerial(index, environment) > SET_SIZE) return "PARALLEL_FULL";
    if (environment === "live" && this.spendable(account, now) < 1) return "INSUFFICIENT_CREDITS";
    return account.suspended ? "PARTNER_SUSPENDED" : "accepted";
  }

  accepted(
    index: number,
    environment: "live" | "test",
    key: string,
    record: Omit<ModelRecord, "expiresAt">,
    now: number,
  ) {
    const serial = record.payload === IN_SET ? this.freeSerial(index, environment) : undefined;
    this.newImage(index, environment, record.imageId, "queued", now, serial);
    this.records.set(key, { ...record, expiresAt: now + IDEMPOTENCY_RETENTION_MS });
  }

  /** The lowest number that no card of the set has, made or being made. */
  private freeSerial(index: number, environment: "live" | "test"): number {
    const own = [...this.images.values()].filter(
      (image) => image.account === index && image.environment === environment && image.state !== "failed",
    );
    for (let serial = 1; ; serial++) if (!own.some((image) => image.serial === serial)) return serial;
  }

  /** What a batch must answer. `records` are those of its cards. */
  expectBatch(
    batch: { index: number; environment: "live" | "test"; key: string | null; payload: string },
    records: string[],
    now: number,
  ): CreateAnswer {
    const earlier = batch.key === null ? undefined : this.batchKeys.get(batch.key);
    if (earlier && earlier.expiresAt > now)
      return earlier.payload === batch.payload ? "replayed" : "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD";
    const account = this.account(batch.index);
    if (account.suspended) return "PARTNER_SUSPENDED";
    const cost = records.filter((record) => this.made(record, now) === undefined).length;
    return batch.environment === "live" && cost > this.spendable(account, now)
      ? "INSUFFICIENT_CREDITS"
      : "accepted";
  }

  /** The image that a card of the same words is given, while it is of use. */
  made(record: string, now: number): string | undefined {
    const kept = this.records.get(record);
    return kept && kept.expiresAt > now && this.image(kept.imageId).state !== "failed"
      ? kept.imageId
      : undefined;
  }

  /** A batch whose cards, in their order, are these records and images. */
  batchAccepted(batchId: string, batch: ModelBatch, records: string[], now: number): void {
    for (const [at, imageId] of batch.imageIds.entries()) {
      const record = records[at] ?? "";
      const known = this.made(record, now);
      if (known === imageId) continue;
      if (known !== undefined) throw new Error(`${imageId} was made although ${known} is there`);
      this.newImage(batch.account, batch.environment, imageId, BEGINNING[batch.environment], now);
      this.records.set(record, { payload: 0, imageId, body: "", expiresAt: now + IDEMPOTENCY_RETENTION_MS });
    }
    this.batches.set(batchId, batch);
  }

  /** The photo of a card has come, or cannot be had. */
  photo(imageId: string, end: "fetched" | "refused"): void {
    const image = this.image(imageId);
    if (image.state !== "waiting") throw new Error(`a photo came for ${imageId}, which is ${image.state}`);
    if (end === "fetched") image.state = "queued";
    else this.end(image, "failed");
  }

  /** True when there is anything left to cancel. */
  cancel(batchId: string): boolean {
    const batch = this.batch(batchId);
    if (batch.canceled || this.counts(batchId).isOver) return false;
    batch.canceled = true;
    return true;
  }

  /**
   * Cards that nobody wants any more, in their order: unbegun, of this batch and of none but canceled ones.
   */
  unwanted(batchId: string): string[] {
    const wanting = [...this.batches.values()].filter(({ canceled }) => !canceled);
    const isUnbegun = (id: string) => ["waiting", "queued"].includes(this.image(id).state);
    return this.batch(batchId).imageIds.filter(
      (id) => isUnbegun(id) && !wanting.some(({ imageIds }) => imageIds.includes(id)),
    );
  }

  unwantedCardFailed(imageId: string): void {
    this.end(this.image(imageId), "failed");
  }

  counts(batchId: string) {
    const { imageIds, canceled } = this.batch(batchId);
    const ends = (state: string) => imageIds.filter((id) => this.image(id).state === state).length;
    const [completed, failed] = [ends("completed"), ends("failed")];
    return {
      total: imageIds.length,
      completed,
      failed,
      canceled,
      isOver: completed + failed === imageIds.length,
    };
  }

  claimed(imageId: string, token: string, now: number): void {
    const image = this.image(imageId);
    if (image.state !== "queued") throw new Error(`claimed ${imageId}, which is ${image.state}`);
    Object.assign(image, {
      state: "rendering",
      renders: image.renders + 1,
      lease: { token, expiresAt: now + LEASE_MS },
    });
  }

  /** True when the lease was still held and the end took effect. */
  finish(imageId: string, token: string, kind: "completed" | "refused" | "fault" | "requeued"): boolean {
    const image = this.image(imageId);
    if (image.lease?.token !== token) return false;
    image.lease = undefined;
    if (kind === "completed") this.end(image, "completed");
    else if (kind === "refused" || (kind === "fault" && image.renders >= MAX_RENDERS))
      this.end(image, "failed");
    else {
      image.state = "queued";
      if (kind === "requeued") image.renders -= 1;
    }
    return true;
  }

  /**
   * What the sweep makes due: leases past their time (after a restart all of them), plans of past months, old
   * records.
   */
  sweep(now: number, options: { restart: boolean }): void {
    for (const [id, image] of this.images) {
      const { lease } = image;
      if (lease && (options.restart || lease.expiresAt <= now)) this.finish(id, lease.token, "fault");
    }
    if (options.restart) return;
    // What a crash in the middle of a cancellation left, and renders given back since.
    for (const [id, { canceled }] of this.batches)
      if (canceled) for (const imageId of this.unwanted(id)) this.unwantedCardFailed(imageId);
    for (const account of this.accounts) this.renew(account, now);
    for (const [key, record] of this.records) if (record.expiresAt <= now) this.records.delete(key);
  }

  private newImage(
    index: number,
    environment: "live" | "test",
    imageId: string,
    state: "waiting" | "queued",
    now: number,
    serial?: number,
  ): void {
    let credit: ModelImage["credit"];
    if (environment === "live") {
      const account = this.account(index);
      this.renew(account, now);
      credit = { bucket: account.plan > 0 ? "plan" : "topup", period: account.period };
      account[credit.bucket] -= 1;
      account.held += 1;
    }
    const fresh = { account: index, environment, state, renders: 0, lease: undefined, serial, credit };
    this.images.set(imageId, fresh);
  }

  private batch(id: string): ModelBatch {
    const batch = this.batches.get(id);
    if (!batch) throw new Error(`no batch ${id} in the model`);
    return batch;
  }

  private image(id: string): ModelImage {
    const image = this.images.get(id);
    if (!image) throw new Error(`no image ${id} in the model`);
    return image;
  }

  private end(image: ModelImage, state: "completed" | "failed"): void {
    image.state = state;
    if (!image.credit) return;
    const account = this.account(image.account);
    account.held -= 1;
    if (state === "completed") return;
    // A plan credit of a month that is over is gone; a top-up never is.
    if (image.credit.bucket === "topup") account.topup += 1;
    else if (image.credit.period === account.period) account.plan += 1;
  }

  private renew(account: ModelAccount, now: number): void {
    if (account.period >= monthOf(now)) return;
    account.period = monthOf(now);
    account.plan = account.limit;
  }

  private spendable(account: ModelAccount, now: number): number {
    return (account.period < monthOf(now) ? account.limit : account.plan) + account.topup;
  }
}
