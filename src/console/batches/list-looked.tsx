/** @jsxImportSource preact */
import { asFocus } from "../../app/batches/squad-cards.ts";
import { photoThumb } from "../cards/thumbs.ts";
import { count, PostForm } from "../elements.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { field, type MemberVisit, member } from "../visit.ts";
import { photosPath } from "./list-photos.tsx";
import type { Draft, DraftPhoto } from "./list-store.ts";

// How many cards of a list were looked at before they are paid for, and what is wrong with whose photo. The
// page's script counts: the cards are drawn one after the other, and each answer knows its own only.

/** Faces of a team's picture are told apart on it. */
const FACE_PHOTO_WIDTH_PX = 900;

const problemId = (at: number) => `photo-problem-${at}`;

/**
 * How many of a list's cards were drawn so far, and how many of them would fail. `all`: where all of them are
 * drawn, for a list so long that this happens on request only.
 */
export function Looked({ total, all }: { total: number; all?: string }) {
  return (
    <div class="looked" data-looked-of={total}>
      <progress max={total} value={0} aria-label="Cards looked at" />
      <p>
        <strong>
          <span data-looked>0</span> of {count(total)} looked at
        </strong>
        <span class="note">
          : each card is drawn from its own photo, free of charge.{" "}
          <span data-some-fail hidden>
            <span data-failing>0</span> would fail.
          </span>
        </span>
      </p>
      {all !== undefined && (
        <a class="button" href={all}>
          Preview all {count(total)}
        </a>
      )}
    </div>
  );
}

/** Beside the button that makes the cards: what is not known of them yet. */
export function NotLooked({ total }: { total: number }) {
  return (
    <div class="not-looked">
      <p data-some-open>
        <strong>
          <span data-open>{count(total)}</span> of {count(total)} not looked at yet.
        </strong>{" "}
        You may start all the same: a card whose photo is refused fails, costs nothing, and can have another
        photo then.
      </p>
      <p data-none-open hidden>
        All {count(total)} looked at.
        <span data-some-fail hidden>
          {" "}
          <strong>
            <span data-failing>0</span> would fail, and cost nothing.
          </strong>
        </span>
      </p>
    </div>
  );
}

/** Whose photos would be refused, filled in while the cards are drawn; not shown before there is one. */
export function PhotoProblems({ draft, cards }: { draft: Draft; cards: number[] }) {
  return (
    <div class="notice notice-warn photo-problems" role="status">
      <div>
        <strong>These cards would fail, and cost nothing.</strong>
        <ul>
          {cards.map((at) => (
            <li key={at} id={problemId(at)} hidden />
          ))}
        </ul>
        <a href={photosPath(draft)}>Choose other photos</a>
      </div>
    </div>
  );
}

interface ProblemProps {
  visit: MemberVisit;
  draft: Draft;
  at: number;
  name: string;
  problem: string;
  /** The photo sent along in which several people are seen, where a click may say who is meant. */
  crowd: DraftPhoto | undefined;
  /** Whether such a photo came by an address: it is not kept, so there is none to click on. */
  isElsewhere: boolean;
}

/** A card whose photo would be refused, as a line of `PhotoProblems`. */
export function PhotoProblem({ visit, draft, at, name, problem, crowd, isElsewhere }: ProblemProps) {
  return (
    <li id={problemId(at)} hx-swap-oob="true">
      <strong>{name}</strong>: {problem}
      {crowd && <FaceChoice {...{ visit, draft, at, name, crowd }} />}
      {isElsewhere && (
        <p class="note">
          Drop this photo's file in under <a href={photosPath(draft)}>Photos</a>, and a click on the face will
          say who is meant.
        </p>
      )}
    </li>
  );
}

/** A click on a face says that it is the player's, and the card is drawn anew. */
function FaceChoice({
  visit,
  draft,
  at,
  name,
  crowd,
}: Omit<ProblemProps, "problem" | "crowd" | "isElsewhere"> & { crowd: DraftPhoto }) {
  const id = `focus-${at}`;
  const path = `/console/lists/${draft.id}/photos/${crowd.id}`;
  return (
    <PostForm visit={visit} action={`${path}/focus`} class="face-choice">
      <p>
        <strong>Click on the player's face.</strong>
      </p>
      <div class="focus-photo" data-points={id} data-photo={`${path}/large`} data-sends hidden>
        <canvas role="img" aria-label={`The photo of ${name}`} />
        <span class="focus-mark" hidden />
      </div>
      <div class="face-point">
        <label for={id}>Or where it is, from the left and the top</label>
        <input id={id} name="focus" type="text" placeholder="0.62 0.2" autocomplete="off" required />
        <button type="submit" class="button button-small">
          Use it
        </button>
      </div>
    </PostForm>
  );
}

/** Keeps where in a photo the player is. A change of the list: its card is drawn and checked anew. */
async function chooseFace(visit: MemberVisit): Promise<Response> {
  const { id } = await visit.lists.get(visit);
  const focus = asFocus(field(visit, "focus")) as Record<"x" | "y", unknown>;
  if (isFraction(focus.x) && isFraction(focus.y)) {
    const point = { x: focus.x, y: focus.y };
    await visit.lists.change(visit, (draft) => ({
      ...draft,
      photos: (draft.photos ?? []).map((photo) =>
        photo.id === visit.params.photo ? { ...photo, focus: point } : photo,
      ),
    }));
  } else
    await visit.flashes.put(visit.session.id, {
      problem: "Click on the face, or write two fractions from the left and the top, such as 0.62 0.2.",
    });
  return redirect(`/console/lists/${id}/check`, visit.exchange);
}

const isFraction = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= 1;

/** A photo large enough to tell the faces in it apart. */
async function largePhoto(visit: MemberVisit): Promise<Response> {
  const { photos = [] } = await visit.lists.get(visit);
  const photo = photos.find(({ id }) => id === visit.params.photo);
  if (!photo) throw notFound();
  return photoThumb(visit, photo.sha256, FACE_PHOTO_WIDTH_PX);
}

export const listLookedRoutes = [
  member.get("/console/lists/:id/photos/:photo/large", largePhoto),
  member.post("/console/lists/:id/photos/:photo/focus", chooseFace),
];
