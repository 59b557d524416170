/** @jsxImportSource preact */
import { formatPosition, type ListPosition, parsePosition } from "../core/list-position.ts";
import { isoTime } from "../core/time.ts";
import { type LedgerEntry, ledgerPage } from "../store/ledger.ts";
import { Badge, Card, count, Empty, Pager, Segments, Time, type Tone } from "./elements.tsx";
import { privateFile } from "./respond.ts";
import type { UserVisit } from "./visit.ts";

const PAGE_SIZE = 50;
/** Entries read at once while a statement is written out: about a megabyte of text. */
const CSV_BATCH = 5_000;

const KINDS: Record<LedgerEntry["kind"], { name: string; tone: Tone; sign: string }> = {
  grant: { name: "Granted", tone: "good", sign: "+" },
  reserve: { name: "Reserved", tone: "busy", sign: "−" },
  settle: { name: "Used", tone: "neutral", sign: "" },
  release: { name: "Given back", tone: "good", sign: "+" },
  expire: { name: "Expired", tone: "bad", sign: "−" },
};

/** What an entry was for. Images are linked where the reader may open them. */
function Purpose({ entry, linked }: { entry: LedgerEntry; linked: boolean }) {
  if (entry.imageId === null) return <>{entry.reason}</>;
  const id = <code class="clip">{entry.imageId}</code>;
  return linked ? <a href={`/console/images/${entry.imageId}`}>{id}</a> : id;
}

/** Credit entries as a statement: what moved, of which credits, for what. */
export function Ledger({ entries, linked }: { entries: LedgerEntry[]; linked: boolean }) {
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
                <Purpose entry={entry} linked={linked} />
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

/** A page of an account's statement under `path`, with its filter, its pages and the whole of it as a file. */
export async function Statement({
  visit,
  accountId,
  path,
  linked,
}: {
  visit: UserVisit;
  accountId: string;
  path: string;
  linked: boolean;
}) {
  const grantsOnly = visit.query.get("show") === "grants";
  const after = parsePosition(visit.query.get("after") ?? "");
  const query = { accountId, grantsOnly, after, limit: PAGE_SIZE + 1 };
  const found = await ledgerPage(visit.parts.store.read, query);
  const entries = found.slice(0, PAGE_SIZE);
  const last = entries.at(-1);
  const address = (change: Record<string, string>) => {
    const text = new URLSearchParams({ ...(grantsOnly ? { show: "grants" } : {}), ...change }).toString();
    return text === "" ? path : `${path}?${text}`;
  };
  return (
    <>
      <div class="toolbar">
        <Segments
          label="Entries"
          choices={[
            { label: "Everything", href: path, current: !grantsOnly },
            { label: "Grants and top-ups", href: `${path}?show=grants`, current: grantsOnly },
          ]}
        />
        <span class="grow" />
        <a class="button" href={`${path}.csv`}>
          Download CSV
        </a>
      </div>
      <Card flush>
        <Ledger entries={entries} linked={linked} />
      </Card>
      <Pager
        newest={after && address({})}
        older={found.length > PAGE_SIZE && last && address({ after: formatPosition(last) })}
      />
    </>
  );
}

/** A field of a CSV file: quoted, and kept from being taken for a formula by a spreadsheet. */
export function csvField(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The whole statement of an account, newest first, written while it is read: it may be long. */
export function statementCsv(visit: UserVisit, accountId: string): Response {
  async function* lines() {
    // The mark by which spreadsheets know that the file is UTF-8.
    yield "\ufeffcreated_at,entry,kind,credits,period,amount,image_id,reason\r\n";
    let after: ListPosition | undefined;
    for (;;) {
      const batch = await ledgerPage(visit.parts.store.read, { accountId, after, limit: CSV_BATCH });
      yield batch.map(csvLine).join("");
      after = batch.at(-1);
      if (batch.length < CSV_BATCH) return;
    }
  }
  const source = lines();
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { value, done } = await source.next();
      if (done) controller.close();
      else controller.enqueue(new TextEncoder().encode(value));
    },
  });
  return privateFile(visit.exchange, stream, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": `attachment; filename="cardpress-credits-${accountId}.csv"`,
  });
}

function csvLine(entry: LedgerEntry): string {
  const { id, kind, bucket, period, amount, imageId, reason, createdAt } = entry;
  const fields = [isoTime(createdAt), id, kind, bucket, period, String(amount), imageId ?? "", reason ?? ""];
  return `${fields.map(csvField).join(",")}\r\n`;
}
