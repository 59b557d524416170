/** @jsxImportSource preact */
import { countNewCards } from "../../app/batches/batch-cards.ts";
import { previewCard } from "../../app/batches/preview-card.ts";
import { faultsInList, type ListFault } from "../../app/batches/squad-cards.ts";
import { type Credits, creditsOf } from "../../app/credits/credits.ts";
import { logAction } from "../../app/operations/activity.ts";
import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { fingerprint } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_ACCOUNT_NAME_CHARS } from "../../core/limits.ts";
import { checkCards } from "../../http/batch-body.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { takeFromBudget } from "../budget.ts";
import { Breakable, Card, Choice, count, counted, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { logFault, notFound } from "../page-error.ts";
import { html, privateFile, redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { draftCards } from "./draft-cards.ts";
import type { Draft, Preview } from "./list-store.ts";

interface Checked {
  faults: ListFault[];
  /** The cards that can be made. */
  requests: CreateImageRequest[];
}

/** What the API would say about each row: the same checks. */
async function check(visit: MemberVisit, draft: Draft): Promise<Checked> {
  const { config, templates } = visit.deps;
  const { list, mapping } = draft;
  const { targets, cards, withoutPhoto } = await draftCards(visit, draft);
  const { requests, details } = await checkCards(cards, config, templates);
  if (details.length === 0) return { faults: [], requests };
  const missing = new Set(withoutPhoto.map((row) => `cards[${row}].player.source_image_url`));
  const worded = details.map((detail) =>
    missing.has(detail.field)
      ? { ...detail, message: "is missing: add a photo under Photos, or write its address into the list." }
      : detail,
  );
  const { faults, sound } = faultsInList(list, targets, mapping, worded);
  const rest = await checkCards(
    sound.map((at) => cards[at]),
    config,
    templates,
  );
  return { faults, requests: rest.requests };
}

/** More are no help: once these are fixed, the list is checked again. */
const SHOWN_FAULTS = 100;
const SHOWN_LINES = 6;

function linesText(lines: number[]): string {
  const shown = lines.slice(0, SHOWN_LINES).join(", ");
  return lines.length > SHOWN_LINES ? `${shown} and ${lines.length - SHOWN_LINES} more` : shown;
}

function Faults({ faults }: { faults: ListFault[] }) {
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
              <th scope="row">{linesText(lines)}</th>
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

/** The three most telling cards: the first, the longest name, the last. */
function chosenForPreview(requests: readonly CreateImageRequest[]): number[] {
  const longest = requests.reduce(
    (most, { player }, at) => (player.name.length > (requests[most]?.player.name.length ?? 0) ? at : most),
    0,
  );
  const chosen = new Set(
    [0, longest, requests.length - 1, 1, 2].filter((at) => at >= 0 && at < requests.length),
  );
  return [...chosen].slice(0, 3);
}

function Previews({ draft, requests }: { draft: Draft; requests: CreateImageRequest[] }) {
  return (
    <Card title="Three of the cards" note="Drawn from their own photos, free of charge.">
      <div class="previews">
        {chosenForPreview(requests).map((at) => (
          <Waiting key={at} draft={draft} at={at} name={requests[at]?.player.name ?? ""} />
        ))}
      </div>
    </Card>
  );
}

/** A card being drawn: it refreshes itself. */
function Waiting({
  draft,
  at,
  name,
  delayMs = 0,
}: {
  draft: Draft;
  at: number;
  name: string;
  delayMs?: number;
}) {
  return (
    <figure
      hx-get={`/console/lists/${draft.id}/cards/${at}`}
      hx-trigger={delayMs === 0 ? "load" : `load delay:${delayMs}ms`}
      hx-swap="outerHTML"
    >
      <span class="picture thumb-processing">Being drawn</span>
      <figcaption>{name}</figcaption>
    </figure>
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
  checked: { faults, requests },
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
  const cards = requests.length;
  const leftOut = draft.list.rows.length - cards;
  return (
    <Card title={`Make ${count(cards)} ${cards === 1 ? "card" : "cards"}`}>
      <PostForm visit={visit} action={`/console/lists/${draft.id}/make`} class="form">
        <Field label="Name of the batch" id="name">
          <input id="name" name="name" type="text" value={draft.name} maxLength={MAX_ACCOUNT_NAME_CHARS} />
        </Field>
        <Price credits={credits} cards={cards} fresh={fresh} />
        <Choice
          legend="Make them as"
          name="environment"
          options={[
            ["live", `Live, ${creditsText(fresh)}`],
            ["test", "Test, free"],
          ]}
          chosen={credits.left < fresh ? "test" : "live"}
        />
        {faults.length > 0 && (
          <label class="check">
            <input type="checkbox" name="leave_out" value="yes" required /> Leave out the {count(leftOut)}{" "}
            {leftOut === 1 ? "row" : "rows"} with faults
          </label>
        )}
        <div class="actions">
          {canWrite(visit) && (
            <button type="submit" class="button button-primary">
              Make {count(cards)} {cards === 1 ? "card" : "cards"}
            </button>
          )}
          <a class="button" href={`/console/lists/${draft.id}/photos`}>
            Photos
          </a>
          <a class="button" href={`/console/lists/${draft.id}`}>
            Change the columns
          </a>
        </div>
      </PostForm>
    </Card>
  );
}

async function checkPage(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  const checked = await check(visit, draft);
  const { faults, requests } = checked;
  const { account, now } = visit;
  const credits = await creditsOf(visit.deps.store.read, account, now);
  const live = { account, environment: "live", requests } as const;
  const fresh = await countNewCards(visit.deps.store.read, live, now);
  const broken = draft.list.rows.length - requests.length;
  return shell(
    visit,
    "Check",
    <>
      <PageHead
        title={draft.name || "Squad list"}
        lead={
          broken === 0
            ? `${requests.length === 1 ? "The one player is" : `All ${count(requests.length)} players are`} complete. Nothing has been made or charged yet.`
            : `${counted(requests.length, "player is", "players are")} complete, ${count(broken)} ${broken === 1 ? "has" : "have"} a fault. Nothing has been made or charged yet.`
        }
      />
      {faults.length > 0 && <Faults faults={faults} />}
      {requests.length > 0 ? (
        <>
          <Previews draft={draft} requests={requests} />
          <Confirmation visit={visit} draft={draft} checked={checked} credits={credits} fresh={fresh} />
        </>
      ) : (
        <div class="actions">
          <a class="button button-primary" href={`/console/lists/${draft.id}`}>
            Change the columns
          </a>
          <a class="button" href={`/console/lists/${draft.id}/photos`}>
            Photos
          </a>
          <a class="button" href="/console/lists/new">
            Upload a corrected file
          </a>
        </div>
      )}
    </>,
  );
}

/** The request in a preview's URL. Throws 404. */
async function previewed(
  visit: MemberVisit,
): Promise<{ draft: Draft; at: number; request: CreateImageRequest; key: string }> {
  const draft = await visit.lists.get(visit);
  const { requests } = await check(visit, draft);
  const at = Number(visit.params.at);
  const request = requests[at];
  // Only the three that are shown: previews must not become free cards.
  if (!request || !chosenForPreview(requests).includes(at)) throw notFound();
  return { draft, at, request, key: `${draft.id} ${fingerprint(request)}` };
}

/** When to ask again for a card that is being drawn. */
const AGAIN_MS = 1_500;

async function preview(visit: MemberVisit): Promise<Response> {
  const { draft, at, request, key } = await previewed(visit);
  const { name } = request.player;
  const made = await visit.lists.drawnPreview(key, () => draw(visit, request));
  const part =
    made === "drawing" ? (
      <Waiting draft={draft} at={at} name={name} delayMs={AGAIN_MS} />
    ) : "problem" in made ? (
      <figure>
        <span class="picture thumb-failed">{made.problem}</span>
        <figcaption>{name}</figcaption>
      </figure>
    ) : (
      <figure>
        <img
          class="picture"
          src={`/console/lists/${draft.id}/cards/${at}/picture`}
          alt={`The card of ${name}`}
        />
        <figcaption>{name}</figcaption>
      </figure>
    );
  return html(visit.exchange, part, { fragment: true });
}

/** Draws a card's preview; nothing when no renderer had time for it. Never rejects. */
async function draw(visit: MemberVisit, request: CreateImageRequest): Promise<Preview | undefined> {
  try {
    const bytes = await previewCard(visit.deps, visit.account, request);
    return { picture: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    if (isPartnerRefusal(error) && error.code === "SERVICE_OVERLOADED") return undefined;
    if (isPartnerRefusal(error)) return { problem: error.message };
    logFault(visit, error);
    return { problem: "It could not be drawn, which is our fault. Upload the list again to see it." };
  }
}

async function previewPicture(visit: MemberVisit): Promise<Response> {
  const { key } = await previewed(visit);
  const made = await visit.lists.preview(key);
  if (!made || "problem" in made) throw notFound();
  return privateFile(visit.exchange, Buffer.from(made.picture, "base64"), { "Content-Type": "image/webp" });
}

/** Orders the batch. A refusal is shown on the page with the list, which stays. */
async function make(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  const { deps, account, user } = visit;
  const environment: Environment = field(visit, "environment") === "live" ? "live" : "test";
  try {
    const { faults, requests } = await check(visit, draft);
    if (faults.length > 0 && field(visit, "leave_out") !== "yes")
      throw new Refusal(
        "INVALID_REQUEST",
        "Some rows have faults. Tick that they are left out, or correct the file.",
      );
    await takeFromBudget(visit, environment);
    const { batch } = await deps.acceptBatch({
      account,
      environment,
      // However often the button is pressed.
      idempotencyKey: `console-${draft.id}`,
      // A corrected list costs what is new in it.
      reusesCards: true,
      name: [...field(visit, "name")].slice(0, MAX_ACCOUNT_NAME_CHARS).join(""),
      requests,
    });
    const subject = `${batch.id}, ${counted(batch.total, `${environment} card`)}`;
    await deps.store.write(
      "log batch",
      (tx) =>
        logAction(
          tx,
          { by: user.id, accountId: account.id, action: "batch.created", subject },
          { ...deps, now: visit.now },
        ),
      { concurrent: true },
    );
    await visit.lists.drop(visit);
    return redirect(`/console/batches/${batch.id}`, visit.exchange);
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    await visit.flashes.put(visit.session.id, { problem: error.message });
    return redirect(`/console/lists/${draft.id}/check`, visit.exchange);
  }
}

export const listCheckRoutes = [
  member.get("/console/lists/:id/check", checkPage),
  member.get("/console/lists/:id/cards/:at", preview),
  member.get("/console/lists/:id/cards/:at/picture", previewPicture),
  member.post("/console/lists/:id/make", make),
];
