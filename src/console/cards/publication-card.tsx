/** @jsxImportSource preact */
import { isoTime } from "../../core/time.ts";
import type { Image } from "../../store/images/images.ts";
import { Card, PostForm, Time } from "../elements.tsx";
import { canWrite, type MemberVisit } from "../visit.ts";
import { PublishField, publicationOf } from "./publish-field.tsx";

/** Moves or lifts the time at which a card is published, as long as that is to come; nothing afterwards. */
export function PublicationCard({ visit, image }: { visit: MemberVisit; image: Image }) {
  const { publishAt } = image;
  if (!canWrite(visit) || image.state === "failed" || publishAt === null || publishAt <= visit.now)
    return null;
  const action = `/console/images/${image.id}/publication`;
  return (
    <Card
      title="Not published yet"
      note={
        <>
          Others see it from <Time at={publishAt} />.
        </>
      }
    >
      <PostForm visit={visit} action={action} class="form">
        <PublishField fields={publicationOf(isoTime(publishAt))} problem="" isMade />
        <div class="actions">
          <button type="submit" class="button button-primary">
            Change the time
          </button>
          <button type="submit" name="at_once" value="yes" class="button">
            Publish now
          </button>
        </div>
      </PostForm>
    </Card>
  );
}
