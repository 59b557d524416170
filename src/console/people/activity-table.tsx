/** @jsxImportSource preact */
import type { ActivityRow } from "../../store/people/activity.ts";
import { Empty, Time } from "../elements.tsx";

/** "key.created" as "Key created". */
function actionName(action: string): string {
  const words = action.replaceAll(/[._]/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * The activity log. `who` names the actor as this reader may know them; `linked` adds the account, for
 * operators.
 */
export function ActivityTable({
  rows,
  who,
  linked = false,
}: {
  rows: ActivityRow[];
  who: (row: ActivityRow) => string;
  linked?: boolean;
}) {
  if (rows.length === 0)
    return <Empty title="Nothing yet">Keys, members, credits and webhooks that change appear here.</Empty>;
  return (
    <table class="table table-log">
      <caption class="visually-hidden">Who did what</caption>
      <thead>
        <tr>
          <th scope="col">What</th>
          <th scope="col">Of</th>
          {linked && <th scope="col">Account</th>}
          <th scope="col">Who</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.entry.id}>
            <th scope="row">{actionName(row.entry.action)}</th>
            <td data-label="Of" class="long">
              {row.entry.subject}
            </td>
            {linked && (
              <td data-label="Account" class="name">
                {row.entry.accountId && (
                  <a href={`/console/operator/accounts/${row.entry.accountId}`}>
                    {row.accountName ?? row.entry.accountId}
                  </a>
                )}
              </td>
            )}
            <td data-label="Who" class="name">
              {who(row)}
            </td>
            <td data-label="When">
              <Time at={row.entry.createdAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** For operators, who see everybody's name. */
export function byName({ email, entry }: ActivityRow): string {
  if (entry.action === "user.sign_in_refused" && email === null) return "Nobody known";
  return email ?? (/, with the key key_\w+$/.test(entry.subject) ? "API" : "Command line");
}
