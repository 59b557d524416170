/** @jsxImportSource preact */
import { creditsAvailable } from "../app/credits.ts";
import type { Account } from "../store/accounts.ts";
import { CreditMeter } from "./chart.tsx";
import { Card, count, PageHead, Stat } from "./elements.tsx";
import { shell } from "./layout.tsx";
import { Statement, statementCsv } from "./ledger.tsx";
import { type MemberVisit, member } from "./visit.ts";

/** What an account has, and where it comes from. */
export function Balance({ account, now }: { account: Account; now: number }) {
  const left = creditsAvailable(account, now);
  return (
    <Card>
      <dl class="stats">
        <Stat label="Credits left" value={count(left)} />
        <Stat
          label="Of the plan"
          value={count(left - account.creditsTopup)}
          note={`${count(account.creditLimit)} a month; what is left over expires`}
        />
        <Stat label="Top-up" value={count(account.creditsTopup)} note="Stay until they are used" />
        <Stat label="Reserved" value={count(account.creditsHeld)} note="For cards in the making" />
      </dl>
      <CreditMeter left={left} limit={account.creditLimit + account.creditsTopup} />
    </Card>
  );
}

async function creditsPage(visit: MemberVisit): Promise<Response> {
  const { account, now } = visit;
  return shell(
    visit,
    "Credits",
    <>
      <PageHead
        title="Credits"
        lead="A credit is reserved when a live request is accepted. It is used when the card is finished and given back when the card fails."
      />
      <Balance account={account} now={now} />
      {await Statement({ visit, accountId: account.id, path: "/console/credits", linked: true })}
    </>,
  );
}

export const creditRoutes = [
  member.get("/console/credits", creditsPage),
  member.get("/console/credits.csv", async (visit) => statementCsv(visit, visit.account.id)),
];
