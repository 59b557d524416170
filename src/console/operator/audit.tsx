/** @jsxImportSource preact */
import { listAudit } from "../../store/audit.ts";
import { Card, Empty, PageHead, Time } from "../elements.tsx";
import { readPosition } from "../images.tsx";
import { shell } from "../layout.tsx";
import { operator, type UserVisit } from "../visit.ts";

const PAGE_SIZE = 50;

/** "key.created" as "Key created". */
function actionName(action: string): string {
  const words = action.replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

async function auditPage(visit: UserVisit): Promise<Response> {
  const after = readPosition(visit.query.get("after"));
  const found = await listAudit(visit.parts.store.read, { after, limit: PAGE_SIZE + 1 });
  const rows = found.slice(0, PAGE_SIZE);
  const last = rows.at(-1)?.entry;
  return shell(
    visit,
    "Audit log",
    <>
      <PageHead title="Audit log" lead="Who did what, newest first. Entries are never changed." />
      <Card flush>
        {rows.length === 0 ? (
          <Empty title="Nothing yet">
            Sign-ins, keys, credits, suspensions and visits are written down here.
          </Empty>
        ) : (
          <table class="table">
            <caption class="visually-hidden">Audit log</caption>
            <thead>
              <tr>
                <th scope="col">What</th>
                <th scope="col">Of</th>
                <th scope="col">Account</th>
                <th scope="col">Who</th>
                <th scope="col">When</th>
              </tr>
            </thead>
            <tbody>
              {rows.map(({ entry, email, accountName }) => (
                <tr key={entry.id}>
                  <th scope="row">{actionName(entry.action)}</th>
                  <td data-label="Of" class="long">
                    {entry.subject}
                  </td>
                  <td data-label="Account">
                    {entry.accountId && (
                      <a href={`/console/operator/accounts/${entry.accountId}`}>
                        {accountName ?? entry.accountId}
                      </a>
                    )}
                  </td>
                  <td data-label="Who">{email ?? "Command line"}</td>
                  <td data-label="When">
                    <Time at={entry.createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Card>
      {found.length > PAGE_SIZE && last && (
        <nav class="pager" aria-label="Pages">
          <a class="button" href={`/console/operator/audit?after=${last.createdAt}.${last.id}`}>
            Older
          </a>
        </nav>
      )}
    </>,
    { wide: true },
  );
}

export const auditRoutes = [operator.get("/console/operator/audit", auditPage)];
