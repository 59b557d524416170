/** @jsxImportSource preact */

import type { MatchedBy, NamedPlayer } from "../../app/batches/match-photos.ts";
import { refuseFullUploads, uploadPhoto } from "../../app/images/upload-photo.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { MAX_LIST_PHOTOS, MAX_PHOTO_PATH_CHARS } from "../../core/list-limits.ts";
import { sha256 } from "../../core/sha256.ts";
import { ERROR_STATUS, isPartnerRefusal } from "../../http/http-refusal.ts";
import { PHOTO_TYPES, PhotosForm } from "../cards/photo-drop.tsx";
import { photoThumb } from "../cards/thumbs.ts";
import { Badge, Breakable, Card, count, counted, Empty, PageHead, PostForm, Segments } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { privateJson, redirect } from "../respond.ts";
import { field, type MemberVisit, member } from "../visit.ts";
import { type DraftCards, draftCards } from "./draft-cards.ts";
import type { Draft, DraftPhoto } from "./list-store.ts";

/** Rows and undecided photos shown at a time: more make the page slow, and nobody reads on. */
const SHOWN_ROWS = 300;
const SHOWN_UNSURE = 30;
/** Players offered for an undecided photo beside the likely ones. */
const OFFERED_ROWS = 300;

const BY: Record<MatchedBy, string> = {
  hand: "Chosen by hand",
  id: "By id",
  name: "By name",
  part: "By a part of the name",
  number: "By shirt number",
};

/** The page where a list's photos are matched to its players. */
export const photosPath = ({ id }: Draft) => `/console/lists/${id}/photos`;

/** Of the form for a player's photo: a link to it opens it. */
const photoFormId = (externalId: string) => `photo-${externalId}`;

/** The address at which another photo of a player is taken. */
export const photoFormPath = (draft: Draft, externalId: string) =>
  `${photosPath(draft)}#${encodeURIComponent(photoFormId(externalId))}`;

function Thumb({ draft, photo }: { draft: Draft; photo: DraftPhoto }) {
  return (
    <img
      class="thumb"
      src={`${photosPath(draft)}/${photo.id}/thumb`}
      alt={photo.path}
      loading="lazy"
      width={56}
      height={70}
    />
  );
}

/** Where photos are dropped. Without its script they are added one by one below. */
function Drop({ visit, draft }: { visit: MemberVisit; draft: Draft }) {
  return (
    <Card
      title="Add photos"
      note="A folder, a ZIP or single files: JPEG, PNG or WebP, at most 15 MB each. Each file's name says whose photo it is: 9.jpg, maya_okafor.jpg, player-10442.png."
    >
      <PhotosForm visit={visit} action={photosPath(draft)} />
    </Card>
  );
}

const playerText = ({ name, externalId }: NamedPlayer) => `${name || "No name"} (${externalId || "no id"})`;

function Unsure({ visit, draft, cards }: { visit: MemberVisit; draft: Draft; cards: DraftCards }) {
  const { unsure } = cards.matches;
  const shown = unsure.slice(0, SHOWN_UNSURE);
  if (shown.length === 0) return null;
  const option = (row: number) => (
    <option key={row} value={row}>
      {playerText(cards.players[row] as NamedPlayer)}
    </option>
  );
  return (
    <Card
      title={counted(unsure.length, "photo is unsure", "photos are unsure")}
      note={
        unsure.length > shown.length
          ? `The first ${SHOWN_UNSURE}. Say whose they are, or that they are nobody's.`
          : "Say whose they are, or that they are nobody's. Until then they are not used."
      }
    >
      <PostForm visit={visit} action={`${photosPath(draft)}/choose`} class="form">
        <ul class="unsure">
          {shown.map(({ photo: at, rows }) => {
            const photo = draft.photos?.[at] as DraftPhoto;
            const others = cards.withoutPhoto.filter((row) => !rows.includes(row)).slice(0, OFFERED_ROWS);
            return (
              <li key={photo.id}>
                <Thumb draft={draft} photo={photo} />
                <label for={photo.id}>
                  <span class="ellipsis">{photo.path}</span>
                </label>
                <select id={photo.id} name={photo.id}>
                  <option value="">Decide later</option>
                  {rows.length > 0 && <optgroup label="Likely">{rows.map(option)}</optgroup>}
                  {others.length > 0 && <optgroup label="Without a photo">{others.map(option)}</optgroup>}
                  <option value="none">Nobody's: leave it out</option>
                </select>
              </li>
            );
          })}
        </ul>
        <div class="actions">
          <button type="submit" class="button button-primary">
            Save the choices
          </button>
        </div>
      </PostForm>
    </Card>
  );
}

