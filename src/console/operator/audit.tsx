/** @jsxImportSource preact */
import { formatPosition, parsePosition } from "../../core/list-position.ts";
import { listActivity } from "../../store/people/activity.ts";
import { Card, PageHead, Pager } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { ActivityTable, byName } from "../people/activity-table.tsx";
import { operator, type UserVisit } from "../visit.ts";

const PAGE_SIZE = 50;

async function auditPage(visit: UserVisit): Promise<Response> {
  const after = parsePosition(visit.query.get("after") ?? "");
  const found = await listActivity(visit.deps.store.read, { after, limit: PAGE_SIZE + 1 });
  const rows = found.slice(0, PAGE_SIZE);
  const last = rows.at(-1)?.entry;
  return shell(
    visit,
    "Audit log",
    <>
      <PageHead title="Audit log" lead="Who did what, newest first. Entries are never changed." />
      <Card flush>
        <ActivityTable rows={rows} who={byName} linked />
      </Card>
      <Pager
        older={found.length > PAGE_SIZE && last && `/console/operator/audit?after=${formatPosition(last)}`}
      />
    </>,
    { wide: true },
  );
}

export const auditRoutes = [operator.get("/console/operator/audit", auditPage)];
