/** @jsxImportSource preact */
import { type BudgetState, budgetState, changeBudget } from "../../app/credits/usage-alerts.ts";
import { alertReached, USUAL_ALERTS } from "../../core/usage-budget.ts";
import type { Account } from "../../store/people/accounts.ts";
import { Badge, Card, count, Field, PostForm, Time } from "../elements.tsx";
import { type Flash, typedInto } from "../flash.ts";
import { field, type UserVisit } from "../visit.ts";

/** How much of the budget is used; a line marks each alert. */
function BudgetMeter({ budget: { credits, used, marks } }: { budget: BudgetState }) {
  // Alerts beyond the budget, and use beyond all of them, still have their place.
  const end = Math.max(credits, used, ...marks.map(({ due }) => due));
  const percent = Math.round((used / credits) * 100);
  return (
    <svg
      class={used >= credits ? "meter meter-low" : "meter"}
      viewBox="0 0 100 8"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${percent} % of the budget is used`}
    >
      <rect x="0" y="0" width={(used / end) * 100} height="8" />
      {marks
        .filter(({ due }) => due < end)
        .map(({ percent: at, due }) => (
          <line key={at} class="meter-mark" x1={(due / end) * 100} x2={(due / end) * 100} y1="0" y2="8" />
        ))}
    </svg>
  );
}

function Marks({ budget: { used, marks } }: { budget: BudgetState }) {
  return (
    <ul class="list">
      {marks.map(({ percent, due, raisedAt }) => (
        <li key={percent}>
          <Badge tone={due <= used ? (percent >= 100 ? "bad" : "busy") : "neutral"}>{`${percent} %`}</Badge>
          <span>{`${count(due)} ${due === 1 ? "credit" : "credits"}`}</span>
          <span class="grow" />
          <span class="note">
            {raisedAt !== null ? (
              <>
                Sent on <Time at={raisedAt} />
              </>
            ) : due <= used ? (
              "Reached"
            ) : (
              "Not reached"
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

function BudgetForm({ visit, account, action, flash }: BudgetProps & { action: string }) {
  const typed = typedInto(action, flash);
  const alerts = account.usageAlerts ?? USUAL_ALERTS;
  return (
    <PostForm visit={visit} action={action} class="row-form">
      <Field label="Credits a month" id="budget" hint="Empty: no budget.">
        <input
          id="budget"
          name="budget"
          type="text"
          inputMode="numeric"
          value={typed?.get("budget") ?? account.usageBudget ?? ""}
          aria-describedby="budget-hint"
        />
      </Field>
      <Field label="Alert at, in percent" id="alerts" hint="Such as 50, 80, 100.">
        <input
          id="alerts"
          name="alerts"
          type="text"
          value={typed?.get("alerts") ?? alerts.join(", ")}
          aria-describedby="alerts-hint"
        />
      </Field>
      <button type="submit" class="button">
        Save budget
      </button>
    </PostForm>
  );
}

interface BudgetProps {
  visit: UserVisit;
  account: Account;
  flash: Flash;
}

/**
 * An account's budget, this month's use of it, and the form that changes it for users who may: at `action`.
 */
export async function BudgetCard({ action, ...props }: BudgetProps & { action: string | undefined }) {
  const { visit, account } = props;
  const budget = await budgetState(visit.deps.store.read, account, visit.now);
  const byMail = visit.deps.config.mail ? "Owners get a mail, endpoints" : "Endpoints get";
  const note = `${byMail} the event usage.alert, once a month for each. It stops nothing.`;
  return (
    <Card title="Usage alerts" note={note}>
      {budget ? (
        <>
          <p>
            <strong>{`${count(budget.used)} of ${count(budget.credits)}`}</strong>
            {` credits of the budget are used in ${budget.period}.`}
          </p>
          <BudgetMeter budget={budget} />
          <Marks budget={budget} />
        </>
      ) : (
        !action && <p>There is no budget. An owner of the account can set one.</p>
      )}
      {action && <BudgetForm {...props} action={action} />}
    </Card>
  );
}

/** Saves what the form says; returns the notice for the next page. Throws INVALID_REQUEST. */
export async function saveBudget(visit: UserVisit, account: Account): Promise<string> {
  const credits = field(visit, "budget").replaceAll(/[, ]/g, "");
  const alerts = field(visit, "alerts")
    .split(/[,;%\s]+/)
    .filter(Boolean)
    .map(Number);
  const budget = credits === "" ? undefined : { credits: Number(credits), alerts };
  await changeBudget(visit.deps, account.id, budget, visit.user.id);
  return budget ? "The budget is saved." : "There is no longer a budget.";
}

/**
 * What an account's people should know of its budget, on their first page; undefined below the first alert.
 */
export async function budgetTrouble(
  visit: UserVisit,
  account: Account,
): Promise<{ percent: number; used: number; credits: number } | undefined> {
  const budget = await budgetState(visit.deps.store.read, account, visit.now);
  const percent = budget && alertReached(budget, budget.used);
  return budget && percent !== undefined
    ? { percent, used: budget.used, credits: budget.credits }
    : undefined;
}
