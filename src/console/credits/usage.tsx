/** @jsxImportSource preact */

import { creditsOf } from "../../app/credits/credits.ts";
import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import { hintFor } from "../../core/failure-reasons.ts";
import { DAY_MS, dayOf, USAGE_PERIODS, type UsagePeriod, usagePeriodDays } from "../../core/time.ts";
import { failuresByReason, type UsageDay, usageByDay, usageByKey } from "../../store/credits/usage.ts";
import { listKeys } from "../../store/people/keys.ts";
import { reasonText } from "../card-words.ts";
import { CreditMeter, UsageChart } from "../chart.tsx";
import { Card, count, Empty, EnvironmentSegments, PageHead, Segments, Stat } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { faultsOf } from "../outcomes.ts";
import { privateFile, redirect } from "../respond.ts";
import { type MemberVisit, member, owner, takeFlash } from "../visit.ts";
import { planNote } from "./credits.tsx";
import { BudgetCard, saveBudget } from "./usage-alerts.tsx";

const PERIOD_NAMES: Record<UsagePeriod, string> = {
  current_month: "This month",
  previous_month: "Last month",
  last_30_days: "Last 30 days",
};

function readChoice({ query }: MemberVisit): { period: UsagePeriod; environment: Environment } {
  return {
    period: USAGE_PERIODS.find((known) => known === query.get("period")) ?? "last_30_days",
    environment: ENVIRONMENTS.find((known) => known === query.get("environment")) ?? "live",
  };
}

/** Every day of the period, including those without requests. */
export async function daysOf(
  visit: MemberVisit,
  period: UsagePeriod,
  environment: Environment,
): Promise<UsageDay[]> {
  const { from, to } = usagePeriodDays(period, visit.now);
  const rows = await usageByDay(
    visit.deps.store.read,
    { accountId: visit.account.id, environment },
    { from, to },
  );
  const known = new Map(rows.map((row) => [row.day, row]));
  const days: UsageDay[] = [];
  for (let at = Date.parse(from); dayOf(at) <= to; at += DAY_MS) {
    const day = dayOf(at);
    days.push(known.get(day) ?? { day, requested: 0, completed: 0, failed: 0, canceled: 0, creditsUsed: 0 });
  }
  return days;
}

function sum(days: UsageDay[], of: Exclude<keyof UsageDay, "day">): number {
  return days.reduce((total, day) => total + day[of], 0);
}

