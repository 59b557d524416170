/** @jsxImportSource preact */
import PQueue from "p-queue";
import type { ComponentChildren } from "preact";
import { checkCard } from "../../app/images/check-card.ts";
import type { SetPlace } from "../../core/card-set.ts";
import type { ErrorDetail } from "../../core/errors.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { drawPreview } from "../batches/draw-preview.ts";
import type { Preview } from "../batches/list-store.ts";
import { notFound } from "../page-error.ts";
import { Rules } from "../refused.tsx";
import { html, privateFile } from "../respond.ts";
import { field, type MemberVisit, member } from "../visit.ts";
import { lookOf, type MakeState, missingOf, NEEDED, requestFrom, sentForm } from "./make-form.ts";
import { problemsOf } from "./playground-inputs.tsx";
import { idOf, ownFields } from "./playground-own.tsx";

// The card as it will be, drawn anew whenever something of its form changes.

export const PREVIEW_CAPTION = "A preview: the card itself has no mark.";

const PREVIEW = "/console/make/preview";
/** Sharp on a phone; too small for anything but a look. */
const PREVIEW_WIDTH_PX = 400;
/** When to ask again for a card that is being drawn. */
const AGAIN_MS = 400;

/**
 * Sent by the answers that put another photo or look into the form. Not htmx's own events: those come from
 * what a preview says beside the inputs too, and each preview would ask for the next.
 */
const PART_SHOWN = "cardpress:shown";
export const SHOWS_PART = { "HX-Trigger-After-Swap": PART_SHOWN };

/**
 * The place of the preview, which asks `path` for it after every change of the form with the id `form`, and
 * at once unless there is nothing to see yet.
 */
export function PreviewPlace({
  path = PREVIEW,
  form = "make",
  first = NO_PHOTO,
  now,
  atOnce = true,
}: {
  path?: string;
  form?: string;
  first?: string;
  /** The address of the card as it is, shown until something changes. */
  now?: string | undefined;
  atOnce?: boolean;
}) {
  const changes = `input delay:700ms from:#${form}, change delay:200ms from:#${form}, ${PART_SHOWN} from:body`;
  return (
    <div
      class="make-preview"
      hx-post={path}
      hx-trigger={atOnce ? `load, ${changes}` : changes}
      hx-target="#preview"
      hx-swap="outerHTML"
      hx-params="not file"
      hx-sync="this:replace"
    >
      {now ? (
        <figure id="preview">
          <img class="picture" src={now} alt="The card as it is" />
        </figure>
      ) : (
        <Nothing text={first} />
      )}
      {/* It stays while the picture is exchanged, and is read out once there is something to say. */}
      <div id="preview-caption" aria-live="polite">
        {now && "The card as it is."}
      </div>
    </div>
  );
}

const NO_PHOTO = "Choose a photo, and see the card.";

/** What is said of the preview, for a page that shows its place already. */
function Caption({ children }: { children?: ComponentChildren }) {
  return (
    <div id="preview-caption" hx-swap-oob="innerHTML">
      {children}
    </div>
  );
}

function Nothing({ text, tone = "" }: { text: string; tone?: string }) {
  return (
    <figure id="preview">
      <span class={`picture ${tone}`}>{text}</span>
    </figure>
  );
}

/** What is still missing, in one sentence. */
function missingText(state: MakeState): string {
  const labels = missingOf(state).map((name) => NEEDED[name].label);
  if (labels.length === 0) return PREVIEW_CAPTION;
  return `Still missing: ${labels.join(", ")}.`;
}

/** The inputs of this form that say beside them what is wrong. */
const SAY_PROBLEMS = [
  "name",
  "number",
  "skill_level",
  "position",
  "focus",
  "primary_color",
  "secondary_color",
  "background_theme",
  "format",
  "motion",
  "composition",
  "club_badge_url",
  "publish_on",
  "external_id",
];

const inputsOf = ({ own, hasLayers }: MakeState): string[] => [
  ...SAY_PROBLEMS,
  ...(hasLayers ? ["layers"] : []),
  ...Object.keys(own),
];

/** What is wrong beside each input, once something is written in it. */
function Beside({ state, problems }: { state: MakeState; problems: Record<string, string> }) {
  return (
    <>
      {inputsOf(state).map((name) => (
        <p key={name} class="problem" id={`${idOf(name)}-problem`} hx-swap-oob="true">
          {problems[name]}
        </p>
      ))}
    </>
  );
}

/** The form's card, with stand-ins for what is not written yet; or what is wrong with it. */
async function wished(visit: MemberVisit, state: MakeState) {
  const standIns = Object.fromEntries(missingOf(state).map((name) => [name, NEEDED[name].standIn]));
  const body = requestFrom({ ...state, fields: { ...state.fields, ...standIns } });
  const { request: wanted, details } = await checkCard(body, visit.deps.config, visit.deps.templates);
  // Another time makes no other picture.
  const { publish_at: _, ...request } = wanted ?? {};
  if (wanted) return { request: request as CreateImageRequest, problems: {}, unplaced: [] };
  const { places } = ownFields(state.template, state.own);
  const placed = new Set(inputsOf(state));
  const isPlaced = (detail: ErrorDetail) =>
    Object.keys(problemsOf({ details: [detail] }, places)).some((name) => placed.has(name));
  const unplaced = details.filter((detail) => !isPlaced(detail));
  return { problems: problemsOf({ details }, places), unplaced };
}

