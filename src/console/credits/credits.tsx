/** @jsxImportSource preact */
import { type Credits, creditsOf } from "../../app/credits/credits.ts";
import { CreditMeter } from "../chart.tsx";
import { Card, count, PageHead, Stat } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { type MemberVisit, member } from "../visit.ts";
import { Statement, statementCsv } from "./ledger.tsx";

/** An account's credits, and where they come from. */
export function Balance({ credits }: { credits: Credits }) {
  const { left, ofPlan, topup, held } = credits;
  return (
    <Card>
      <dl class="stats">
        <Stat label="Credits left" value={count(left)} />
        <Stat
          label="Of the plan"
          value={count(ofPlan)}
          note={`${planNote(credits)}; what is left over expires`}
        />
        <Stat label="Top-up" value={count(topup)} note="Stay until they are used" />
        <Stat label="Reserved" value={count(held)} note="For cards in the making" />
      </dl>
      <CreditMeter credits={credits} />
    </Card>
  );
}

/** The plan's credits: this month's, and next month's if the plan has changed. */
export function planNote({ limit, nextLimit }: Pick<Credits, "limit" | "nextLimit">): string {
  return limit === nextLimit
    ? `of ${count(limit)} a month`
    : `of ${count(limit)} this month, ${count(nextLimit)} from the next one on`;
}

async function creditsPage(visit: MemberVisit): Promise<Response> {
  const { account, now, deps } = visit;
  return shell(
    visit,
    "Credits",
    <>
      <PageHead
        title="Credits"
        lead="A credit is reserved when a live request is accepted. It is used when the card is finished and given back when the card fails."
      />
      <Balance credits={await creditsOf(deps.store.read, account, now)} />
      {await Statement({ visit, accountId: account.id, path: "/console/credits", linked: true })}
    </>,
  );
}

export const creditRoutes = [
  member.get("/console/credits", creditsPage),
  member.get("/console/credits.csv", async (visit) => statementCsv(visit, visit.account.id, { named: true })),
];