/** Requests and their outcome, one row per day or key. */
function UsageTable({
  of,
  rows,
}: {
  of: "Day" | "Key";
  rows: [name: string, counts: Omit<UsageDay, "day">][];
}) {
  const hasCanceled = rows.some(([, { canceled }]) => canceled > 0);
  return (
    <table class="table">
      <caption class="visually-hidden">Usage by {of.toLowerCase()}</caption>
      <thead>
        <tr>
          <th scope="col">{of}</th>
          <th scope="col" class="number">
            Requests
          </th>
          <th scope="col" class="number">
            Completed
          </th>
          <th scope="col" class="number">
            Failed
          </th>
          {hasCanceled && (
            <th scope="col" class="number">
              Canceled
            </th>
          )}
          <th scope="col" class="number">
            Credits used
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, counts]) => (
          <tr>
            <th scope="row">{name}</th>
            <td class="number" data-label="Requests">
              {count(counts.requested)}
            </td>
            <td class="number" data-label="Completed">
              {count(counts.completed)}
            </td>
            <td class="number" data-label="Failed">
              {count(faultsOf(counts))}
            </td>
            {hasCanceled && (
              <td class="number" data-label="Canceled">
                {count(counts.canceled)}
              </td>
            )}
            <td class="number" data-label="Credits used">
              {count(counts.creditsUsed)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DayTable({ days }: { days: UsageDay[] }) {
  const busy = days.filter((day) => day.requested + day.completed + day.failed > 0).toReversed();
  if (busy.length === 0) return null;
  return (
    <Card flush title="By day" note="Days are in UTC.">
      <UsageTable of="Day" rows={busy.map((day) => [day.day, day])} />
    </Card>
  );
}

/** Usage by key, which shows which system sent what. */
async function KeyTable({
  visit,
  period,
  environment,
}: {
  visit: MemberVisit;
  period: UsagePeriod;
  environment: Environment;
}) {
  const { deps, account, now } = visit;
  const scope = { accountId: account.id, environment };
  const rows = await usageByKey(deps.store.read, scope, usagePeriodDays(period, now));
  if (rows.length === 0) return null;
  const keys = await listKeys(deps.store.read, account.id);
  const nameOf = (id: string) => {
    const key = keys.find((known) => known.id === id);
    return key ? `${key.name} (…${key.last4})` : "Console";
  };
  return (
    <Card flush title="By key" note="Counted since usage is recorded by key.">
      <UsageTable of="Key" rows={rows.map((row) => [nameOf(row.keyId), row])} />
    </Card>
  );
}

/** Why cards failed, so that a partner sees what to change about the photos. */
async function ReasonTable({
  visit,
  period,
  environment,
}: {
  visit: MemberVisit;
  period: UsagePeriod;
  environment: Environment;
}) {
  const scope = { accountId: visit.account.id, environment };
  const rows = await failuresByReason(visit.deps.store.read, scope, usagePeriodDays(period, visit.now));
  if (rows.length === 0) return null;
  return (
    <Card flush title="Failed, by reason" note="Counted since reasons are recorded.">
      <table class="table">
        <caption class="visually-hidden">Failed cards by reason</caption>
        <thead>
          <tr>
            <th scope="col">Reason</th>
            <th scope="col">What helps</th>
            <th scope="col" class="number">
              Cards
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ reason, failed }) => (
            <tr>
              <th scope="row">
                <span title={reason}>{reasonText(reason)}</span>
              </th>
              <td data-label="What helps">{hintFor(reason) ?? ""}</td>
              <td class="number" data-label="Cards">
                {count(failed)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

async function CreditsLeft({ account, now, deps }: MemberVisit) {
  const credits = await creditsOf(deps.store.read, account, now);
  return (
    <Card>
      <dl class="stats">
        <Stat label="Credits left" value={count(credits.left)} note={planNote(credits)} />
        <Stat label="Of these, top-up" value={count(credits.topup)} note="Stay until used" />
        <Stat label="Reserved" value={count(credits.held)} note="For cards in the making" />
      </dl>
      <CreditMeter credits={credits} />
    </Card>
  );
}

function Totals({ days }: { days: UsageDay[] }) {
  const requested = sum(days, "requested");
  const canceled = sum(days, "canceled");
  return (
    <Card>
      <dl class="stats">
        <Stat label="Requests" value={count(requested)} />
        <Stat label="Completed" value={<span class="key-completed">{count(sum(days, "completed"))}</span>} />
        <Stat
          label="Failed"
          value={<span class="key-failed">{count(sum(days, "failed") - canceled)}</span>}
        />
        {canceled > 0 && <Stat label="Canceled" value={count(canceled)} />}
        <Stat label="Credits used" value={count(sum(days, "creditsUsed"))} />
      </dl>
      {requested === 0 ? (
        <Empty title="No requests in this period">
          Choose another period, or send a request from the playground.
        </Empty>
      ) : (
        <UsageChart days={days} />
      )}
    </Card>
  );
}

async function usagePage(visit: MemberVisit): Promise<Response> {
  const { period, environment } = readChoice(visit);
  const days = await daysOf(visit, period, environment);
  const flash = await takeFlash(visit);
  const action = visit.role === "owner" ? "/console/usage/budget" : undefined;
  const budget = await BudgetCard({ visit, account: visit.account, flash, action });
  const link = (change: { period?: UsagePeriod; environment?: Environment }) =>
    `/console/usage?${new URLSearchParams({ period, environment, ...change })}`;
  return shell(
    visit,
    "Usage",
    <>
      <PageHead
        title="Usage"
        lead="One credit for each finished live card. Failed, canceled and test cards cost nothing."
      >
        <a class="button" href={`/console/usage.csv?${new URLSearchParams({ period, environment })}`}>
          Download CSV
        </a>
      </PageHead>
      {await CreditsLeft(visit)}
      {budget}
      <div class="toolbar">
        <EnvironmentSegments environment={environment} href={(name) => link({ environment: name })} />
        <Segments
          label="Period"
          choices={USAGE_PERIODS.map((name) => ({
            label: PERIOD_NAMES[name],
            href: link({ period: name }),
            current: name === period,
          }))}
        />
      </div>
      <Totals days={days} />
      {await ReasonTable({ visit, period, environment })}
      {await KeyTable({ visit, period, environment })}
      <DayTable days={days} />
    </>,
    { flash },
  );
}

async function setBudget(visit: MemberVisit): Promise<Response> {
  await visit.flashes.put(visit.session.id, { notice: await saveBudget(visit, visit.account) });
  return redirect("/console/usage", visit.exchange);
}

async function usageCsv(visit: MemberVisit): Promise<Response> {
  const { period, environment } = readChoice(visit);
  const days = await daysOf(visit, period, environment);
  const lines = [
    // As the API counts: canceled ones are failed ones too, and the last column says how many.
    "day,environment,images_requested,images_completed,images_failed,credits_used,images_canceled",
    ...days.map((d) =>
      [d.day, environment, d.requested, d.completed, d.failed, d.creditsUsed, d.canceled].join(","),
    ),
  ];
  const { label } = usagePeriodDays(period, visit.now);
  return privateFile(visit.exchange, `${lines.join("\r\n")}\r\n`, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": `attachment; filename="cardpress-usage-${environment}-${period}-${label}.csv"`,
  });
}

export const usageRoutes = [
  member.get("/console/usage", usagePage),
  member.get("/console/usage.csv", usageCsv),
  owner.post("/console/usage/budget", setBudget),
];
