import { IDEMPOTENCY_RETENTION_MS, LEASE_MS, MAX_RENDERS } from "../../../src/core/limits.ts";
import { monthOf } from "../../../src/core/time.ts";

// What credits, images and replays should do, in the plainest words: maps and numbers, no database, no transactions.

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
  state: "queued" | "rendering" | "completed" | "failed";
  renders: number;
  lease: { token: string; expiresAt: number } | undefined;
  /** Where its credit came from; undefined for test images. */
  credit: { bucket: "plan" | "topup"; period: string } | undefined;
}

export interface ModelRecord {
  payload: number;
  imageId: string;
  body: string;
  expiresAt: number;
}

export type CreateAnswer =
  | "accepted"
  | "replayed"
  | "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD"
  | "INSUFFICIENT_CREDITS"
  | "PARTNER_SUSPENDED";

export class MoneyModel {
  readonly accounts: ModelAccount[] = [];
  readonly images = new Map<string, ModelImage>();
  readonly records = new Map<string, ModelRecord>();

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
    let credit: ModelImage["credit"];
    if (environment === "live") {
      const account = this.account(index);
      this.renew(account, now);
      credit = { bucket: account.plan > 0 ? "plan" : "topup", period: account.period };
      account[credit.bucket] -= 1;
      account.held += 1;
    }
    this.images.set(record.imageId, {
      account: index,
      environment,
      state: "queued",
      renders: 0,
      lease: undefined,
      credit,
    });
    this.records.set(key, { ...record, expiresAt: now + IDEMPOTENCY_RETENTION_MS });
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
  finish(imageId: string, token: string, kind: "completed" | "refused" | "fault" | "given_back"): boolean {
    const image = this.image(imageId);
    if (image.lease?.token !== token) return false;
    image.lease = undefined;
    if (kind === "completed") this.end(image, "completed");
    else if (kind === "refused" || (kind === "fault" && image.renders >= MAX_RENDERS))
      this.end(image, "failed");
    else {
      image.state = "queued";
      if (kind === "given_back") image.renders -= 1;
    }
    return true;
  }

  /** What the sweep makes due: leases past their time (after a restart all of them), plans of past months, old records. */
  sweep(now: number, options: { restart: boolean }): void {
    for (const [id, image] of this.images) {
      const { lease } = image;
      if (lease && (options.restart || lease.expiresAt <= now)) this.finish(id, lease.token, "fault");
    }
    if (options.restart) return;
    for (const account of this.accounts) this.renew(account, now);
    for (const [key, record] of this.records) if (record.expiresAt <= now) this.records.delete(key);
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
