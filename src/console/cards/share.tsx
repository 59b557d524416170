/** @jsxImportSource preact */
import { isShareable } from "../../app/images/output-name.ts";
import { embedOf } from "../../http/share/oembed.ts";
import { type Addresses, sharedCard } from "../../http/share/shared-card.ts";
import type { Image } from "../../store/images/images.ts";
import { Card, CopyText, Time } from "../elements.tsx";
import { isThere } from "./image-parts.tsx";

/** The address of a card's page, and what another's page writes to show the card. */
export function Share({ image, config }: { image: Image; config: Addresses }) {
  if (!isThere(image) || !isShareable(image)) return null;
  const card = sharedCard(image, config);
  return (
    <Card
      title="Share"
      note={
        <>
          A page where the card {card.isVideo ? "plays" : "tilts and shines"}. Anyone who has the link sees it{" "}
          {image.publishAt !== null && (
            <>
              from <Time at={image.publishAt} />{" "}
            </>
          )}
          until <Time at={card.expiresAt} />, or until you delete the card.
        </>
      }
      actions={
        <a class="button button-small" href={card.address.slice(config.baseUrl.length)}>
          Open
        </a>
      }
    >
      <div class="stack">
        <CopyText id="share-url" label="Link to the card's page" text={card.address} />
        <details>
          <summary>On your own site</summary>
          <CopyText id="share-embed" label="HTML that shows the card" text={embedOf(card).html} />
        </details>
      </div>
    </Card>
  );
}
