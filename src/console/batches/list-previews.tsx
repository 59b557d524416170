/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { isNumbered, type Parallel, type SetPlace, SHIRT_NUMBER } from "../../core/card-set.ts";
import { fingerprintOf } from "../../core/idempotency.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_AUTO_PREVIEWS } from "../../core/list-limits.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { Card, count } from "../elements.tsx";
import { notFound } from "../page-error.ts";
import { html, privateFile } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { type Checked, checkedDraft } from "./draft-cards.ts";
import { drawPreview } from "./draw-preview.ts";
import { Looked, PhotoProblem, PhotoProblems } from "./list-looked.tsx";
import { photoFormPath } from "./list-photos.tsx";
import type { Draft, Preview } from "./list-store.ts";

// Cards as they will be, before anything is charged: three at a glance, or all of them, smaller.

/** How wide a small preview is: enough to see who is on it and whether the words fit. */
const SMALL_WIDTH_PX = 240;

/** Cards drawn at a time for one page. A user who leaves it, or stops, has no more drawn. */
const AT_ONCE = 2;

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

/** Which cards are drawn small, one after the other: all of a list, or all but the three. */
type Small = "1" | "others";

/** Those whose photo may be somebody else's first. */
const smallOnes = ({ requests, photos }: Pick<Checked, "requests" | "photos">, kind: Small): number[] => {
  const chosen = kind === "others" ? chosenForPreview(requests) : [];
  const isSure = (at: number) => Number(guessText(photos[at]) === undefined);
  return [...requests.keys()]
    .filter((at) => !chosen.includes(at))
    .sort((one, other) => isSure(one) - isSure(other));
};

/** By what a photo was taken for the player's, where that is a guess. */
function guessText(photo: Checked["photos"][number]): string | undefined {
  if (photo?.by === "number") return "Photo by shirt number";
  return photo?.by === "part" ? "Photo by a part of the name" : undefined;
}

interface PreviewsOf extends Pick<Checked, "requests" | "photos"> {
  draft: Draft;
}

/**
 * Three of the cards, and of a list that is no longer than a club's the others too, small: they tell whose
 * photo would be refused. Of a longer list they are drawn once somebody asks for `all`.
 */
export function Previews({ all, ...of }: PreviewsOf & { all: boolean }) {
  const { draft, requests } = of;
  const path = `/console/lists/${draft.id}/check`;
  if (all)
    return (
      <>
        <Looked total={requests.length} />
        <PhotoProblems draft={draft} cards={smallOnes(of, "1")} />
        <SmallCards
          {...of}
          kind="1"
          title={`All ${count(requests.length)} cards`}
          actions={
            <a class="button button-small" href={path}>
              Stop
            </a>
          }
        />
      </>
    );
  const chosen = chosenForPreview(requests);
  const others = smallOnes(of, "others");
  const drawsOthers = others.length > 0 && requests.length <= MAX_AUTO_PREVIEWS;
  return (
    <>
      <Looked
        total={requests.length}
        {...(others.length > 0 && !drawsOthers && { all: `${path}?previews=all` })}
      />
      <PhotoProblems draft={draft} cards={drawsOthers ? [...requests.keys()] : chosen} />
      <Card
        title={others.length > 0 ? "Three of the cards" : "The cards"}
        note={
          others.length > 0 && !drawsOthers
            ? "Preview all to know whose photo would be refused."
            : "The first, the longest name, the last."
        }
      >
        <div class="previews">
          {chosen.map((at) => (
            <Waiting key={at} draft={draft} at={at} name={requests[at]?.player.name ?? ""} />
          ))}
        </div>
      </Card>
      {drawsOthers && (
        <SmallCards
          {...of}
          kind="others"
          title={others.length === 1 ? "The other card" : `The other ${count(others.length)} cards`}
        />
      )}
    </>
  );
}

function SmallCards({
  kind,
  title,
  actions,
  ...of
}: PreviewsOf & { kind: Small; title: string; actions?: ComponentChildren }) {
  return (
    <Card
      title={title}
      note="Small and marked, drawn one after the other; those that would fail come first."
      actions={actions}
    >
      <div class="previews previews-all">
        {smallOnes(of, kind).map((at, place) => {
          const name = of.requests[at]?.player.name ?? "";
          return (
            <Waiting key={at} {...{ draft: of.draft, at, name, small: kind, isNext: place < AT_ONCE }} />
          );
        })}
      </div>
    </Card>
  );
}

interface Drawn {
  draft: Draft;
  at: number;
  name: string;
  small?: Small;
}

const figureId = (at: number) => `card-${at}`;
const partPath = ({ draft, at, small }: Drawn) =>
  `/console/lists/${draft.id}/cards/${at}${small ? `?small=${small}` : ""}`;

/** A card that is being drawn, which refreshes itself, or one whose turn comes. */
function Waiting({
  delayMs = 0,
  isNext = true,
  takesPlace = false,
  ...drawn
}: Drawn & {
  delayMs?: number;
  isNext?: boolean;
  /** Whether it takes the place of the figure of the same card, wherever that stands. */
  takesPlace?: boolean;
}) {
  const turn = isNext
    ? {
        "hx-get": partPath(drawn),
        "hx-trigger": delayMs === 0 ? "load" : `load delay:${delayMs}ms`,
        "hx-swap": "outerHTML",
      }
    : {};
  return (
    <figure id={figureId(drawn.at)} {...turn} {...(takesPlace ? { "hx-swap-oob": "true" } : {})}>
      <span class={isNext ? "picture thumb-processing" : "picture"}>{isNext ? "Being drawn" : "Waits"}</span>
      <figcaption>{drawn.name}</figcaption>
    </figure>
  );
}

