/** @jsxImportSource preact */
import type { JSX } from "preact";
import { smallerType } from "../../app/images/smaller-pictures.ts";
import { CARD_ELEMENT_VERSION } from "../../web/card-element.ts";
import { LivingCard } from "../../web/living-card.tsx";
import { SHARE_ASSETS } from "./assets.ts";
import { Document } from "./document.tsx";
import { ratioStyle, type SharedCard, thumbnail } from "./shared-card.ts";

/** How a card is described to people and previews: by what it shows, and no more. */
export const altOf = (name: string) => `The card of ${name}`;

/** The elements by which messengers and networks draw a link to the card. */
function Preview({ card }: { card: SharedCard }) {
  const { name, address, pictureUrl } = card;
  const { url, width, height } = thumbnail(card) ?? { ...card, url: pictureUrl };
  const description = descriptionOf(card);
  const properties: Record<string, string | number> = {
    "og:type": card.isVideo ? "video.other" : "website",
    "og:url": address,
    "og:title": name,
    "og:description": description,
    "og:image": url,
    "og:image:type": smallerType(card.contentType),
    "og:image:width": width,
    "og:image:height": height,
    "og:image:alt": altOf(name),
    ...(card.isVideo && videoOf(card)),
  };
  const names = {
    description,
    "twitter:card": "summary_large_image",
    "twitter:title": name,
    "twitter:description": description,
    "twitter:image": url,
    "twitter:image:alt": altOf(name),
  };
  return (
    <>
      {Object.entries(names).map(([key, content]) => (
        <meta key={key} name={key} content={content} />
      ))}
      {Object.entries(properties).map(([key, content]) => (
        <meta key={key} property={key} content={String(content)} />
      ))}
    </>
  );
}

const videoOf = ({ pictureUrl, contentType, width, height }: SharedCard) => ({
  "og:video": pictureUrl,
  "og:video:type": contentType,
  "og:video:width": width,
  "og:video:height": height,
});

function descriptionOf({ back, isVideo }: SharedCard): string {
  if (isVideo) return "A player card that moves.";
  return back === null
    ? "A player card that tilts and shines."
    : "A player card that tilts, shines and turns over.";
}

function Living({ card }: { card: SharedCard }) {
  const { picture, still, width, height, name } = card;
  if (!card.isVideo) return <LivingCard {...card} alt={altOf(name)} />;
  // The script takes the controls away where the video plays by itself, which not everybody wants.
  return (
    <video
      class="film"
      src={picture}
      poster={still ?? undefined}
      width={width}
      height={height}
      aria-label={altOf(name)}
      preload="metadata"
      controls
      loop
      muted
      playsinline
    />
  );
}

function LivingHead({ card }: { card: SharedCard }) {
  return (
    <>
      <title>{card.name}</title>
      {/* A number of ours, which the policy names by its hash. */}
      <style dangerouslySetInnerHTML={{ __html: ratioStyle(card) }} />
      {card.isVideo ? (
        <script src={SHARE_ASSETS.url("film.js")} defer />
      ) : (
        <script type="module" src={CARD_ELEMENT_VERSION} />
      )}
    </>
  );
}

/** A card's page, to be sent and posted. */
export function sharePage(card: SharedCard): JSX.Element {
  return (
    <Document
      head={
        <>
          <LivingHead card={card} />
          <link rel="canonical" href={card.address} />
          <link rel="alternate" type="application/json+oembed" href={card.oembedUrl} title={card.name} />
          <Preview card={card} />
          <script src={SHARE_ASSETS.url("share.js")} defer />
        </>
      }
    >
      <img class="glow" src={card.smallPicture} alt="" />
      <main class="page">
        <Living card={card} />
        <h1>{card.name}</h1>
        <div class="tools">
          <button id="share" type="button" class="tool tool-first" hidden>
            Share
          </button>
          <button id="copy" type="button" class="tool" hidden>
            Copy the link
          </button>
          <a class="tool" href={card.picture} download>
            Save the {card.isVideo ? "video" : "picture"}
          </a>
        </div>
        <p id="status" class="status" role="status" />
      </main>
    </Document>
  );
}

/** The card alone, for a frame in another's page. */
export function frameOfCard(card: SharedCard): JSX.Element {
  return (
    <Document kind="frame" head={<LivingHead card={card} />}>
      <main class="page">
        <Living card={card} />
      </main>
    </Document>
  );
}

const REASONS = {
  gone: {
    title: "This card is no longer shown",
    lead: "Its time is over, or it was taken down. Ask the person who sent you the link for a new one.",
  },
  early: {
    title: "This card is still to come",
    lead: "It is not published yet. Open the link again later.",
  },
  unknown: {
    title: "There is nothing here",
    lead: "The link may be cut short. Ask the person who sent it to send it again.",
  },
  busy: {
    title: "Too many wrong links",
    lead: "Wait a minute, then open the link again.",
  },
};

/** Why there is no card to see. */
export function missingPage(why: keyof typeof REASONS, isFrame: boolean): JSX.Element {
  const { title, lead } = REASONS[why];
  return (
    <Document {...(isFrame ? { kind: "frame" } : {})} head={<title>{title}</title>}>
      <main class="page reason">
        <div class="empty" />
        <h1>{title}</h1>
        <p class="lead">{lead}</p>
      </main>
    </Document>
  );
}
