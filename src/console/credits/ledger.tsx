/** @jsxImportSource preact */

import { type StatementLine, statementPage, wholeStatement } from "../../app/credits/statement.ts";
import { csvField } from "../../core/csv.ts";
import { plainAttachment } from "../../core/file-name.ts";
import { formatPosition, type ListPosition, parsePosition } from "../../core/list-position.ts";
import { isoTime } from "../../core/time.ts";
import { type LedgerEntry, ledgerPage } from "../../store/credits/ledger.ts";
import { type Player, playersOf } from "../../store/images/players.ts";
import type { Tx } from "../../store/store.ts";
import { Badge, Card, count, Empty, Pager, Segments, Time, type Tone } from "../elements.tsx";
import { privateTable } from "../respond.ts";
import type { UserVisit } from "../visit.ts";

const PAGE_SIZE = 50;

const KINDS: Record<LedgerEntry["kind"], { name: string; tone: Tone }> = {
  grant: { name: "Granted", tone: "good" },
  reserve: { name: "Reserved", tone: "busy" },
  settle: { name: "Used", tone: "neutral" },
  release: { name: "Given back", tone: "good" },
  expire: { name: "Expired", tone: "bad" },
};

/** What an entry was for. Images are linked where the reader may open them. */
function Purpose({
  entry,
  linked,
  player,
}: {
  entry: LedgerEntry;
  linked: boolean;
  player: Player | undefined;
}) {
  if (entry.imageId === null) return <>{entry.reason}</>;
  const id = player ? (
    <span title={entry.imageId}>{player.name}</span>
  ) : (
    <code class="clip">{entry.imageId}</code>
  );
  return linked ? <a href={`/console/images/${entry.imageId}`}>{id}</a> : id;
}

/** A number with its sign. */
function signed(amount: number): string {
  return amount === 0 ? "0" : `${amount > 0 ? "+" : "−"}${count(Math.abs(amount))}`;
}

/** A row; without balances when rows in between are filtered out, because they would not add up. */
type LedgerLine = Pick<StatementLine, "entry" | "amount"> & Partial<StatementLine>;

/** Credit entries as a statement: the change, which credits, for what, and the balance afterwards. */
export function Ledger({
  lines,
  linked,
  players = new Map(),
}: {
  lines: LedgerLine[];
  linked: boolean;
  /** By the images' ids; without them the ids stand for them. */
  players?: Map<string, Player>;
}) {
  if (lines.length === 0) return <Empty title="No entries yet">Grants and used credits appear here.</Empty>;
  const hasBalance = lines[0]?.available !== undefined;
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
          {hasBalance && (
            <>
              <th scope="col" class="number">
                Balance
              </th>
              <th scope="col" class="number minor">
                Reserved
              </th>
            </>
          )}
          <th scope="col">For</th>
          <th scope="col">When</th>
        </tr>
      </thead>
      <tbody>
        {lines.map((line) => (
          <Line
            key={line.entry.id}
            line={line}
            linked={linked}
            player={players.get(line.entry.imageId ?? "")}
          />
        ))}
      </tbody>
    </table>
  );
}

function Line({
  line: { entry, amount, available, held },
  linked,
  player,
}: {
  line: LedgerLine;
  linked: boolean;
  player: Player | undefined;
}) {
  const { name, tone } = KINDS[entry.kind];
  return (
    <tr>
      <th scope="row">
        <Badge tone={tone}>{name}</Badge>
      </th>
      <td data-label="Credits">{entry.bucket === "plan" ? `Plan of ${entry.period}` : "Top-up"}</td>
      <td data-label="Amount" class="number">
        {signed(amount)}
      </td>
      {available !== undefined && (
        <td data-label="Balance" class="number">
          {count(available)}
        </td>
      )}
      {held !== undefined && (
        <td data-label="Reserved" class="number minor">
          {count(held)}
        </td>
      )}
      <td data-label="For" class="long">
        <Purpose entry={entry} linked={linked} player={player} />
      </td>
      <td data-label="When">
        <Time at={entry.createdAt} />
      </td>
    </tr>
  );
}

/** A page of an account's statement under `path`, with filter, pager and a download of all of it. */
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
  const { read } = visit.deps.store;
  const query = { accountId, after, limit: PAGE_SIZE };
  const { lines, older } = grantsOnly ? await grantsPage(read, query) : await statementPage(read, query);
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
        <Ledger lines={lines} linked={linked} players={linked ? await playersIn(read, lines) : new Map()} />
      </Card>
      {!grantsOnly && lines.length > 0 && (
        <p class="note">
          The amount is what an entry adds to the balance or takes from it; the balance is what can be spent
          after it. A credit leaves the balance when it is reserved, so its use takes nothing more.
        </p>
      )}
      <Pager newest={after && address({})} older={older && address({ after: formatPosition(older) })} />
    </>
  );
}

function playersIn(tx: Tx, lines: LedgerLine[]): Promise<Map<string, Player>> {
  return playersOf(
    tx,
    lines.flatMap(({ entry }) => entry.imageId ?? []),
  );
}

/** The entries that added credits: a few a month. */
async function grantsPage(
  tx: Tx,
  query: { accountId: string; after: ListPosition | undefined; limit: number },
): Promise<{ lines: LedgerLine[]; older: ListPosition | undefined }> {
  const found = await ledgerPage(tx, { ...query, grantsOnly: true, limit: query.limit + 1 });
  const entries = found.slice(0, query.limit);
  return {
    lines: entries.map((entry) => ({ entry, amount: entry.amount })),
    older: found.length > query.limit ? entries.at(-1) : undefined,
  };
}

/**
 * The whole statement of an account, newest first, streamed because it may be long. `named` adds the players,
 * whom only the account itself may see.
 */
export function statementCsv(visit: UserVisit, accountId: string, { named = false } = {}): Response {
  const { read } = visit.deps.store;
  async function* lines() {
    // The byte order mark by which spreadsheets recognise UTF-8.
    yield "\ufeffcreated_at,entry,kind,credits,period,amount,balance,reserved,image_id,reason";
    yield named ? ",external_id,player\r\n" : "\r\n";
    for await (const batch of wholeStatement(read, accountId)) {
      const players = named ? await playersIn(read, batch) : undefined;
      yield batch.map((line) => csvLine(line, players)).join("");
    }
  }
  return privateTable(visit.exchange, lines(), plainAttachment(`cardpress-credits-${accountId}.csv`));
}

function csvLine({ entry, amount, available, held }: StatementLine, players?: Map<string, Player>): string {
  const { id, kind, bucket, period, imageId, reason, createdAt } = entry;
  const player = players?.get(imageId ?? "");
  // Numbers are not guarded: the mark against formulas would turn -1 into text.
  const fields = [
    ...[isoTime(createdAt), id, kind, bucket, period].map(csvField),
    ...[amount, available, held],
    ...[imageId ?? "", reason ?? ""].map(csvField),
    ...(players ? [player?.externalId ?? "", player?.name ?? ""].map(csvField) : []),
  ];
  return `${fields.join(",")}\r\n`;
}
