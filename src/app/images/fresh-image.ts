import type { Environment } from "../../core/account.ts";
import type { SetPlace } from "../../core/card-set.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { searchedName } from "../../core/name.ts";
import type { Random } from "../../core/ports.ts";
import { publicationTime } from "../../core/publication.ts";
import type { Image } from "../../store/images/images.ts";
import { LANES, type Lane } from "../../store/images/queue-place.ts";

export interface FreshImage {
  scope: { accountId: string; environment: Environment };
  /** Null when the console asks. */
  keyId: string | null;
  request: CreateImageRequest;
  /** Pins the image to the template as it is now. */
  template: Pick<Image, "templateName" | "templateVersion" | "templateDigest">;
  /** Photo and badge; absent until they are fetched, and for test images. */
  sources?: Pick<Image, "sourceSha256" | "badgeSha256">;
  /** Its place in a set; absent for a card outside of sets. */
  place?: SetPlace | undefined;
  lane: Lane;
  turn: number;
  now: number;
}

/** The row for a newly accepted image. A live card of a batch starts out waiting for its photo. */
export function freshImage(random: Random, fresh: FreshImage): Image {
  const { scope, request, template, sources, lane, turn, now } = fresh;
  return {
    id: random.id("img"),
    ...scope,
    state: scope.environment === "live" && !sources ? "waiting" : "queued",
    type: request.type,
    externalId: request.player.external_id,
    playerName: searchedName(request.player.name),
    request,
    keyId: fresh.keyId,
    sourceSha256: sources?.sourceSha256 ?? null,
    badgeSha256: sources?.badgeSha256 ?? null,
    ...template,
    turn,
    lane: LANES[lane],
    availableAt: now,
    renders: 0,
    leaseToken: null,
    leaseExpiresAt: null,
    failureCode: null,
    failureMessage: null,
    failureReason: null,
    outputName: null,
    outputWidth: null,
    outputHeight: null,
    outputContentType: null,
    outputBytes: null,
    backOutputName: null,
    backOutputBytes: null,
    outputComposition: null,
    exported: null,
    setPlace: fresh.place ? JSON.stringify(fresh.place) : null,
    createdAt: now,
    updatedAt: now,
    completedAt: null,
    expiresAt: null,
    publishAt: publicationTime(request, now),
    purgedAt: null,
    forgottenAt: null,
    erasedAt: null,
  };
}
