/** @jsxImportSource preact */
import type { LedgerEntry } from "../../store/ledger.ts";
import { Badge, count, Empty, Time, type Tone } from "../elements.tsx";

const KINDS: Record<LedgerEntry["kind"], { name: string; tone: Tone; sign: string }> = {
  grant: { name: "Grant", tone: "good", sign: "+" },
  reserve: { name: "Reserve", tone: "busy", sign: "−" },
  settle: { name: "Settle", tone: "neutral", sign: "" },
  release: { name: "Release", tone: "good", sign: "+" },
  expire: { name: "Expire", tone: "bad", sign: "−" },
};

/** Credit entries as a statement: what moved, of which credits, for what. */
export function Ledger({ entries }: { entries: LedgerEntry[] }) {
  if (entries.length === 0) return <Empty title="No entries yet">Grants and used credits appear here.</Empty>;
  return (
    <table class="table">
      <caption class="visually-hidden">Ledger</caption>
      <thead>
        <tr>
          <th scope="col">Entry</th>
          <th scope="col">Credits</th>
          <th scope="col" class="number">
            Amount
          </th>
          <th scope="col">For</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => {
          const { name, tone, sign } = KINDS[entry.kind];
          return (
            <tr key={entry.id}>
              <th scope="row">
                <Badge tone={tone}>{name}</Badge>
              </th>
              <td data-label="Credits">{entry.bucket === "plan" ? `Plan of ${entry.period}` : "Top-up"}</td>
              <td data-label="Amount" class="number">
                {sign + count(entry.amount)}
              </td>
              <td data-label="For" class="long">
                {entry.imageId ? <code class="clip">{entry.imageId}</code> : entry.reason}
              </td>
              <td data-label="When">
                <Time at={entry.createdAt} />
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
