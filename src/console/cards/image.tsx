/** @jsxImportSource preact */

import { pictureName } from "../../app/batches/batch-zip.ts";
import { imageView } from "../../app/images/image-view.ts";
import { isShareable, isVideo } from "../../app/images/output-name.ts";
import { mayDelete } from "../../app/people/deletion-rights.ts";
import { printable } from "../../app/print/print-file.ts";
import { type Delivery, listDeliveries } from "../../app/webhooks/manage-deliveries.ts";
import { storedRequest } from "../../core/image-request.ts";
import { layerAddresses } from "../../core/layers.ts";
import { envelope } from "../../http/envelope.ts";
import { entriesOfImage } from "../../store/credits/ledger.ts";
import { type Batch, batchesWith, findBatch, firstBatches } from "../../store/images/batches.ts";
import { findRecordOfImage, type IdempotencyRecord } from "../../store/images/idempotency.ts";
import { findImage } from "../../store/images/image-reads.ts";
import { neighboursInBatch, neighboursOf, pictureBefore } from "../../store/images/image-search.ts";
import type { Image } from "../../store/images/images.ts";
import { CARD_ELEMENT_VERSION } from "../../web/card-element.ts";
import { LivingCard } from "../../web/living-card.tsx";
import { batchName } from "../batches/batches.tsx";
import { Card, Code, Confirm, EnvironmentBadge, PageHead, refreshing } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { privateFile } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { DeliveryState } from "../webhooks/deliveries.tsx";
import { Comparison } from "./compare.tsx";
import { FaceAgain, Failure, keptPhoto } from "./image-failure.tsx";
import {
  CardPicture,
  isOpen,
  isThere,
  pictureAddress,
  placeholderClass,
  playerName,
  SetFacts,
  StatusBadge,
} from "./image-parts.tsx";
import { Timeline, timeline } from "./image-timeline.tsx";
import { Words } from "./image-words.tsx";
import { PublicationCard } from "./publication-card.tsx";
import { Share } from "./share.tsx";
import { thumbOf } from "./thumbs.ts";

/** The image in the URL, in either environment of this account. */
export async function ownImage({ deps, account, params }: MemberVisit): Promise<Image> {
  const scope = { accountId: account.id, id: params.id ?? "" };
  const image =
    (await findImage(deps.store.read, { ...scope, environment: "live" })) ??
    (await findImage(deps.store.read, { ...scope, environment: "test" }));
  if (!image) throw notFound();
  return image;
}

/** The finished card, alive where it is a picture. */
function Front({ image, alt }: { image: Image; alt: string }) {
  const picture = pictureAddress(image);
  if (isVideo(image) || !isShareable(image))
    return <CardPicture image={image} className="picture" alt={alt} href={`/cdn/${image.outputName}`} />;
  const [width, height] = [image.outputWidth ?? 0, image.outputHeight ?? 0];
  const back = image.backOutputName === null ? null : `/cdn/${image.backOutputName}`;
  const layers = layerAddresses(storedRequest(image.request).style, picture);
  return (
    <div class={width > height ? "living living-wide" : "living"}>
      <LivingCard {...{ picture, alt, width, height, back, layers }} />
    </div>
  );
}

function Pictures({ image, hasPhoto }: { image: Image; hasPhoto: boolean }) {
  const name = playerName(image);
  return (
    <div class="pictures">
      <figure>
        {isThere(image) ? (
          <Front image={image} alt={`The card of ${name}`} />
        ) : (
          <span class={`picture ${placeholderClass(image)}`}>
            {image.purgedAt !== null ? "Expired" : image.state === "failed" ? "No card" : "In the making"}
          </span>
        )}
        <figcaption>
          Card
          {isThere(image) && image.outputBytes !== null && (
            <span class="note">
              {` ${image.outputWidth} × ${image.outputHeight}, ${(image.outputBytes / 1024).toFixed(0)} KB, `}
              <a href={`/cdn/${image.outputName}`}>whole size</a>
            </span>
          )}
        </figcaption>
      </figure>
      {isThere(image) && image.backOutputName !== null && (
        <figure>
          <a href={`/cdn/${image.backOutputName}`}>
            <img
              class="picture"
              src={`/cdn/${image.backOutputName}`}
              alt={`The back of the card of ${name}`}
            />
          </a>
          <figcaption>Back</figcaption>
        </figure>
      )}
      {hasPhoto && (
        <figure>
          <img class="picture" src={`/console/images/${image.id}/photo`} alt={`${name}, as sent`} />
          <figcaption>Photo as fetched</figcaption>
        </figure>
      )}
    </div>
  );
}

