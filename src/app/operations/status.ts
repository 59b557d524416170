import { Refusal } from "../../core/errors.ts";
import { countMinutes, firstMinute, MINUTES_A_DAY, minuteOf } from "../../core/minutes.ts";
import { storageFault } from "../../core/storage-unavailable.ts";
import { DAY_MS, dayOf, HOUR_MS, isoTime, MINUTE_MS, SECOND_MS } from "../../core/time.ts";
import { queueDepth } from "../../store/images/queue-depth.ts";
import { earliestDue } from "../../store/overviews/gauges.ts";
import {
  beginDay,
  daysSince,
  dropDaysBefore,
  insertNotice,
  markMinute,
  noticesSince,
  recentDurations,
  resolveNotice,
  type StatusDay,
  type StatusNotice,
} from "../../store/overviews/status.ts";
import type { AppContext } from "../context.ts";
import { type Actor, logAction } from "./activity.ts";

// What the public status page says: the service as its partners meet it, and nothing of any account.

const STATUS_DAYS = 90;
/** Several beats a minute, so that a short restart loses none. */
export const STATUS_BEAT_MS = 20 * SECOND_MS;
/** However many ask, the database is asked once in this time by each server. */
const REPORT_KEPT_MS = 10 * SECOND_MS;
/** Of the cards of the last hour, whose median says how long one takes. */
const MAX_DURATIONS = 500;
/** Resolved notices stay to be read for a while. */
const NOTICE_KEPT_MS = 14 * DAY_MS;
const MAX_NOTICES = 20;
/** A queue that old is noticed by those who wait; creates are refused from two minutes on. */
const SLOW_QUEUE_MS = 60 * SECOND_MS;
/** Retries have their own times and are not late; this is what is due and was not sent. */
const LATE_WEBHOOKS_MS = 120 * SECOND_MS;
export const MAX_NOTICE_TITLE_CHARS = 120;
export const MAX_NOTICE_MESSAGE_CHARS = 2_000;

export type ComponentStatus = "operational" | "degraded" | "outage";

export interface StatusComponent {
  id: "creates" | "cards" | "webhooks" | "pictures";
  name: string;
  status: ComponentStatus;
  note: string;
}

export interface StatusReport {
  status: ComponentStatus;
  updatedAt: string;
  components: StatusComponent[];
  /** For how long the card that has waited longest waits now, and what cards of the last hour took. */
  waitingSeconds: number | null;
  medianSeconds: number | null;
  /** Of the days, oldest first: the share of their minutes; null before the first record and without data. */
  days: { day: string; share: number | null }[];
  /** Of all minutes since the first one recorded. */
  share: number | null;
  notices: StatusNotice[];
}

export interface StatusDeps extends AppContext {
  blobs: { isWritable(): Promise<boolean> };
  /** Each prerequisite of a create, and whether it is met. */
  checks: () => Promise<Record<string, boolean>>;
}

const seconds = (ms: number) => Math.round(ms / SECOND_MS);

/** Reports, each made at most once in ten seconds, however many ask. */
export function statusReports(deps: StatusDeps): () => Promise<StatusReport> {
  let kept: { report: Promise<StatusReport>; until: number } | undefined;
  return () => {
    const now = deps.clock.elapsed();
    if (kept && now < kept.until) return kept.report;
    const report = makeReport(deps);
    const own = { report, until: now + REPORT_KEPT_MS };
    kept = own;
    report.catch(() => {
      if (kept === own) kept = undefined;
    });
    return report;
  };
}

/** Without its database the service still says that it is out of order. */
async function makeReport(deps: StatusDeps): Promise<StatusReport> {
  const now = deps.clock.now();
  try {
    return await fullReport(deps, now);
  } catch (error) {
    if (!storageFault(error)) throw error;
    const components = [creates(false)];
    const unknown = { waitingSeconds: null, medianSeconds: null, days: [], share: null, notices: [] };
    return { status: "outage", updatedAt: isoTime(now), components, ...unknown };
  }
}

async function fullReport(deps: StatusDeps, now: number): Promise<StatusReport> {
  const { store } = deps;
  const [checks, depth, durations, due, isReadable, days, notices] = await Promise.all([
    deps.checks(),
    queueDepth(store.read, "live"),
    recentDurations(store.read, now - HOUR_MS, MAX_DURATIONS),
    earliestDue(store.read),
    deps.blobs.isWritable().catch(() => false),
    daysSince(store.read, dayOf(now - (STATUS_DAYS - 1) * DAY_MS)),
    noticesSince(store.read, now - NOTICE_KEPT_MS, MAX_NOTICES),
  ]);
  const waitingMs = depth.oldestQueuedAt === null ? 0 : Math.max(0, now - depth.oldestQueuedAt);
  const lateMs = due === null ? 0 : Math.max(0, now - due);
  const medianMs = durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)] ?? null;
  const components: StatusComponent[] = [
    creates(Object.values(checks).every(Boolean)),
    cards(waitingMs, medianMs),
    webhooks(lateMs),
    pictures(isReadable),
  ];
  return {
    status: worst(components),
    updatedAt: isoTime(now),
    components,
    waitingSeconds: seconds(waitingMs),
    medianSeconds: medianMs === null ? null : Math.round(medianMs / 100) / 10,
    ...availability(days, now),
    notices,
  };
}