interface Previewed extends Drawn {
  request: CreateImageRequest;
  photo: Checked["photos"][number];
  /** Of the card whose turn comes with this one's end. */
  next: { at: number; name: string } | null;
  key: string;
}

/** The card in a preview's URL. Throws 404. */
async function previewed(visit: MemberVisit): Promise<Previewed> {
  const draft = await visit.lists.get(visit);
  const checked = await checkedDraft(visit, draft);
  const { requests, photos } = checked;
  const at = Number(visit.params.at);
  const small = (["1", "others"] as const).find((kind) => kind === visit.query.get("small"));
  const request = requests[at];
  // Only three of a size at which somebody may use them: previews must not become free cards.
  if (!request || (!small && !chosenForPreview(requests).includes(at))) throw notFound();
  const order = small ? smallOnes(checked, small) : [];
  const place = order.indexOf(at);
  const after = place < 0 ? undefined : order[place + AT_ONCE];
  return {
    draft,
    at,
    name: request.player.name,
    ...(small && { small }),
    request,
    photo: photos[at],
    next: after === undefined ? null : { at: after, name: requests[after]?.player.name ?? "" },
    key: `${draft.id} ${small ? "small " : ""}${fingerprintOf(request)}`,
  };
}

/** When to ask again for a card that is being drawn. */
const AGAIN_MS = 1_500;
/** Small ones are drawn sooner. */
const SMALL_AGAIN_MS = 400;

async function preview(visit: MemberVisit): Promise<Response> {
  const card = await previewed(visit);
  const { draft, small, next, request, key } = card;
  const made = await visit.lists.drawnPreview(key, () =>
    draw(visit, request, { set: draft.set, small: small !== undefined }),
  );
  const { at, name } = card;
  const own = { draft, at, name, ...(small ? { small } : {}) };
  if (made === "drawing")
    return html(visit.exchange, <Waiting {...own} delayMs={small ? SMALL_AGAIN_MS : AGAIN_MS} />, {
      fragment: true,
    });
  return html(
    visit.exchange,
    <>
      <Ended {...card} made={made} />
      {"problem" in made && made.refused && <RefusedPhoto visit={visit} card={card} made={made} />}
      {next && <Waiting draft={draft} {...next} {...(small && { small })} takesPlace />}
    </>,
    { fragment: true },
  );
}

/** A card that was drawn, or cannot be: one that was looked at, unless the fault is ours. */
function Ended({ draft, at, name, small, photo, request, made }: Previewed & { made: Preview }) {
  const guess = guessText(photo);
  const looked = "picture" in made ? "well" : made.refused && "refused";
  return (
    <figure id={figureId(at)} {...(looked && { "data-seen": looked })}>
      {"problem" in made ? (
        <span class="picture thumb-failed">{made.problem}</span>
      ) : (
        <img
          class="picture"
          src={`/console/lists/${draft.id}/cards/${at}/picture${small ? `?small=${small}` : ""}`}
          alt={`The card of ${name}`}
        />
      )}
      <figcaption>
        {name}
        {"problem" in made && (
          <>
            {" "}
            <a href={photoFormPath(draft, request.player.external_id ?? "")}>Change the photo</a>
          </>
        )}
        {guess && <span class="sub">{guess}</span>}
      </figcaption>
    </figure>
  );
}

/** Said above the cards, too, with the way to what helps. */
function RefusedPhoto({
  visit,
  card: { draft, at, name, photo },
  made,
}: {
  visit: MemberVisit;
  card: Previewed;
  made: Extract<Preview, { problem: string }>;
}) {
  const sent = draft.photos?.find(({ id }) => id === photo?.id);
  // A click beside the player is followed by another one.
  const mayPoint = canWrite(visit) && (made.severalPeople || sent?.focus !== undefined);
  const crowd = mayPoint ? sent : undefined;
  const isElsewhere = mayPoint && sent === undefined;
  return <PhotoProblem {...{ visit, draft, at, name, problem: made.problem, crowd, isElsewhere }} />;
}

/** Where a card may come to stand in its set: numbers are given when it is made. */
function shownPlace({ id, name, season, parallels }: CardSet, { set, player }: CreateImageRequest): SetPlace {
  const parallel: Parallel = parallels.find((one) => one.name === set?.parallel) ?? { name: "", size: null };
  const wanted = set?.serial === SHIRT_NUMBER ? player.number : (set?.serial ?? 1);
  const serial = isNumbered(parallel) ? wanted : null;
  return { id, name, season, parallel: parallel.name, serial, size: parallel.size };
}

/** Draws a card's preview as `drawPreview` does. */
function draw(
  visit: MemberVisit,
  request: CreateImageRequest,
  { set, small }: { set: CardSet | undefined; small: boolean },
): Promise<Preview | undefined> {
  return drawPreview(visit, request, {
    ...(small && { widthPx: SMALL_WIDTH_PX }),
    ...(set && { place: shownPlace(set, request) }),
    ifFaulty: "Upload the list again to see it.",
  });
}

async function previewPicture(visit: MemberVisit): Promise<Response> {
  const { key } = await previewed(visit);
  const made = await visit.lists.preview(key);
  if (!made || "problem" in made) throw notFound();
  return privateFile(visit.exchange, Buffer.from(made.picture, "base64"), { "Content-Type": "image/webp" });
}

export const listPreviewRoutes = [
  member.get("/console/lists/:id/cards/:at", preview),
  member.get("/console/lists/:id/cards/:at/picture", previewPicture),
];
