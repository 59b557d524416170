/** @jsxImportSource preact */

import { consentView, recordConsent, withdrawConsent } from "../../app/people/consent.ts";
import { mayDelete } from "../../app/people/deletion-rights.ts";
import { ENVIRONMENTS } from "../../core/account.ts";
import { formatConsentPosition, parseConsentPosition } from "../../core/consent-position.ts";
import { csvField } from "../../core/csv.ts";
import { Refusal } from "../../core/errors.ts";
import { plainAttachment } from "../../core/file-name.ts";
import { dayOf, endOfDay } from "../../core/time.ts";
import { findImagesByExternalId, historyOfPlayer } from "../../store/images/image-search.ts";
import { actorAt } from "../../store/people/activity.ts";
import { consentOf, listConsents, type PlayerConsent } from "../../store/people/consents.ts";
import { playerName } from "../cards/image-parts.tsx";
import {
  Badge,
  Breakable,
  Card,
  Confirm,
  counted,
  Empty,
  Field,
  Notice,
  PageHead,
  Pager,
  PostForm,
  Time,
} from "../elements.tsx";
import { shell } from "../layout.tsx";
import { PageError } from "../page-error.ts";
import { privateTable, redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";

const PAGE_SIZE = 50;
const MAX_EXTERNAL_ID_CHARS = 255;
/** Images in which a name is looked for, and the players that are offered of them. */
const NAMED_IMAGES = 100;
const MAX_OFFERED = 5;

function Terms({ consent, now }: { consent: PlayerConsent; now: number }) {
  const { status, photo, full_name } = consentView(consent, now);
  if (status === "withdrawn") return <Badge tone="bad">Withdrawn</Badge>;
  if (status === "ended") return <Badge tone="bad">Ended</Badge>;
  return (
    <>
      {!photo && <Badge tone="warn">No photo</Badge>} {!full_name && <Badge tone="warn">No full name</Badge>}
      {photo && full_name && <Badge tone="good">Everything</Badge>}
    </>
  );
}

function Rows({ visit, rows }: { visit: MemberVisit; rows: PlayerConsent[] }) {
  return (
    <table class="table">
      <caption class="visually-hidden">Consents</caption>
      <thead>
        <tr>
          <th scope="col">Player</th>
          <th scope="col">Allowed</th>
          <th scope="col">Until</th>
          <th scope="col">Recorded</th>
          <th scope="col">
            <span class="visually-hidden">Withdraw</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((consent, at) => (
          <tr key={consent.externalId}>
            <th scope="row" class="name words">
              <a href={`/console/consent?search=${encodeURIComponent(consent.externalId)}`}>
                <Breakable text={consent.externalId} />
              </a>
            </th>
            <td data-label="Allowed">
              <Terms consent={consent} now={visit.now} />
            </td>
            <td data-label="Until">{consent.endsAt === null ? "No end" : dayOf(consent.endsAt)}</td>
            <td data-label="Recorded">
              <Time at={consent.updatedAt} style="relative" />
            </td>
            <td class="cell-actions">
              {mayDelete(visit) && consent.withdrawnAt === null && (
                <Withdraw visit={visit} id={`withdraw-${at}`} externalId={consent.externalId} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Withdraw({ visit, id, externalId }: { visit: MemberVisit; id: string; externalId: string }) {
  return (
    <Confirm
      visit={visit}
      id={id}
      action="/console/consent/withdraw"
      button="Withdraw"
      title="Withdraw the consent?"
      confirm="Withdraw and delete"
    >
      <input type="hidden" name="external_id" value={externalId} />
      <p>
        Every live and test card of <Breakable text={externalId} /> is deleted with photo and request, your
        webhooks are sent it, and no card of the player is made until a new consent is recorded. It cannot be
        undone.
      </p>
    </Confirm>
  );
}

/** What is recorded of a player, and by whom; who is null where it was not in the console. */
interface Recorded {
  consent: PlayerConsent;
  by: string | null | undefined;
}

/** Who recorded what when: it is about to be replaced. */
function Before({ recorded: { consent, by }, now }: { recorded: Recorded; now: number }) {
  const { withdrawnAt, endsAt, updatedAt } = consent;
  return (
    <p>
      {withdrawnAt === null ? "Recorded" : "Withdrawn"}{" "}
      {by === undefined ? "" : by === null ? "by API " : `by ${by} `}
      <Time at={updatedAt} style="relative" />: <Terms consent={consent} now={now} />
      {withdrawnAt === null && endsAt !== null && ` until ${dayOf(endsAt)}`}
    </p>
  );
}

interface RecordFormProps {
  visit: MemberVisit;
  externalId: string;
  recorded: Recorded | undefined;
}

function RecordForm({ visit, externalId, recorded }: RecordFormProps) {
  const { noPhoto = 0, noFullName = 0, endsAt = null, updatedAt } = recorded?.consent ?? {};
  return (
    <Card
      title={recorded ? "Change a consent" : "Record a consent"}
      note="It takes the place of what was recorded before, a withdrawal too, and holds from the next card on."
    >
      <PostForm visit={visit} action="/console/consent" class="form narrow-form">
        {recorded && <Before recorded={recorded} now={visit.now} />}
        <input type="hidden" name="seen" value={updatedAt ?? ""} />
        <Field label="Your id of the player" id="external_id">
          <input
            id="external_id"
            name="external_id"
            type="text"
            required
            maxLength={MAX_EXTERNAL_ID_CHARS}
            value={externalId}
          />
        </Field>
        <label class="check">
          <input type="checkbox" name="no_photo" value="yes" checked={noPhoto === 1} /> No photo: no card of
          the player is made
        </label>
        <label class="check">
          <input type="checkbox" name="no_full_name" value="yes" checked={noFullName === 1} /> No full name:
          cards say Maya O. for Maya Okafor
        </label>
        {mayDelete(visit) && (
          <Field
            label="Until"
            id="until"
            hint="The last day, after which the player is deleted. Empty: until it is withdrawn."
          >
            <input
              id="until"
              name="until"
              type="date"
              aria-describedby="until-hint"
              value={endsAt !== null && endsAt > visit.now ? dayOf(endsAt) : ""}
            />
          </Field>
        )}
        <button type="submit" class="button button-primary">
          Record it
        </button>
      </PostForm>
    </Card>
  );
}

/** Whether any card of this id was made and is still there, live or test. */
async function isKnown({ deps, account }: MemberVisit, externalId: string): Promise<boolean> {
  const scope = { accountId: account.id, externalId, limit: 1 };
  for (const environment of ENVIRONMENTS)
    if ((await historyOfPlayer(deps.store.read, { ...scope, environment })).length > 0) return true;
  return false;
}

/**
 * That an id is nobody's yet, which is right before the first card and wrong where somebody typed a name:
 * the ids of players whose names fit are offered.
 */
async function Unknown({ visit, externalId }: { visit: MemberVisit; externalId: string }) {
  const scope = { accountId: visit.account.id, search: externalId, limit: NAMED_IMAGES };
  const names = new Map<string, string>();
  for (const environment of ENVIRONMENTS)
    for (const image of await findImagesByExternalId(visit.deps.store.read, { ...scope, environment }))
      if (!names.has(image.externalId)) names.set(image.externalId, playerName(image));
  const offered = [...names].slice(0, MAX_OFFERED);
  return (
    <Notice tone="warn" title={`No card of an id ${externalId} has been made yet`}>
      <p>
        A consent holds for cards made with exactly this id. Record it if the first card is yet to come; else
        look the id up.
      </p>
      {offered.length > 0 && (
        <>
          <p>Did you mean one of these players?</p>
          <ul>
            {offered.map(([id, name]) => (
              <li key={id}>
                <a href={`/console/consent?search=${encodeURIComponent(id)}`}>
                  <Breakable text={id} />
                </a>
                : <Breakable text={name} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Notice>
  );
}

async function consentPage(visit: MemberVisit): Promise<Response> {
  const { deps, account, query } = visit;
  const search = (query.get("search") ?? "").trim();
  const after = parseConsentPosition(query.get("after") ?? "");
  const scope = { accountId: account.id, after, limit: PAGE_SIZE + 1 };
  const found = search
    ? [await consentOf(deps.store.read, { accountId: account.id, externalId: search })].filter(
        (one) => one !== undefined,
      )
    : await listConsents(deps.store.read, scope);
  const rows = found.slice(0, PAGE_SIZE);
  const last = rows.at(-1);
  const [own] = search ? found : [];
  const recorded = own && { consent: own, by: await recordedBy(visit, own) };
  return shell(
    visit,
    "Consent",
    <>
      <PageHead
        title="Consent"
        lead={
          <>
            What players agreed to. Every create obeys it, in the console and by API.{" "}
            <a href="/docs/data-protection#consent">How it works</a>
          </>
        }
      >
        <a class="button" href="/console/consent.csv">
          Download CSV
        </a>
      </PageHead>
      {search && !(await isKnown(visit, search)) && (await Unknown({ visit, externalId: search }))}
      {canWrite(visit) && <RecordForm visit={visit} externalId={search} recorded={recorded} />}
      <form class="row-form" method="get" action="/console/consent">
        <Field label="Find a player by your id" id="search">
          <input id="search" name="search" type="search" value={search} />
        </Field>
        <button type="submit" class="button">
          Find
        </button>
      </form>
      <Card flush>
        {rows.length === 0 ? (
          <Empty title={search ? "Nothing is recorded of this player" : "No consents yet"}>
            {search
              ? "So nothing is held back of the player's cards."
              : "Cards need none. Record one of a player who wants no photo, no full name, or cards only until a day: every card obeys it from then on."}
          </Empty>
        ) : (
          <Rows visit={visit} rows={rows} />
        )}
      </Card>
      <Pager
        newest={after && "/console/consent"}
        older={found.length > PAGE_SIZE && last && `/console/consent?after=${formatConsentPosition(last)}`}
      />
    </>,
  );
}

/** Its log entry has the same moment, written in the same transaction. */
function recordedBy({ deps }: MemberVisit, { accountId, updatedAt: at }: PlayerConsent) {
  return actorAt(deps.store.read, { accountId, actions: ["player.consent", "player.recalled"], at });
}

/** The player that the form names. Throws INVALID_REQUEST. */
function playerOf(visit: MemberVisit, externalId: string): { accountId: string; externalId: string } {
  const { length } = [...externalId];
  if (length < 1 || length > MAX_EXTERNAL_ID_CHARS || !externalId.isWellFormed() || externalId.includes("\0"))
    throw new Refusal(
      "INVALID_REQUEST",
      `Write your id of the player, of 1 to ${MAX_EXTERNAL_ID_CHARS} characters.`,
    );
  return { accountId: visit.account.id, externalId };
}

async function record(visit: MemberVisit): Promise<Response> {
  const player = playerOf(visit, field(visit, "external_id"));
  const until = field(visit, "until");
  if (until !== "") requireDeletion(visit);
  const endsAt = until === "" ? null : endOfDay(until);
  if (Number.isNaN(endsAt)) throw new Refusal("INVALID_REQUEST", "Write the last day as 2027-06-30.");
  const before = await consentOf(visit.deps.store.read, player);
  if (before?.withdrawnAt) requireDeletion(visit);
  const terms = {
    photo: field(visit, "no_photo") !== "yes",
    fullName: field(visit, "no_full_name") !== "yes",
    // Users who cannot set an end cannot take one away either.
    endsAt: mayDelete(visit) ? endsAt : (before?.endsAt ?? null),
  };
  if (before && String(before.updatedAt) !== field(visit, "seen")) {
    const problem = `Of ${player.externalId} there is a record already. Here it is: change it if you mean to.`;
    await visit.flashes.put(visit.session.id, { problem });
    return redirect(`/console/consent?search=${encodeURIComponent(player.externalId)}`, visit.exchange);
  }
  await recordConsent(visit.deps, player, terms, visit.user.id, before?.updatedAt ?? null);
  await visit.flashes.put(visit.session.id, { notice: `The consent of ${player.externalId} is recorded.` });
  // An id that no card has may be a name: its page says so.
  const shown = (await isKnown(visit, player.externalId))
    ? ""
    : `?search=${encodeURIComponent(player.externalId)}`;
  return redirect(`/console/consent${shown}`, visit.exchange);
}

/** An end deletes the player as a withdrawal does: users who may not delete players may set neither. */
function requireDeletion(visit: MemberVisit): void {
  if (!mayDelete(visit))
    throw new PageError(
      403,
      "The end of a consent deletes the player, and only owners of the account set it or take it back here. Ask one of them.",
    );
}

async function withdraw(visit: MemberVisit): Promise<Response> {
  requireDeletion(visit);
  // As the row has it: an id recorded by API may begin or end with a space.
  const player = playerOf(visit, visit.form.get("external_id") ?? "");
  const { images } = await withdrawConsent(visit.deps, player, visit.user.id);
  const notice = `The consent of ${player.externalId} is withdrawn; ${counted(images, "image was", "images were")} deleted.`;
  await visit.flashes.put(visit.session.id, { notice });
  return redirect("/console/consent", visit.exchange);
}

/** Records that are read at a time while the table is sent. */
const CSV_ROWS = 500;

/** Everything that is recorded, as a table for the person responsible for personal data. */
function csv(visit: MemberVisit): Response {
  const { deps, account, now } = visit;
  async function* lines() {
    yield "\ufeffexternal_id,status,photo,full_name,until,withdrawn_at,recalled_at,updated_at\r\n";
    for (let after: PlayerConsent | undefined; ; ) {
      const rows = await listConsents(deps.store.read, { accountId: account.id, after, limit: CSV_ROWS });
      yield rows
        .map((row) => {
          const { external_id, status, photo, full_name, ...times } = consentView(row, now);
          const { until, withdrawn_at, recalled_at, updated_at } = times;
          const yes = (is: boolean) => (is ? "yes" : "no");
          const cells = [
            external_id,
            status,
            yes(photo),
            yes(full_name),
            until,
            withdrawn_at,
            recalled_at,
            updated_at,
          ];
          return `${cells.map((cell) => csvField(cell ?? "")).join(",")}\r\n`;
        })
        .join("");
      after = rows.at(-1);
      if (rows.length < CSV_ROWS) return;
    }
  }
  return privateTable(visit.exchange, lines(), plainAttachment("cardpress-consents.csv"));
}

export const consentRoutes = [
  member.get("/console/consent", consentPage),
  member.post("/console/consent", record),
  member.post("/console/consent/withdraw", withdraw),
  member.get("/console/consent.csv", async (visit) => csv(visit)),
];