function worst(components: StatusComponent[]): ComponentStatus {
  const of = (status: ComponentStatus) => components.some((component) => component.status === status);
  return of("outage") ? "outage" : of("degraded") ? "degraded" : "operational";
}

function creates(ok: boolean): StatusComponent {
  return {
    id: "creates",
    name: "New cards are accepted",
    status: ok ? "operational" : "outage",
    note: ok ? "Requests are taken." : "Requests for new cards are refused for now: try again later.",
  };
}

function cards(waitingMs: number, medianMs: number | null): StatusComponent {
  const waiting = waitingMs === 0 ? "Nobody waits." : `The oldest waits for ${seconds(waitingMs)} s.`;
  const usual =
    medianMs === null
      ? "None was made in the last hour."
      : `Half of the last hour's took ${(medianMs / SECOND_MS).toFixed(1)} s or less.`;
  return {
    id: "cards",
    name: "Cards are made",
    status: waitingMs > SLOW_QUEUE_MS ? "degraded" : "operational",
    note: `${waiting} ${usual}`,
  };
}

function webhooks(lateMs: number): StatusComponent {
  const isLate = lateMs > LATE_WEBHOOKS_MS;
  return {
    id: "webhooks",
    name: "Webhooks are sent",
    status: isLate ? "degraded" : "operational",
    note: isLate ? `The oldest is ${seconds(lateMs)} s late.` : "Events are sent when they are due.",
  };
}

function pictures(ok: boolean): StatusComponent {
  return {
    id: "pictures",
    name: "Pictures are served",
    status: ok ? "operational" : "outage",
    note: ok ? "Their storage answers." : "Their storage does not answer.",
  };
}

/**
 * Every minute since the first one recorded counts, apart from this one and the days without a row, on which
 * no server ran: without a record it was down, or nobody could know.
 */
export function availability(rows: StatusDay[], now: number): Pick<StatusReport, "days" | "share"> {
  const known = new Map(rows.map(({ day, minutes }) => [day, minutes]));
  const first = rows.find(({ minutes }) => firstMinute(minutes) !== undefined);
  let up = 0;
  let all = 0;
  const days = Array.from({ length: STATUS_DAYS }, (_, at) => {
    const day = dayOf(now - (STATUS_DAYS - 1 - at) * DAY_MS);
    const minutes = known.get(day);
    if (first === undefined || day < first.day || minutes === undefined) return { day, share: null };
    const from = day === first.day ? (firstMinute(first.minutes) ?? 0) : 0;
    const to = day === dayOf(now) ? minuteOf(now) : MINUTES_A_DAY;
    if (to <= from) return { day, share: null };
    const found = countMinutes(minutes, from, to);
    up += found;
    all += to - from;
    return { day, share: found / (to - from) };
  });
  return { days, share: all === 0 ? null : up / all };
}

/** Marks the minute where this server takes creates, and the day on which it runs. Old days are dropped. */
export function statusBeat({ store, clock, checks }: StatusDeps): () => Promise<void> {
  let marked: number | undefined;
  let begun: string | undefined;
  return async () => {
    const now = clock.now();
    const minute = Math.floor(now / MINUTE_MS);
    if (minute === marked) return;
    if (!Object.values(await checks()).every(Boolean)) {
      // A day on which it ran and took nothing is one on which it was down. A database that takes nothing
      // either records nothing.
      const day = dayOf(now);
      if (begun === day) return;
      const isNoted = await store
        .write("status day", (tx) => beginDay(tx, day))
        .then(
          () => true,
          () => false,
        );
      if (isNoted) begun = day;
      return;
    }
    await store.write("status minute", async (tx) => {
      await markMinute(tx, dayOf(now), minuteOf(now));
      if (marked === undefined) await dropDaysBefore(tx, dayOf(now - STATUS_DAYS * DAY_MS));
    });
    marked = minute;
  };
}

type NoticeContext = Pick<AppContext, "store" | "clock" | "random">;

/** Tells partners something. Throws a Refusal for what is empty or too long. */
export async function postNotice(
  { store, clock, random }: NoticeContext,
  { title, message, by }: { title: string; message: string; by: Actor },
): Promise<void> {
  const now = clock.now();
  refuseLength("Title", title, MAX_NOTICE_TITLE_CHARS);
  refuseLength("Message", message, MAX_NOTICE_MESSAGE_CHARS);
  await store.write("post notice", async (tx) => {
    await insertNotice(tx, { id: random.id("notice"), title, message, postedAt: now, resolvedAt: null });
    const entry = { by, accountId: null, action: "status.posted", subject: title } as const;
    await logAction(tx, entry, { now, random });
  });
}

function refuseLength(name: string, text: string, max: number): void {
  if (text !== "" && text.length <= max) return;
  throw new Refusal("INVALID_REQUEST", `${name}: write 1 to ${max} characters.`);
}

/** It is over. False when it was already, or there is no such notice. */
export async function endNotice(
  { store, clock, random }: NoticeContext,
  { id, by }: { id: string; by: Actor },
): Promise<boolean> {
  const now = clock.now();
  return store.write("resolve notice", async (tx) => {
    const notice = await resolveNotice(tx, id, now);
    if (!notice) return false;
    const entry = { by, accountId: null, action: "status.resolved", subject: notice.title } as const;
    await logAction(tx, entry, { now, random });
    return true;
  });
}
