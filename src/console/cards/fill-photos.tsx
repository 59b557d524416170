/** @jsxImportSource preact */
import { matchPhotos } from "../../app/batches/match-photos.ts";
import { refuseFullUploads, uploadPhoto } from "../../app/images/upload-photo.ts";
import type { Parallel } from "../../core/card-set.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { MAX_PHOTO_PATH_CHARS } from "../../core/list-limits.ts";
import { ERROR_STATUS, isPartnerRefusal } from "../../http/http-refusal.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { Breakable, Card, count, counted, PostForm } from "../elements.tsx";
import { notFound } from "../page-error.ts";
import { privateJson, redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { asked, type Plan } from "./fill-plan.ts";
import { PHOTO_TYPES, PhotosForm } from "./photo-drop.tsx";
import { fillPath } from "./set-words.ts";
import { photoThumb } from "./thumbs.ts";

// New photos for players whose uploaded ones are not kept any more.

/** What the script that sends photos calls the part which is drawn anew with them: here, what is made. */
export const PLAN_PART = "photo-head";
/** More make the page slow, and a folder of photos is dropped for all of them. */
const SHOWN_PLAYERS = 100;

interface Filled {
  set: CardSet;
  parallel: Parallel;
  from: string;
  plan: Plan;
}

const photosPath = ({ set, parallel, from }: Omit<Filled, "plan">) =>
  fillPath(set, parallel.name, from).replace("/fill?", "/fill/photos?");

const nameOf = ({ name, external_id }: Plan["photoless"][number]["player"]) => name ?? external_id;

/** Who needs another photo, with a place to drop them; nothing where nobody does. */
export function NewPhotos({ visit, plan, ...of }: Filled & { visit: MemberVisit }) {
  const { photoless } = plan;
  if (photoless.length === 0 || !canWrite(visit)) return null;
  const missing = photoless.filter(({ photo }) => !photo).length;
  const path = photosPath(of);
  return (
    <Card
      title="Photos that are gone"
      note="Photos that were uploaded are kept for a week. Each file's name says whose photo it is, such as maya_okafor.jpg; or choose one in a player's line."
    >
      <PhotosForm visit={visit} action={path} />
      <div class="stack" id="photo-table">
        <p role="status">
          {missing === 0
            ? "Everybody has a photo again."
            : `${counted(missing, "player needs", "players need")} another photo; their cards are left out until then.`}
        </p>
        <ul class="list new-photos">
          {photoless.slice(0, SHOWN_PLAYERS).map((one) => (
            <Line key={one.player.external_id} visit={visit} path={path} setId={of.set.id} one={one} />
          ))}
        </ul>
        {photoless.length > SHOWN_PLAYERS && (
          <p class="note">{`The first ${SHOWN_PLAYERS} of ${count(photoless.length)}.`}</p>
        )}
      </div>
    </Card>
  );
}

function Line({
  visit,
  path,
  setId,
  one: { player, photo },
}: {
  visit: MemberVisit;
  path: string;
  setId: string;
  one: Plan["photoless"][number];
}) {
  const name = nameOf(player);
  const query = new URLSearchParams({ player: player.external_id });
  return (
    <li>
      {photo ? (
        <img
          class="thumb"
          src={`/console/sets/${setId}/fill/photo?${query}&${photo.id}`}
          alt={name}
          width={56}
          height={70}
        />
      ) : (
        <span class="thumb" aria-hidden="true" />
      )}
      <span class="grow">
        <Breakable text={name} />
      </span>
      <details class="row-photo">
        <summary class="button button-small">{photo ? "Change" : "Add a photo"}</summary>
        <PostForm visit={visit} action={path} encType="multipart/form-data">
          <input type="hidden" name="player" value={player.external_id} />
          <input name="file" type="file" required accept={PHOTO_TYPES} aria-label={`Photo of ${name}`} />
          <button type="submit" class="button button-small button-primary">
            Save
          </button>
        </PostForm>
      </details>
    </li>
  );
}

/** Keeps a photo for the player whom the form names, or whom its own name means. */
async function addPhoto(visit: MemberVisit): Promise<Response> {
  const isScript = visit.exchange.request.headers.get("accept") === "application/json";
  const from = visit.query.get("from") ?? "";
  const of = await asked(visit, { parallel: visit.query.get("parallel"), from });
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
  return redirect(fillPath(of.set, of.parallel.name, from), visit.exchange);
}

async function keepFor(visit: MemberVisit, { set, plan }: Pick<Filled, "set" | "plan">): Promise<void> {
  const { deps, account, file } = visit;
  if (!file) throw unusable("Choose a photo: JPEG, PNG or WebP.");
  const path = (field(visit, "path") || file.name || "photo").slice(-MAX_PHOTO_PATH_CHARS);
  const players = plan.photoless.map(({ player }) => ({
    externalId: player.external_id,
    name: player.name ?? "",
    number: String(player.number ?? ""),
  }));
  const named = field(visit, "player");
  const [row] = matchPhotos(players, [{ path }]).matched.keys();
  const player = named === "" ? players[row ?? -1] : players.find(({ externalId }) => externalId === named);
  if (!player) throw unusable("is of nobody here by its name. Choose it in the player's line.");
  await refuseFullUploads(deps, account);
  const { environment } = set;
  const { id, sha256 } = await uploadPhoto(deps, { account, environment, bytes: file.bytes, use: "photo" });
  await visit.newPhotos.put(visit, { setId: set.id, externalId: player.externalId }, { id, sha256 });
}

/** Said of one photo: the others that are sent with it go on. */
const unusable = (message: string) =>
  new Refusal("UNSUPPORTED_IMAGE_SOURCE", message, { details: [{ field: "file", message }] });

async function thumb(visit: MemberVisit): Promise<Response> {
  const externalId = visit.query.get("player") ?? "";
  const photo = await visit.newPhotos.get(visit, { setId: visit.params.id ?? "", externalId });
  if (!photo) throw notFound();
  return photoThumb(visit, photo.sha256);
}

export const fillPhotoRoutes = [
  member.upload("/console/sets/:id/fill/photos", MAX_UPLOAD_BODY_BYTES, addPhoto),
  member.get("/console/sets/:id/fill/photo", thumb),
];
