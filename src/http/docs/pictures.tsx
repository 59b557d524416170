/** @jsxImportSource preact */
import { Fragment } from "preact";
import { renderToString } from "preact-render-to-string";
import { PHOTO_REFUSALS } from "../../core/photo-refusals.ts";
import { Markup } from "../../web/markup.ts";
import { DOCS_ASSETS } from "./assets.ts";
import { KeyBar } from "./try-it.tsx";

/** Replaces the texts' markers with pictures and other things Markdown cannot express. */
export function withPictures(path: string, text: string): string {
  if (path === "/docs") return opening(text);
  return text
    .replace("<p>{{test_key}}</p>", renderToString(<KeyBar />))
    .replace("<p>{{photo_examples}}</p>", renderToString(<PhotoExamples />))
    .replace("<p>{{photo_refusals}}</p>", renderToString(<PhotoRefusals />))
    .replace(/<p>\{\{studio_(card|wall)\}\}<\/p>/g, (_, name: keyof typeof STUDIO) =>
      renderToString(<StudioPicture name={name} />),
    )
    .replace(/<p>\{\{sheet_(themes|tiers|shapes)\}\}<\/p>/g, (_, name: keyof typeof SHEETS) =>
      renderToString(<Sheet name={name} />),
    );
}

/** Drawn by scripts/docs-pictures.ts, which prints their sizes. */
const SHEETS = {
  themes: [780, 728, "Players cut out before each known scene, in one club's colours, named below it"],
  tiers: [756, 248, "Four cards in bronze, silver, gold and hologram, with the ratings of each"],
  shapes: [756, 343, "Cards in four shapes: portrait, square, tall and landscape"],
} as const;

function Sheet({ name }: { name: keyof typeof SHEETS }) {
  const [width, height, alt] = SHEETS[name];
  return (
    <p>
      <img
        class="sheet"
        src={DOCS_ASSETS.url(`sheet-${name}.webp`)}
        width={width}
        height={height}
        loading="lazy"
        alt={alt}
      />
    </p>
  );
}

const STUDIO = {
  card: "The studio: samples, a card in the middle, its data beside it",
  wall: "The wall: one card with sixteen names, each in another script",
} as const;

function StudioPicture({ name }: { name: keyof typeof STUDIO }) {
  return (
    <p>
      <img
        class="screen"
        src={DOCS_ASSETS.url(`studio-${name}.webp`)}
        width="960"
        height="600"
        loading="lazy"
        alt={STUDIO[name]}
      />
    </p>
  );
}

function PhotoRefusals() {
  return (
    <dl class="refusals">
      {Object.entries(PHOTO_REFUSALS).map(([reason, message]) => (
        <Fragment key={reason}>
          <dt>
            <code>test_fail_{reason}</code>
          </dt>
          <dd>{message}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

/** The photos in test/photos that anybody may reuse freely. */
const PHOTO_EXAMPLES = [
  [
    "waist-up",
    true,
    "One player from the waist up, facing the camera, evenly lit",
    "A woman in an orange suit",
  ],
  ["whole-body", true, "The whole player, in action, with room around", "A man stretching on a beach"],
  ["several", false, "Several people, and nobody stands out", "Rows of men side by side"],
  ["small", false, "Too far away", "Tiny people on a wide road"],
  ["cut", false, "The face is cut off", "Half of a face at the photo's edge"],
  ["covered", false, "The face is covered but for the eyes", "The woman with a mask over nose and mouth"],
  ["sideways", false, "Lying on the side: turn it before you send it", "The woman turned by a quarter"],
  ["blurred", false, "Too blurred, or a small copy of a photo", "The woman as a few blurred spots"],
  ["dark", false, "Too dark: no light falls on the face", "The woman, hardly to be seen"],
  ["bright", false, "Burnt out: too much light on the face", "The woman with a white patch for a face"],
  [
    "drawing",
    false,
    "A drawing, a comic or a render: found now and then, never good",
    "The woman in a few flat colours",
  ],
] as const;

function PhotoExamples() {
  return (
    <div class="photos">
      {PHOTO_EXAMPLES.map(([name, isGood, caption, alt]) => (
        <figure key={name} class={isGood ? "good" : "bad"}>
          <img
            src={DOCS_ASSETS.url(`photo-${name}.webp`)}
            width="240"
            height="300"
            loading="lazy"
            alt={alt}
          />
          <figcaption>
            <strong>{isGood ? "Good" : "Bad"}</strong> {caption}
          </figcaption>
        </figure>
      ))}
    </div>
  );
}

/** The overview with its picture and its large links in place. */
function opening(text: string): string {
  return text
    .replace(/^<h1>.*?<\/p>/s, (title) => renderToString(<Hero title={title} />))
    .replace("<p>{{lifecycle}}</p>", renderToString(<Lifecycle />))
    .replace("<p>{{start}}</p>", renderToString(<StartCards />));
}

function Hero({ title }: { title: string }) {
  return (
    <div class="hero">
      <div>
        <Markup text={title} />
      </div>
      <img
        src={DOCS_ASSETS.url("card.webp")}
        width="240"
        height="300"
        alt="A finished card: a smiling player in the photo, rated 93, ST, number 9, Eileen Collins"
      />
    </div>
  );
}

function Lifecycle() {
  return (
    <ol class="lifecycle" aria-label="The way of a card">
      <li>
        <strong>POST</strong>
        <code>/v1/images</code>
        <span>photo checked, credit reserved</span>
      </li>
      <li>
        <strong>processing</strong>
        <code>202</code>
        <span>found, cut out, set, pictured</span>
      </li>
      <li>
        <strong>completed</strong>
        <code>image_url</code>
        <span>
          one credit used; or <em>failed</em>, and the credit is back
        </span>
      </li>
    </ol>
  );
}

const START = [
  [
    "/docs/quickstart",
    "Quickstart",
    "Your first card in three steps, in curl, TypeScript, Python, PHP or Go.",
  ],
  ["/docs/testing", "Testing", "Test keys are free, quick, and choose how an image ends."],
  ["/docs/photos", "Photos that work well", "The photo decides how good a card can be."],
  ["/docs/reference", "API reference", "Every address, field, status and header."],
] as const;

function StartCards() {
  return (
    <div class="starts">
      {START.map(([path, title, text]) => (
        <a key={path} href={path}>
          <strong>{title}</strong>
          <span>{text}</span>
        </a>
      ))}
    </div>
  );
}
