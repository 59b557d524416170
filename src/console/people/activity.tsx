/** @jsxImportSource preact */
import { formatPosition, parsePosition } from "../../core/list-position.ts";
import { type ActivityRow, listActivity } from "../../store/people/activity.ts";
import { membersOf } from "../../store/people/users.ts";
import { Card, PageHead, Pager } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { type MemberVisit, member } from "../visit.ts";
import { ActivityTable } from "./activity-table.tsx";

const PAGE_SIZE = 50;

async function activityPage(visit: MemberVisit): Promise<Response> {
  const { deps, account, query } = visit;
  const after = parsePosition(query.get("after") ?? "");
  const [found, members] = await Promise.all([
    listActivity(deps.store.read, { accountId: account.id, after, limit: PAGE_SIZE + 1 }),
    membersOf(deps.store.read, account.id),
  ]);
  const rows = found.slice(0, PAGE_SIZE);
  const last = rows.at(-1)?.entry;
  const known = new Set(members.map(({ user }) => user.id));
  // To partners all operators appear as one, whichever person it was.
  const who = ({ entry, email, isOperator }: ActivityRow) =>
    email === null || (isOperator === 1 && !known.has(entry.userId ?? ""))
      ? "Operator of the service"
      : email;
  return shell(
    visit,
    "Activity",
    <>
      <PageHead
        title="Activity"
        lead="Who changed what in this account, newest first. Entries are never changed, and visits of the operator are among them."
      />
      <Card flush>
        <ActivityTable rows={rows} who={who} />
      </Card>
      <Pager older={found.length > PAGE_SIZE && last && `/console/activity?after=${formatPosition(last)}`} />
    </>,
  );
}

export const activityRoutes = [member.get("/console/activity", activityPage)];
