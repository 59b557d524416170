/** @jsxImportSource preact */
import { matchPhotos } from "../../app/batches/match-photos.ts";
import { refuseFullUploads, uploadPhoto } from "../../app/images/upload-photo.ts";
import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_PHOTO_PATH_CHARS } from "../../core/list-limits.ts";
import { ERROR_STATUS, isPartnerRefusal } from "../../http/http-refusal.ts";
import { Breakable, Card, count, counted, PostForm } from "../elements.tsx";
import { notFound } from "../page-error.ts";
import { privateJson, redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit } from "../visit.ts";
import type { NewPhoto } from "./new-photos.ts";
import { PHOTO_TYPES, PhotosForm } from "./photo-drop.tsx";
import { photoThumb } from "./thumbs.ts";

// New photos for players whose uploaded ones are not kept any more, before cards of a set or a batch are made
// from those there are.

/** What the script that sends photos calls the part which is drawn anew with them: here, what is made. */
export const PLAN_PART = "photo-head";
/** More make the page slow, and a folder of photos is dropped for all of them. */
const SHOWN_PLAYERS = 100;

/** A player whose photo was uploaded and is gone, and the other one that was sent. */
export interface Photoless {
  externalId: string;
  name: string;
  number: string;
  photo: NewPhoto | undefined;
}

/** Whose photos are gone. */
interface PhotolessOf {
  /** The set or the batch. */
  owner: { id: string; environment: Environment };
  players: Photoless[];
}

/** Those who have no other photo yet: no card is made for them. */
export const stillPhotoless = (players: Photoless[]) => players.filter(({ photo }) => !photo);

/**
 * Who needs another photo, with a place to drop them; nothing where nobody does. They are sent to `/photos`
 * below `path`, and shown at `/photo`.
 */
export function NewPhotos({
  visit,
  players,
  path,
}: {
  visit: MemberVisit;
  players: Photoless[];
  path: string;
}) {
  if (players.length === 0 || !canWrite(visit)) return null;
  const missing = stillPhotoless(players).length;
  const action = `${path}/photos${visit.exchange.url.search}`;
  return (
    <Card
      title="Photos that are gone"
      note="Cards are made again from their photos, and uploaded ones are kept for a week. Each file's name says whose photo it is, such as maya_okafor.jpg; or choose one in a player's line."
    >
      <PhotosForm visit={visit} action={action} />
      <div class="stack" id="photo-table">
        <p role="status">
          {missing === 0
            ? "Everybody has a photo again."
            : `${counted(missing, "player needs", "players need")} another photo; their cards are left out until then.`}
        </p>
        <ul class="list new-photos">
          {players.slice(0, SHOWN_PLAYERS).map((player) => (
            <Line key={player.externalId} {...{ visit, player, path, action }} />
          ))}
        </ul>
        {players.length > SHOWN_PLAYERS && (
          <p class="note">{`The first ${SHOWN_PLAYERS} of ${count(players.length)}.`}</p>
        )}
      </div>
    </Card>
  );
}

function Line({
  visit,
  player: { externalId, name, photo },
  path,
  action,
}: {
  visit: MemberVisit;
  player: Photoless;
  path: string;
  action: string;
}) {
  const query = new URLSearchParams({ player: externalId });
  return (
    <li>
      {photo ? (
        <img class="thumb" src={`${path}/photo?${query}&${photo.id}`} alt={name} width={56} height={70} />
      ) : (
        <span class="thumb" aria-hidden="true" />
      )}
      <span class="grow">
        <Breakable text={name} />
      </span>
      <details class="row-photo">
        <summary class="button button-small">{photo ? "Change" : "Add a photo"}</summary>
        <PostForm visit={visit} action={action} encType="multipart/form-data">
          <input type="hidden" name="player" value={externalId} />
          <input name="file" type="file" required accept={PHOTO_TYPES} aria-label={`Photo of ${name}`} />
          <button type="submit" class="button button-small button-primary">
            Save
          </button>
        </PostForm>
      </details>
    </li>
  );
}

/**
 * Keeps the photo that was sent for the player whom the form names, or whom its own name means. `back` is the
 * page that asked for it.
 */
export async function addNewPhoto(visit: MemberVisit, of: PhotolessOf, back: string): Promise<Response> {
  const isScript = visit.exchange.request.headers.get("accept") === "application/json";
  try {
    await keepFor(visit, of);
    if (isScript) return privateJson(visit.exchange, { photos: 1 });
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const [detail] = error.details ?? [];
    const problem = detail?.field === "file" ? detail.message : error.message;
    if (isScript) return privateJson(visit.exchange, { problem, code: error.code }, ERROR_STATUS[error.code]);
    await visit.flashes.put(visit.session.id, { problem });
  }
  return redirect(back, visit.exchange);
}

async function keepFor(visit: MemberVisit, { owner, players }: PhotolessOf): Promise<void> {
  const { deps, account, file } = visit;
  if (!file) throw unusable("Choose a photo: JPEG, PNG or WebP.");
  const path = (field(visit, "path") || file.name || "photo").slice(-MAX_PHOTO_PATH_CHARS);
  const named = field(visit, "player");
  const [row] = matchPhotos(players, [{ path }]).matched.keys();
  const player = named === "" ? players[row ?? -1] : players.find(({ externalId }) => externalId === named);
  if (!player) throw unusable("is of nobody here by its name. Choose it in the player's line.");
  await refuseFullUploads(deps, account);
  const { id: ownerId, environment } = owner;
  const { id, sha256 } = await uploadPhoto(deps, { account, environment, bytes: file.bytes, use: "photo" });
  await visit.newPhotos.put(visit, { ownerId, externalId: player.externalId }, { id, sha256 });
}

/** Said of one photo: the others that are sent with it go on. */
const unusable = (message: string) =>
  new Refusal("UNSUPPORTED_IMAGE_SOURCE", message, { details: [{ field: "file", message }] });

/** The new photo of a player of the set or the batch in the address, in a line. */
export async function newPhotoThumb(visit: MemberVisit): Promise<Response> {
  const externalId = visit.query.get("player") ?? "";
  const photo = await visit.newPhotos.get(visit, { ownerId: visit.params.id ?? "", externalId });
  if (!photo) throw notFound();
  return photoThumb(visit, photo.sha256);
}
