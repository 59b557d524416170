/** @jsxImportSource preact */
import { changeGallery, galleryUrl } from "../../app/sets/manage-sets.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { Card, Confirm, CopyText, PostForm } from "../elements.tsx";
import { redirect } from "../respond.ts";
import { canWrite, type MemberVisit } from "../visit.ts";

/** The public page of a set: opened, embedded and withdrawn. */
export function GalleryOfSet({ visit, set }: { visit: MemberVisit; set: CardSet }) {
  const { baseUrl } = visit.deps.config;
  const address = galleryUrl(set, baseUrl);
  const action = `/console/sets/${set.id}/gallery`;
  if (address === null)
    return (
      <Card
        title="Gallery"
        note="A public page of the set's cards, for a link or for your own site. It is closed."
      >
        {canWrite(visit) && (
          <PostForm visit={visit} action={action}>
            <input type="hidden" name="gallery" value="open" />
            <button type="submit" class="button">
              Open a gallery
            </button>
          </PostForm>
        )}
      </Card>
    );
  const frame = `<iframe src="${address}" title="${Bun.escapeHTML(set.name)}" width="100%" height="800" frameborder="0" loading="lazy" allow="accelerometer; gyroscope"></iframe>`;
  return (
    <Card
      title="Gallery"
      note="Anyone who has the link sees a card of each player and parallel. Expired and deleted cards are left out."
      actions={
        <>
          <a class="button button-small" href={address.slice(baseUrl.length)}>
            Open
          </a>
          {canWrite(visit) && (
            <Confirm
              visit={visit}
              id="withdraw-gallery"
              action={action}
              button="Withdraw"
              title="Withdraw this gallery?"
              confirm="Withdraw it"
            >
              <p>
                Its address shows nothing from then on, also where other sites embed it, and is never used
                again.
              </p>
            </Confirm>
          )}
        </>
      }
    >
      <div class="stack">
        <CopyText id="gallery-url" label="Link to the gallery" text={address} />
        <CopyText id="gallery-embed" label="HTML that shows the gallery on your own site" text={frame} />
      </div>
    </Card>
  );
}

/** Opens the gallery of a set, or withdraws it. */
export async function switchGallery(
  visit: MemberVisit,
  { accountId, environment, id }: CardSet,
): Promise<Response> {
  const isOpen = visit.form.get("gallery") === "open";
  await changeGallery(visit.deps, { accountId, environment, id, isOpen }, visit.user.id);
  const notice = isOpen ? "The gallery is open." : "The gallery is withdrawn.";
  await visit.flashes.put(visit.session.id, { notice });
  return redirect(`/console/sets/${id}`, visit.exchange);
}