function RowPhoto({
  visit,
  draft,
  row,
  cards,
}: {
  visit: MemberVisit;
  draft: Draft;
  row: number;
  cards: DraftCards;
}) {
  const match = cards.matches.matched.get(row);
  const photo = match && draft.photos?.[match.photo];
  const player = cards.players[row] as NamedPlayer;
  return (
    <tr>
      <td class="cell-photo">
        {photo ? <Thumb draft={draft} photo={photo} /> : <span class="thumb" aria-hidden="true" />}
      </td>
      <th scope="row" class="name words">
        <Breakable text={player.name || "No name"} />
        <span class="sub">
          <Breakable text={player.externalId} />
        </span>
      </th>
      <td data-label="Number" class="number long words">
        <Breakable text={player.number} />
      </td>
      <td data-label="Photo" class="long words">
        {match && photo ? (
          <>
            <Badge tone={match.by === "number" || match.by === "part" ? "neutral" : "good"}>
              {BY[match.by]}
            </Badge>{" "}
            <span class="sub">
              <Breakable text={photo.path} />
            </span>
          </>
        ) : cards.withoutPhoto.includes(row) ? (
          <Badge tone="bad">Missing</Badge>
        ) : (
          <Badge>By its address</Badge>
        )}
      </td>
      <td>
        <details class="row-photo">
          <summary class="button button-small">{photo ? "Change" : "Add a photo"}</summary>
          <PostForm
            visit={visit}
            id={photoFormId(player.externalId)}
            action={photosPath(draft)}
            encType="multipart/form-data"
          >
            <input type="hidden" name="row" value={row} />
            <input
              name="file"
              type="file"
              required
              accept={PHOTO_TYPES}
              aria-label={`Photo of ${player.name}`}
            />
            <button type="submit" class="button button-small button-primary">
              Save
            </button>
          </PostForm>
          {photo && (
            <PostForm visit={visit} action={`${photosPath(draft)}/choose`}>
              <input type="hidden" name={photo.id} value="open" />
              <button type="submit" class="button button-small">
                Not this one
              </button>
            </PostForm>
          )}
        </details>
      </td>
    </tr>
  );
}

async function photosPage(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  const cards = await draftCards(visit, draft);
  const { players, withoutPhoto, matches } = cards;
  const onlyMissing = visit.query.get("show") === "missing";
  const rows = onlyMissing ? withoutPhoto : [...players.keys()];
  const shown = rows.slice(0, SHOWN_ROWS);
  const missing = withoutPhoto.length;
  return shell(
    visit,
    "Photos",
    <>
      <div id="photo-head">
        <PageHead
          title="Photos"
          lead={
            missing === 0
              ? `${players.length === 1 ? "The one player has" : `All ${count(players.length)} players have`} a photo.`
              : `${count(players.length - missing)} of ${counted(players.length, "player has", "players have")} a photo. Nothing is made or charged yet.`
          }
        >
          <a
            class={missing === 0 ? "button button-primary" : "button"}
            href={`/console/lists/${draft.id}/check`}
          >
            {missing === 0 ? "Check the list" : "Go on without them"}
          </a>
        </PageHead>
      </div>
      <Drop visit={visit} draft={draft} />
      <div class="stack" id="photo-table">
        <Unsure visit={visit} draft={draft} cards={cards} />
        <div class="toolbar">
          <Segments
            label="Players"
            choices={[
              { label: `All ${count(players.length)}`, href: photosPath(draft), current: !onlyMissing },
              {
                label: `Missing ${count(missing)}`,
                href: `${photosPath(draft)}?show=missing`,
                current: onlyMissing,
              },
            ]}
          />
          <p class="note">
            {`${count(matches.matched.size)} matched, ${count(missing)} missing, ${count(matches.unsure.length)} unsure`}
          </p>
        </div>
        <Card flush>
          {shown.length === 0 ? (
            <Empty title="Nobody is without a photo">Check the list next.</Empty>
          ) : (
            <table class="table">
              <caption class="visually-hidden">Players and their photos</caption>
              <thead>
                <tr>
                  <th scope="col">
                    <span class="visually-hidden">Picture</span>
                  </th>
                  <th scope="col">Player</th>
                  <th scope="col" class="number">
                    Number
                  </th>
                  <th scope="col">Photo</th>
                  <th scope="col">
                    <span class="visually-hidden">Change</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {shown.map((row) => (
                  <RowPhoto key={row} visit={visit} draft={draft} row={row} cards={cards} />
                ))}
              </tbody>
            </table>
          )}
        </Card>
        {rows.length > shown.length && (
          <p class="note">{`The first ${SHOWN_ROWS} of ${count(rows.length)}.`}</p>
        )}
      </div>
    </>,
    { wide: true },
  );
}