/** The webhook deliveries that reported the image's end. */
function Deliveries({ deliveries }: { deliveries: Delivery[] }) {
  if (deliveries.length === 0) return null;
  return (
    <Card title="Webhooks">
      <ul class="list">
        {deliveries.map((delivery) => (
          <li key={delivery.id}>
            <a href={`/console/deliveries/${delivery.id}`}>{delivery.eventType}</a>
            <span class="grow" />
            <DeliveryState delivery={delivery} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function duration(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** What an unfinished card is waiting for. */
function waitsFor({ state }: Pick<Image, "state">): string {
  return state === "waiting" ? "Waiting for its photo" : "Waiting for a renderer";
}

/** The progress of an unfinished card. */
function Progress({ image, progress }: { image: Image; progress: number | null }) {
  if (!isOpen(image)) return null;
  const percent = `${Math.round((progress ?? 0) * 100)} %`;
  return (
    <p class="progress-line">
      <progress max={1} value={progress ?? 0} aria-label="Progress">
        {percent}
      </progress>
      <span class="note">{image.state === "rendering" ? percent : waitsFor(image)}</span>
    </p>
  );
}

/** Enough to tell two versions of a template apart. */
const SHOWN_DIGEST_CHARS = 12;

/** By what it was asked for: a batch and the console make their own keys, one with a space in it. */
function RecordKey({ text }: { text: string }) {
  if (text.includes(" ")) return <>A squad</>;
  if (text.startsWith("console-")) return <>A member in the console</>;
  return (
    <>
      A program, with the key <code title="Idempotency-Key">{text}</code>
    </>
  );
}

function Details({ image, record }: { image: Image; record: IdempotencyRecord | undefined }) {
  return (
    <Card title="Details">
      <dl class="facts">
        <dt>Your id of the player</dt>
        <dd>
          <a href={historyPath(image)}>{image.externalId}</a>
        </dd>
        <SetFacts image={image} />
        <dt>Asked for by</dt>
        <dd>{record ? <RecordKey text={record.key} /> : "Not known any more"}</dd>
        {image.templateName !== null && (
          <>
            <dt>Template</dt>
            <dd>
              {image.templateName} {image.templateVersion}{" "}
              <code title={`SHA-256 of the template's files: ${image.templateDigest}`}>
                {image.templateDigest?.slice(0, SHOWN_DIGEST_CHARS)}
              </code>
            </dd>
          </>
        )}
        <dt>Times drawn</dt>
        <dd>{image.renders}</dd>
        {image.completedAt !== null && (
          <>
            <dt>Took</dt>
            <dd>{duration(image.completedAt - image.createdAt)}</dd>
          </>
        )}
      </dl>
    </Card>
  );
}

/** Where a player's history is; their ids may hold anything. */
export function historyPath({ externalId, environment }: Pick<Image, "externalId" | "environment">): string {
  return `/console/players?${new URLSearchParams({ id: externalId, environment })}`;
}

interface Neighbours {
  previous: string | null;
  next: string | null;
  /** The query that keeps the way through a batch: empty without one. */
  within: string;
  batch: Batch | undefined;
}

/** The images before and after: of the batch that the address names, or else of the account's list. */
async function stepsFrom({ deps, account, query }: MemberVisit, image: Image): Promise<Neighbours> {
  const { accountId, environment } = image;
  const id = query.get("batch");
  const batch = id ? await findBatch(deps.store.read, { accountId: account.id, environment, id }) : undefined;
  if (batch) {
    const { before, after } = await neighboursInBatch(deps.store.read, batch.id, image.id);
    return { previous: before, next: after, within: `?batch=${batch.id}`, batch };
  }
  const { newer, older } = await neighboursOf(deps.store.read, { ...image, accountId });
  return { previous: newer, next: older, within: "", batch };
}

function Steps({ previous, next, within, batch }: Neighbours) {
  const step = (id: string | null, label: string, rel: "prev" | "next") =>
    id === null ? (
      <span />
    ) : (
      <a class="button button-small" rel={rel} href={`/console/images/${id}${within}`}>
        {label}
      </a>
    );
  return (
    <nav class="image-steps" aria-label="Images">
      {step(previous, "Previous", "prev")}
      {batch && (
        <a class="ellipsis" href={`/console/batches/${batch.id}`}>
          {batchName(batch)}
        </a>
      )}
      {step(next, "Next", "next")}
    </nav>
  );
}

async function imagePage(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  const { store, config, progress } = visit.deps;
  const [entries, record, deliveries, before, batchIds, places] = await Promise.all([
    entriesOfImage(store.read, image.id),
    findRecordOfImage(store.read, image.id),
    listDeliveries(visit.deps, { accountId: image.accountId, imageId: image.id, limit: 10 }),
    pictureBefore(store.read, image),
    firstBatches(store.read, [image.id]),
    batchesWith(store.read, image.id, 1),
  ]);
  const steps = await stepsFrom(visit, image);
  const answer = { ...image, batchId: batchIds.get(image.id) ?? null };
  const view = imageView(answer, { config, progress: progress.of(image.id) });
  const hasPhoto = await keptPhoto(visit, image);
  return shell(
    visit,
    playerName(image),
    <div class="stack" {...refreshing(visit, "image", isOpen(image))}>
      <PageHead
        title={playerName(image)}
        lead={
          <>
            <StatusBadge image={image} /> <EnvironmentBadge environment={image.environment} />{" "}
            <code>{image.id}</code>
          </>
        }
      >
        {isThere(image) && (
          <a class="button" href={`/cdn/${image.outputName}`} download={pictureName(image)}>
            Download
          </a>
        )}
        {printable([image]).size !== undefined && (
          <a class="button" href={`/console/images/${image.id}/print`}>
            Print file
          </a>
        )}
        {canWrite(visit) && (
          <a class="button" href={`/console/images/${image.id}/again${steps.within}`}>
            {batchIds.size > 0 ? "Edit" : "Make again"}
          </a>
        )}
        {canWrite(visit) && isThere(image) && (
          <a class="button" href={`/console/match?player=${image.id}`}>
            Make as player of the match
          </a>
        )}
        <a class="button" href={`/console/playground?from=${image.id}`}>
          Open in the playground
        </a>
        {mayDelete(visit) && (
          <Confirm
            visit={visit}
            id="delete-image"
            action={`/console/images/${image.id}/delete`}
            button="Delete"
            title="Delete this image?"
            confirm="Delete it for good"
            small={false}
          >
            <p>
              The picture, the photo, the request and the webhooks about it go; the picture's address answers
              410. Its credit stays spent. To delete everything about the player, go to{" "}
              <a href="/console/data">Data</a>.
            </p>
          </Confirm>
        )}
      </PageHead>
      <Steps {...steps} />
      <Failure image={image}>
        {hasPhoto && image.failureReason === "several_people" && canWrite(visit) && (
          <FaceAgain visit={visit} image={image} place={places[0]?.id ?? ""} />
        )}
      </Failure>
      <Progress image={image} progress={progress.of(image.id)} />
      <div class="image-page">
        <div class="stack">
          {before && isThere(image) && <Comparison before={before} after={image} />}
          <Card>
            <Pictures image={image} hasPhoto={hasPhoto} />
          </Card>
        </div>
        <div class="stack">
          <PublicationCard visit={visit} image={image} />
          <Share image={image} config={config} />
          <Words image={image} />
          <Card title="Timeline">
            <Timeline steps={timeline(image, entries)} />
          </Card>
          <Details image={image} record={record} />
          <Deliveries deliveries={deliveries.items} />
        </div>
      </div>
      <details class="card fold">
        <summary>For developers: request and answer</summary>
        <div class="stack">
          <Code
            id="request"
            label="Request body of POST /v1/images"
            text={JSON.stringify(image.request, null, 2)}
          />
          <Code
            id="answer"
            label="Answer of GET /v1/images/{image_id}"
            text={JSON.stringify(envelope(view), null, 2)}
          />
        </div>
      </details>
    </div>,
    { wide: true, modules: [CARD_ELEMENT_VERSION] },
  );
}

/** The possible types of a source, by first bytes. */
function photoType(head: Uint8Array): string {
  const hex = Buffer.from(head).toString("hex");
  if (hex.startsWith("ffd8ff")) return "image/jpeg";
  return hex.startsWith("89504e47") ? "image/png" : "image/webp";
}

async function photo(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  if (image.sourceSha256 === null) throw notFound();
  const file = await visit.deps.blobs.open("source", image.sourceSha256);
  if (!file) throw notFound();
  const head = await file.slice(0, 12).bytes();
  return privateFile(visit.exchange, file, {
    "Content-Type": photoType(head),
    "Cache-Control": "private, max-age=3600",
  });
}

export const imageRoutes = [
  member.get("/console/images/:id", imagePage),
  member.get("/console/images/:id/photo", photo),
  member.get("/console/images/:id/thumb", async (visit) => thumbOf(visit, await ownImage(visit))),
];
