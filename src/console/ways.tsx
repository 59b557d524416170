/** @jsxImportSource preact */
import { CONSOLE_ASSETS } from "./assets.ts";
import { Card } from "./elements.tsx";

const PICTURES = {
  "one-card": { alt: "A player's card", width: 240, height: 300 },
  squad: { alt: "Three players' cards in the same colours", width: 552, height: 300 },
  kits: { alt: "The same player in two kits: blue and yellow, red and white", width: 496, height: 300 },
} as const;

/** What a page is for, as a picture. Real cards: `bun scripts/readme.ts` draws them. */
export function Example({ name }: { name: keyof typeof PICTURES }) {
  const { alt, width, height } = PICTURES[name];
  return (
    <img
      class="example"
      src={CONSOLE_ASSETS.url(`${name}.webp`)}
      alt={alt}
      width={width}
      height={height}
      loading="lazy"
    />
  );
}

/** The two ways to cards as buttons, for pages that wait for the first one. */
export function MakeOrUpload() {
  return (
    <>
      <a class="button button-primary" href="/console/make">
        Make one card
      </a>
      <a class="button" href="/console/lists/new">
        Upload a squad list
      </a>
    </>
  );
}

/** The two ways to cards for which nobody has to write a program. */
export function Ways() {
  return (
    <div class="ways">
      <Card>
        <Example name="one-card" />
        <h2>One card</h2>
        <p>A photo, a name, a number: you see the card before you keep it.</p>
        <a class="button button-primary" href="/console/make">
          Make one card
        </a>
      </Card>
      <Card>
        <Example name="squad" />
        <h2>A whole squad</h2>
        <p>Your list from Excel and a folder of photos: we find whose each photo is.</p>
        <a class="button button-primary" href="/console/lists/new">
          Upload a squad list
        </a>
      </Card>
    </div>
  );
}
