import { changePublication } from "../../app/images/publish-images.ts";
import { logAction } from "../../app/operations/activity.ts";
import { publicationFault } from "../../core/publication.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { redirect } from "../respond.ts";
import { field, type MemberVisit, member } from "../visit.ts";
import { ownImage } from "./image.tsx";
import { publicationAt } from "./publish-field.tsx";

async function changeTime(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session, now } = visit;
  const image = await ownImage(visit);
  const { id, environment } = image;
  const isLifted = field(visit, "at_once") === "yes" || field(visit, "publish_on") === "";
  const wish = { publish_on: field(visit, "publish_on"), publish_zone: field(visit, "publish_zone") };
  const publish_at = isLifted ? null : publicationAt(wish);
  const back = redirect(`/console/images/${id}`, visit.exchange);
  const fault = publish_at === null ? undefined : publicationFault(publish_at);
  try {
    if (fault) {
      await visit.flashes.put(session.id, { problem: `The time ${fault}` });
      return back;
    }
    const changed = await changePublication(deps, { account, environment, id }, { publish_at });
    const entry = {
      by: user.id,
      accountId: account.id,
      action: "image.publication_changed",
      subject: id,
    } as const;
    await deps.store.write("log publication", (tx) => logAction(tx, entry, { ...deps, now }), {
      concurrent: true,
    });
    const isSeen = (changed.publishAt ?? 0) <= now;
    await visit.flashes.put(session.id, {
      notice: !isSeen
        ? "The time is changed."
        : changed.completedAt === null
          ? "The card is published when it is made."
          : "The card is published.",
    });
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const [detail] = error.details ?? [];
    await visit.flashes.put(session.id, { problem: detail ? `The time ${detail.message}` : error.message });
  }
  return back;
}

export const publicationRoutes = [member.post("/console/images/:id/publication", changeTime)];
