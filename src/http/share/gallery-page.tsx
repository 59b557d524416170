/** @jsxImportSource preact */
import type { JSX } from "preact";
import { CARD_ELEMENT_VERSION } from "../../web/card-element.ts";
import { LivingCard } from "../../web/living-card.tsx";
import { Document } from "./document.tsx";
import type { Gallery, GalleryCard } from "./gallery.ts";
import { altOf } from "./share-page.tsx";

function Shown({ card }: { card: GalleryCard }) {
  const { name, place, address, isVideo } = card;
  return (
    <li>
      <LivingCard {...card} alt={`${altOf(name)}, ${place}`} isLazy />
      {/* The page of a card shows itself in no frame. */}
      <a class="caption" href={address} target="_blank" rel="noopener">
        <strong>{name}</strong>
        <span>{isVideo ? `${place} · Video` : place}</span>
      </a>
    </li>
  );
}

/** The gallery of a set, by itself or in a frame of another's page. */
export function galleryPage({ name, season, cards, first, next }: Gallery): JSX.Element {
  return (
    <Document
      kind="gallery"
      head={
        <>
          <title>{[name, season].filter(Boolean).join(" · ")}</title>
          <script type="module" src={CARD_ELEMENT_VERSION} />
        </>
      }
    >
      <main class="hall">
        <header>
          <h1>{name}</h1>
          {season && <p class="lead">{season}</p>}
        </header>
        {cards.length === 0 && <p class="lead">No cards are shown here yet.</p>}
        <ul class="cards">
          {cards.map((card) => (
            <Shown key={card.address} card={card} />
          ))}
        </ul>
        {(first ?? next) !== null && (
          <nav class="tools" aria-label="Pages">
            {first && (
              <a class="tool" href={first}>
                First cards
              </a>
            )}
            {next && (
              <a class="tool tool-first" href={next}>
                More cards
              </a>
            )}
          </nav>
        )}
      </main>
    </Document>
  );
}