const keyOf = ({ account }: MemberVisit, fingerprint: string) => `card ${account.id} ${fingerprint}`;

async function preview(visit: MemberVisit): Promise<Response> {
  const state = await sentForm(visit);
  const { request, problems, unplaced } = await wished(visit, state);
  return html(
    visit.exchange,
    <>
      {await Picture({ visit, state, request, unplaced })}
      {/* After another look was chosen the form still has the old inputs. It asks again once they are replaced. */}
      {field(visit, "shown_look") === lookOf(state) && <Beside state={state} problems={problems} />}
    </>,
    { fragment: true },
  );
}

async function Picture({
  visit,
  state,
  request,
  unplaced,
}: {
  visit: MemberVisit;
  state: MakeState;
  request: CreateImageRequest | undefined;
  /** The rules it breaks that no input has a place for. */
  unplaced: ErrorDetail[];
}) {
  if (state.fields.source_image_url === "") return <NoPreview text={NO_PHOTO} />;
  if (!request && unplaced.length > 0) return <BrokenRules details={unplaced} />;
  if (!request) return <NoPreview text="No preview" caption="Correct what is marked, and see the card." />;
  const name = state.fields.name || "the player";
  return CardPreview({ visit, request, name, caption: missingText(state) });
}

function NoPreview({ text, caption, tone }: { text: string; caption?: ComponentChildren; tone?: string }) {
  return (
    <>
      <Nothing text={text} tone={tone ?? ""} />
      <Caption>{caption}</Caption>
    </>
  );
}

/** In the place of a preview: what keeps the card from being made. */
export const BrokenRules = ({ details }: { details: ErrorDetail[] }) => (
  <NoPreview text="No preview" caption={<Rules details={details} />} />
);

/** A card as it will be, or why there is none; while it is drawn it asks `path` again. */
export async function CardPreview({
  visit,
  request,
  name,
  caption,
  path = PREVIEW,
  place,
}: {
  visit: MemberVisit;
  request: CreateImageRequest;
  name: string;
  caption: string;
  path?: string;
  place?: SetPlace | null;
}) {
  const fingerprint = fingerprintOf(place ? { request, place } : request);
  const made = await visit.lists.drawnPreview(keyOf(visit, fingerprint), () =>
    drawn(visit, request, fingerprint, place),
  );
  if (made === "drawing") return <Drawing shown={field(visit, "shown")} path={path} />;
  if ("problem" in made) return <NoPreview text="No preview" caption={made.problem} tone="thumb-failed" />;
  return (
    <>
      <figure id="preview">
        <input type="hidden" name="shown" value={fingerprint} />
        <img class="picture" src={`${PREVIEW}/${fingerprint}/thumb`} alt={`The card of ${name}`} />
      </figure>
      <Caption>{caption}</Caption>
    </>
  );
}

/** A card that is being drawn, in whose place the one before stays. */
function Drawing({ shown, path }: { shown: string; path: string }) {
  const isShown = /^[0-9a-f]{64}$/.test(shown);
  return (
    <figure
      id="preview"
      class="drawing"
      hx-post={path}
      hx-trigger={`load delay:${AGAIN_MS}ms`}
      hx-target="this"
    >
      {isShown ? (
        <>
          <input type="hidden" name="shown" value={shown} />
          <img class="picture" src={`${PREVIEW}/${shown}/thumb`} alt="The card before the change" />
        </>
      ) : (
        <span class="picture thumb-processing">Being drawn</span>
      )}
    </figure>
  );
}

/** One person's card at a time, and only the newest: what is typed over meanwhile is not drawn. */
const turns = new PQueue({ concurrency: 1 });
const newest = new Map<string, string>();

function drawn(
  visit: MemberVisit,
  request: CreateImageRequest,
  fingerprint: string,
  place?: SetPlace | null,
): Promise<Preview | undefined> {
  const who = `${visit.account.id} ${visit.user.id}`;
  newest.set(who, fingerprint);
  return turns.add(async () => {
    if (newest.get(who) !== fingerprint) return undefined;
    newest.delete(who);
    const ifFaulty = "The card can be made all the same.";
    return drawPreview(visit, request, {
      widthPx: PREVIEW_WIDTH_PX,
      ifFaulty,
      ...(place && { place }),
    });
  });
}

async function picture(visit: MemberVisit): Promise<Response> {
  const made = await visit.lists.preview(keyOf(visit, visit.params.fingerprint ?? ""));
  if (!made || "problem" in made) throw notFound();
  return privateFile(visit.exchange, Buffer.from(made.picture, "base64"), {
    "Content-Type": "image/webp",
    "Cache-Control": "private, max-age=3600",
  });
}

export const makePreviewRoutes = [
  member.post(PREVIEW, preview),
  member.get(`${PREVIEW}/:fingerprint/thumb`, picture),
];
