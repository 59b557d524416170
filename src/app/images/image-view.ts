import type { Composition } from "../../core/card.ts";
import { readSetPlace } from "../../core/card-set.ts";
import { type ExportNote, readExportNote } from "../../core/export-key.ts";
import { hintFor } from "../../core/failure-reasons.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { type PublicStatus, publicStatus } from "../../core/image-state.ts";
import { layerAddresses } from "../../core/layers.ts";
import { isoTime, isoTimeOrNull } from "../../core/time.ts";
import type { ImageAnswer, ImageListing } from "../../store/images/image-reads.ts";
import { isShareable, shareUrl } from "./output-name.ts";

/** What the partner sent, so that an answer or event can be matched without storing our ids. */
interface OwnWords {
  external_id: string;
  name: string;
  metadata: Record<string, string> | null;
  batch_id: string | null;
  style: CreateImageRequest["style"];
  /** Absent for an image outside of sets. */
  set?: SetPlaceView;
}

/** Where an image stands in its set. */
export interface SetPlaceView {
  id: string;
  name: string;
  parallel: string;
  /** Null in a parallel without size, and for an image that failed: its number was given back. */
  serial: number | null;
  size: number | null;
}

interface ViewOf<Status extends PublicStatus> extends OwnWords {
  image_id: string;
  status: Status;
  created_at: string;
}

/** What became of a card in its account's own bucket; absent where none was named. */
interface Exported {
  export?: ExportNote;
}

/**
 * The status view of an image: exactly the fields the API promises for its state. Webhooks carry the same.
 */
export type ImageView =
  | (ViewOf<"processing"> & Publication & { progress: number | null; updated_at: string })
  | (ViewOf<"completed"> &
      Publication &
      Exported & {
        result: {
          image_url: string;
          /** The card's other side; null where none was asked for. */
          back_url: string | null;
          /** A page that shows the card; null for a file for the printer. */
          share_url: string | null;
          /** Of an image that was asked for with them alone. */
          layers?: string[];
          foil_mask?: string;
          width: number;
          height: number;
          content_type: string;
          /** Absent for pictures that predate compositions. */
          composition?: Composition;
          expires_at: string;
        };
        usage: { credits_used: 1 };
        completed_at: string;
      })
  | (ViewOf<"failed"> & { failure: FailureView; completed_at: string });

export interface FailureView {
  code: string;
  message: string;
  /** Absent for images that failed before reasons were recorded. */
  reason?: string;
  /** What helps, in one sentence; absent with the reason. */
  hint?: string;
}

export interface ViewOptions {
  config: { baseUrl: string; cdnBaseUrl: string };
  /** 0.0 to 1.0, or null when unknown. */
  progress: number | null;
}

export function imageView(image: ImageAnswer, options: ViewOptions): ImageView {
  const { baseUrl, cdnBaseUrl } = options.config;
  const createdAt = isoTime(image.createdAt);
  switch (image.state) {
    case "waiting":
    case "queued":
    case "rendering":
      return {
        image_id: image.id,
        status: "processing",
        progress: image.state === "rendering" ? options.progress : null,
        created_at: createdAt,
        updated_at: isoTime(image.updatedAt),
        ...publicationOf(image),
        ...ownWords(image),
      };
    case "completed":
      return {
        image_id: image.id,
        status: "completed",
        result: {
          image_url: `${cdnBaseUrl}/${image.outputName}`,
          back_url: image.backOutputName === null ? null : `${cdnBaseUrl}/${image.backOutputName}`,
          share_url: isShareable(image) ? shareUrl(baseUrl, present(image.outputName)) : null,
          ...layersOf(image, cdnBaseUrl),
          width: present(image.outputWidth),
          height: present(image.outputHeight),
          content_type: present(image.outputContentType),
          ...(image.outputComposition === null ? {} : { composition: image.outputComposition }),
          expires_at: isoTime(present(image.expiresAt)),
        },
        usage: { credits_used: 1 },
        created_at: createdAt,
        completed_at: isoTime(present(image.completedAt)),
        ...publicationOf(image),
        ...exportOf(image),
        ...ownWords(image),
      };
    case "failed":
      return {
        image_id: image.id,
        status: "failed",
        failure: failureView(image),
        created_at: createdAt,
        completed_at: isoTime(present(image.completedAt)),
        ...ownWords(image),
      };
  }
}

/** When the image is published; absent once it is. */
interface Publication {
  publish_at?: string;
}

const publicationOf = ({ publishAt }: ImageAnswer): Publication =>
  publishAt === null ? {} : { publish_at: isoTime(publishAt) };

function exportOf({ exported }: Pick<ImageAnswer, "exported">): Exported {
  const note = readExportNote(exported);
  return note ? { export: note } : {};
}

function layersOf({ request, outputName }: ImageAnswer, cdnBaseUrl: string) {
  // Validated when it was accepted.
  const { style } = request as CreateImageRequest;
  const found = layerAddresses(style, `${cdnBaseUrl}/${outputName}`);
  return found ? { layers: found.layers, foil_mask: found.foilMask } : {};
}

type Failed = Pick<ImageAnswer, "failureCode" | "failureMessage" | "failureReason">;

/** Why an image failed, as the status view, batches and events tell it. */
export function failureView({ failureCode, failureMessage, failureReason }: Failed): FailureView {
  const failure = { code: present(failureCode), message: present(failureMessage) };
  if (failureReason === null) return failure;
  const hint = hintFor(failureReason);
  return { ...failure, reason: failureReason, ...(hint === undefined ? {} : { hint }) };
}

/** One item of the list. `completed_at` appears once a terminal state is reached. */
export function imageListItem(image: ImageListing): Record<string, unknown> {
  const item: Record<string, unknown> = {
    image_id: image.id,
    status: publicStatus(image.state),
    type: image.type,
    created_at: isoTime(image.createdAt),
    completed_at: isoTimeOrNull(image.completedAt),
  };
  return Object.assign(item, ownWords(image));
}

function ownWords({
  request,
  batchId,
  setPlace,
  state,
}: Pick<ImageListing, "request" | "batchId" | "setPlace" | "state">): OwnWords {
  // Validated when it was accepted.
  const { player, style, metadata = null } = request as CreateImageRequest;
  const { external_id, name } = player;
  const words = { external_id, name, metadata, batch_id: batchId, style };
  return setPlace === null ? words : { ...words, ...setOf({ setPlace, state }) };
}

/** The set of an image, for its views. */
export function setOf({ setPlace, state }: Pick<ImageListing, "setPlace" | "state">): Pick<OwnWords, "set"> {
  const place = readSetPlace(setPlace);
  if (place === null) return {};
  const { id, name, parallel, serial, size } = place;
  return { set: { id, name, parallel, serial: state === "failed" ? null : serial, size } };
}

/** Asserts what a state guarantees; the tables' own constraints enforce it. */
function present<T>(value: T | null): T {
  if (value === null) throw new Error("an image lacks what its state promises");
  return value;
}