/** Takes one photo, for the row that the form names or for the player its name means. */
async function addPhoto(visit: MemberVisit): Promise<Response> {
  const isScript = visit.exchange.request.headers.get("accept") === "application/json";
  try {
    const draft = await keepFor(visit);
    if (!isScript) return redirect(photosPath(draft), visit.exchange);
    return privateJson(visit.exchange, { photos: draft.photos?.length ?? 0 });
  } catch (error) {
    if (!isScript || !isPartnerRefusal(error)) throw error;
    const [detail] = error.details ?? [];
    const problem = detail?.field === "file" ? detail.message : error.message;
    return privateJson(visit.exchange, { problem, code: error.code }, ERROR_STATUS[error.code]);
  }
}

async function keepFor(visit: MemberVisit): Promise<Draft> {
  const { deps, account, file } = visit;
  const before = await visit.lists.get(visit);
  if (!file) throw new Refusal("INVALID_REQUEST", "Choose a photo: JPEG, PNG or WebP.");
  // Scripts send the folder along, which a file's name cannot hold.
  const path = (field(visit, "path") || file.name || "photo").replaceAll(/\p{Cc}/gu, "").toWellFormed();
  const { bytes } = file;
  const own = path.slice(-MAX_PHOTO_PATH_CHARS);
  const row = /^\d{1,5}$/.test(field(visit, "row")) ? { row: Number(field(visit, "row")) } : {};
  const sent = "row" in row ? undefined : before.photos?.find((one) => one.path === own);
  // A folder dropped again has the same files: they are here, and what was chosen for them holds.
  if (sent?.sha256 === sha256(bytes)) return before;
  if (!sent && (before.photos?.length ?? 0) >= MAX_LIST_PHOTOS)
    throw new Refusal(
      "INVALID_REQUEST",
      `A list takes ${count(MAX_LIST_PHOTOS)} photos, and has as many. Send only the players' own.`,
    );
  await refuseFullUploads(deps, account);
  const upload = await uploadPhoto(deps, { account, environment: "live", bytes, use: "photo" });
  const photo: DraftPhoto = { id: upload.id, sha256: upload.sha256, path: own, ...row };
  return visit.lists.change(visit, (draft) => {
    const photos = draft.photos ?? [];
    // A file of the same name takes the place of the first, no matter for which player that was chosen.
    const at = "row" in row ? -1 : photos.findIndex((one) => one.path === own);
    return at < 0
      ? { ...draft, photos: [...photos, photo] }
      : { ...draft, photos: photos.with(at, replaced(photos[at] as DraftPhoto, photo)) };
  });
}

/** Another file for the same player, in which the face is elsewhere. */
const replaced = ({ focus: _, ...before }: DraftPhoto, photo: DraftPhoto): DraftPhoto => ({
  ...before,
  ...photo,
});

/** Whose the photos are that the form names: a row, nobody's, or to be decided. */
async function choose(visit: MemberVisit): Promise<Response> {
  const { form } = visit;
  const draft = await visit.lists.change(visit, (kept) => ({
    ...kept,
    photos: (kept.photos ?? []).map((photo) => {
      const chosen = form.get(photo.id) ?? "";
      if (chosen === "none") return { ...photo, row: null };
      if (chosen === "open") return { ...photo, row: -1 };
      return /^\d{1,5}$/.test(chosen) ? { ...photo, row: Number(chosen) } : photo;
    }),
  }));
  return redirect(photosPath(draft), visit.exchange);
}

async function thumb(visit: MemberVisit): Promise<Response> {
  const { photos = [] } = await visit.lists.get(visit);
  const photo = photos.find(({ id }) => id === visit.params.photo);
  if (!photo) throw notFound();
  return photoThumb(visit, photo.sha256);
}

export const listPhotoRoutes = [
  member.get("/console/lists/:id/photos", photosPage),
  member.upload("/console/lists/:id/photos", MAX_UPLOAD_BODY_BYTES, addPhoto),
  member.post("/console/lists/:id/photos/choose", choose),
  member.get("/console/lists/:id/photos/:photo/thumb", thumb),
];
