/** @jsxImportSource preact */
import { newCards } from "../../app/batches/batch-cards.ts";
import type { ListFault } from "../../app/batches/squad-cards.ts";
import { type Credits, creditsOf } from "../../app/credits/credits.ts";
import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import { MAX_ACCOUNT_NAME_CHARS } from "../../core/limits.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { takeFromBudget } from "../budget.ts";
import { Breakable, Card, Choice, count, counted, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { type Checked, cardsOfChecked, checkDraft } from "./draft-cards.ts";
import { NotLooked } from "./list-looked.tsx";
import { photosPath } from "./list-photos.tsx";
import { UnknownPositions } from "./list-positions.tsx";
import { Previews } from "./list-previews.tsx";
import { setLabel } from "./list-set.tsx";
import type { Draft } from "./list-store.ts";
import { logBatch } from "./log-batch.ts";

/** More are no help: once these are fixed, the list is checked again. */
const SHOWN_FAULTS = 100;
const SHOWN_LINES = 6;

/** The rows of a fault, each with its player's name where the list has one. */
function Rows({ lines, draft: { list, mapping } }: { lines: number[]; draft: Draft }) {
  const at = mapping.columns.name;
  const nameOf = (line: number) => {
    const row = at === undefined ? undefined : list.rows.find((one) => one.line === line);
    return row?.cells[at as number]?.trim() ?? "";
  };
  const hidden = lines.length - SHOWN_LINES;
  return (
    <>
      {lines.slice(0, SHOWN_LINES).map((line) => (
        <div key={line}>
          {line} <Breakable text={nameOf(line)} />
        </div>
      ))}
      {hidden > 0 && <div>and {count(hidden)} more</div>}
    </>
  );
}

function Faults({ faults, draft }: { faults: ListFault[]; draft: Draft }) {
  const shown = faults.slice(0, SHOWN_FAULTS);
  return (
    <Card
      flush
      title="What is wrong"
      note={
        faults.length > shown.length
          ? `The first ${SHOWN_FAULTS} of ${count(faults.length)} faults, by the rows of your file.`
          : "By the rows of your file."
      }
    >
      <table class="table">
        <caption class="visually-hidden">Faults</caption>
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Column</th>
            <th scope="col">Fault</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ lines, column, message }) => (
            <tr key={column + message}>
              <th scope="row" class="words">
                <Rows lines={lines} draft={draft} />
              </th>
              <td data-label="Column" class="name words">
                <Breakable text={column} />
              </td>
              <td data-label="Fault" class="long words">
                <Breakable text={message} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}

/** What live cards cost: those that an earlier batch has made are not made again. */
function Price({ credits: { left }, cards, fresh }: { credits: Credits; cards: number; fresh: number }) {
  if (left < fresh)
    return (
      <Notice tone="warn" title={`Live cards would cost ${creditsText(fresh)}, and you have ${count(left)}.`}>
        Make them as test cards, which are free, or have credits added first.
      </Notice>
    );
  const known = cards - fresh;
  return (
    <p>
      Live: <strong>{creditsText(fresh)}</strong> of the {count(left)} you have; {count(left - fresh)} are
      left.{" "}
      {known > 0 &&
        `${count(known)} of the cards ${known === 1 ? "is" : "are"} unchanged: made before, and not charged again. `}
      A card that fails costs nothing.
    </p>
  );
}

const creditsText = (credits: number) => counted(credits, "credit");

function Confirmation({
  visit,
  draft,
  checked,
  credits,
  fresh,
}: {
  visit: MemberVisit;
  draft: Draft;
  checked: Checked;
  credits: Credits;
  /** Live cards that no earlier batch has made. */
  fresh: number;
}) {
  const { faults, requests } = checked;
  const cards = cardsOfChecked(checked).length;
  const leftOut = draft.list.rows.length - requests.length;
  const environment = draft.set?.environment;
  const kinds: [string, string][] = [
    ["live", `Live, ${creditsText(fresh)}`],
    ["test", "Test, free: a grey stand-in for each photo"],
  ];
  return (
    <Card title={`Make ${count(cards)} ${cards === 1 ? "card" : "cards"}`}>
      <PostForm visit={visit} action={`/console/lists/${draft.id}/make`} class="form">
        <Field label="Name of the squad" id="name">
          <input id="name" name="name" type="text" value={draft.name} maxLength={MAX_ACCOUNT_NAME_CHARS} />
        </Field>
        {environment !== "test" && <Price credits={credits} cards={cards} fresh={fresh} />}
        {draft.set && (
          <p>
            Cards of the set{" "}
            <a href={`/console/sets/${draft.set.id}`}>
              <Breakable text={setLabel(draft.set)} />
            </a>
            , whose numbers are given when they are made.
          </p>
        )}
        <Choice
          legend="Make them as"
          name="environment"
          options={kinds.filter(([kind]) => environment === undefined || kind === environment)}
          chosen={environment ?? (credits.left < fresh ? "test" : "live")}
        />
        <p class="hint">After test cards the list stays, with its photos: change it, or make it live then.</p>
        {faults.length > 0 && (
          <label class="check">
            <input type="checkbox" name="leave_out" value="yes" required /> Leave out the {count(leftOut)}{" "}
            {leftOut === 1 ? "row" : "rows"} with faults
          </label>
        )}
        <NotLooked total={requests.length} />
        <div class="actions">
          {canWrite(visit) && (
            <button type="submit" class="button button-primary">
              Make {count(cards)} {cards === 1 ? "card" : "cards"}
            </button>
          )}
          <a class="button" href={photosPath(draft)}>
            Photos
          </a>
          <a class="button" href={`/console/lists/${draft.id}`}>
            Change the columns
          </a>
          <a class="button" href={`/console/lists/${draft.id}/file`}>
            Upload a corrected file
          </a>
        </div>
      </PostForm>
    </Card>
  );
}

async function checkPage(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  const checked = await checkDraft(visit, draft);
  const { faults, requests, photos } = checked;
  const { account, now } = visit;
  const credits = await creditsOf(visit.deps.store.read, account, now);
  const live = { account, environment: "live", requests: cardsOfChecked(checked) } as const;
  const fresh = (await newCards(visit.deps.store.read, live, now)).length;
  const broken = draft.list.rows.length - requests.length;
  return shell(
    visit,
    "Check",
    <>
      <PageHead
        title={draft.name || "Squad list"}
        lead={
          broken === 0
            ? `${requests.length === 1 ? "The one row has" : `All ${count(requests.length)} rows have`} what a card needs. Whether the photos do shows below. Nothing has been made or charged yet.`
            : `${counted(requests.length, "player is", "players are")} complete, ${count(broken)} ${broken === 1 ? "has" : "have"} a fault. Nothing has been made or charged yet.`
        }
      />
      <UnknownPositions visit={visit} draft={draft} />
      {faults.length > 0 && <Faults faults={faults} draft={draft} />}
      {requests.length > 0 ? (
        <>
          <Previews draft={draft} {...{ requests, photos }} all={visit.query.get("previews") === "all"} />
          <Confirmation visit={visit} draft={draft} checked={checked} credits={credits} fresh={fresh} />
        </>
      ) : (
        <div class="actions">
          <a class="button button-primary" href={`/console/lists/${draft.id}`}>
            Change the columns
          </a>
          <a class="button" href={photosPath(draft)}>
            Photos
          </a>
          <a class="button" href={`/console/lists/${draft.id}/file`}>
            Upload a corrected file
          </a>
        </div>
      )}
    </>,
  );
}

/** Orders the batch. A refusal is shown on the page with the list, which stays. */
async function make(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  const { deps, account } = visit;
  const wanted: Environment = field(visit, "environment") === "live" ? "live" : "test";
  const environment = draft.set?.environment ?? wanted;
  try {
    const checked = await checkDraft(visit, draft);
    const { faults } = checked;
    if (faults.length > 0 && field(visit, "leave_out") !== "yes")
      throw new Refusal(
        "INVALID_REQUEST",
        "Some rows have faults. Tick that they are left out, or correct the file.",
      );
    await takeFromBudget(visit, environment);
    const requests = cardsOfChecked(checked);
    const name = [...field(visit, "name")].slice(0, MAX_ACCOUNT_NAME_CHARS).join("");
    const { batch } = await deps.acceptBatch({
      account,
      environment,
      // However often the button is pressed; a list is tried anew once anything of it is changed.
      idempotencyKey: `console-${draft.id}${environment === "test" ? `-${fingerprintOf({ name, requests })}` : ""}`,
      // A corrected list costs what is new in it.
      reusesCards: true,
      name,
      requests,
    });
    await logBatch(visit, batch);
    if (environment === "live") await visit.lists.drop(visit);
    else await visit.lists.noteTried(visit, { batch: batch.id, version: draft.version ?? 0 });
    return redirect(`/console/batches/${batch.id}`, visit.exchange);
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    await visit.flashes.put(visit.session.id, { problem: error.message });
    return redirect(`/console/lists/${draft.id}/check`, visit.exchange);
  }
}

export const listCheckRoutes = [
  member.get("/console/lists/:id/check", checkPage),
  member.post("/console/lists/:id/make", make),
];
