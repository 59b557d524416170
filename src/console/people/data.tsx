/** @jsxImportSource preact */
import { forgetImage, forgetPlayer } from "../../app/images/forget-image.ts";
import { logAction } from "../../app/operations/activity.ts";
import { mayDelete, requireDeletion } from "../../app/people/deletion-rights.ts";
import { allowDevelopersToDelete, changeRetention } from "../../app/people/manage-retention.ts";
import { ENVIRONMENTS } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_RETENTION_DAYS } from "../../core/limits.ts";
import { ownImage } from "../cards/image.tsx";
import { Card, counted, Field, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member, owner } from "../visit.ts";

function Days({
  name,
  label,
  hint,
  value,
}: {
  name: string;
  label: string;
  hint: string;
  value: number | null;
}) {
  return (
    <Field label={label} id={name} hint={hint}>
      <input
        id={name}
        name={name}
        type="number"
        min={1}
        max={MAX_RETENTION_DAYS}
        value={value ?? ""}
        aria-describedby={`${name}-hint`}
      />
    </Field>
  );
}

function Retention({ visit }: { visit: MemberVisit }) {
  const { account, deps } = visit;
  return (
    <Card title="Retention" note="What happens by itself. It holds from the next card on.">
      <PostForm visit={visit} action="/console/data/retention" class="form narrow-form">
        <Days
          name="retention_days"
          label="Days a picture is served"
          hint={`Empty: ${deps.config.retentionDays}, as this service is set.`}
          value={account.retentionDays}
        />
        <Days
          name="forget_after_days"
          label="Days until everything personal is deleted"
          hint="Counted from a card's end: request, photo, picture and payloads go. Empty: only when you ask."
          value={account.forgetAfterDays}
        />
        <button type="submit" class="button button-primary">
          Save
        </button>
      </PostForm>
    </Card>
  );
}

function ForgetPlayer({ visit }: { visit: MemberVisit }) {
  return (
    <Card
      title="Delete a player"
      note="Every live and test card of one external id, with photo, request and payloads. It cannot be undone."
    >
      <PostForm visit={visit} action="/console/data/player" class="form narrow-form">
        <Field label="Your id of the player" id="external_id">
          <input id="external_id" name="external_id" type="text" required maxLength={255} />
        </Field>
        <label class="check">
          <input type="checkbox" name="sure" value="yes" required /> I want all of it deleted for good
        </label>
        <button type="submit" class="button button-danger">
          Delete the player
        </button>
      </PostForm>
    </Card>
  );
}

function Deletion({ visit }: { visit: MemberVisit }) {
  const isAllowed = visit.account.developersDeletePlayers === 1;
  return (
    <Card
      title="Who deletes images and players"
      note="They also make the keys with the scope delete, which can do it by the API."
    >
      <PostForm visit={visit} action="/console/data/deletion" class="form narrow-form">
        <label class="check">
          <input type="checkbox" name="developers" value="yes" checked={isAllowed} /> Developers too, not
          owners alone
        </label>
        <button type="submit" class="button">
          Save
        </button>
      </PostForm>
    </Card>
  );
}

async function dataPage(visit: MemberVisit): Promise<Response> {
  return shell(
    visit,
    "Data",
    <>
      <PageHead
        title="Data"
        lead={
          <>
            What is kept of your players, and for how long.{" "}
            <a href="/docs/data-protection">For your data protection officer</a>
          </>
        }
      />
      {visit.role === "owner" ? (
        <Retention visit={visit} />
      ) : (
        <Card title="Retention">
          <p>
            Pictures are served for{" "}
            {counted(visit.account.retentionDays ?? visit.deps.config.retentionDays, "day")}.{" "}
            {visit.account.forgetAfterDays === null
              ? "Everything else personal is deleted when somebody asks."
              : `Everything personal is deleted ${counted(visit.account.forgetAfterDays, "day")} after a card's end.`}{" "}
            An owner of the account can change this.
          </p>
        </Card>
      )}
      {mayDelete(visit) && <ForgetPlayer visit={visit} />}
      {visit.role === "owner" && <Deletion visit={visit} />}
      {canWrite(visit) && !mayDelete(visit) && (
        <Card title="Delete a player">
          <p>Owners of the account delete images and players, and can allow developers to do it too.</p>
        </Card>
      )}
    </>,
  );
}

/** Empty is null; anything that is not a number is refused by the use case, in its words. */
function daysOf(visit: MemberVisit, name: string): number | null {
  const text = field(visit, name);
  return text === "" ? null : Number(text);
}

async function setRetention(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session } = visit;
  const retention = {
    retentionDays: daysOf(visit, "retention_days"),
    forgetAfterDays: daysOf(visit, "forget_after_days"),
  };
  await changeRetention(deps, account.id, retention, user.id);
  await visit.flashes.put(session.id, { notice: "The retention is saved." });
  return redirect("/console/data", visit.exchange);
}

async function setDeletion(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session } = visit;
  const isAllowed = field(visit, "developers") === "yes";
  await allowDevelopersToDelete(deps, account.id, isAllowed, user.id);
  const notice = `Images and players are deleted here by ${isAllowed ? "owners and developers" : "owners alone"}.`;
  await visit.flashes.put(session.id, { notice });
  return redirect("/console/data", visit.exchange);
}

async function deletePlayer(visit: MemberVisit): Promise<Response> {
  requireDeletion(visit, "delete players");
  const { deps, account, user, session } = visit;
  const externalId = field(visit, "external_id");
  if (externalId === "" || field(visit, "sure") !== "yes")
    throw new Refusal("INVALID_REQUEST", "Write the player's id and tick that you want all of it deleted.");
  let count = 0;
  for (const environment of ENVIRONMENTS)
    count += await forgetPlayer(deps, { accountId: account.id, environment, externalId });
  const subject = `${counted(count, "image")} of one player`;
  await deps.store.write(
    "log deletion",
    (tx) =>
      logAction(
        tx,
        { by: user.id, accountId: account.id, action: "player.deleted", subject },
        { ...deps, now: visit.now },
      ),
    { concurrent: true },
  );
  const notice = count === 0 ? "There are no images of this player." : `Deleted: ${subject}.`;
  await visit.flashes.put(session.id, { notice });
  return redirect("/console/data", visit.exchange);
}

async function deleteImage(visit: MemberVisit): Promise<Response> {
  requireDeletion(visit, "delete images");
  const { deps, account, user, session } = visit;
  const { id, environment } = await ownImage(visit);
  await forgetImage(deps, { accountId: account.id, environment, id });
  await deps.store.write(
    "log deletion",
    (tx) =>
      logAction(
        tx,
        { by: user.id, accountId: account.id, action: "image.deleted", subject: id },
        { ...deps, now: visit.now },
      ),
    { concurrent: true },
  );
  await visit.flashes.put(session.id, { notice: `The image ${id} is deleted.` });
  return redirect("/console/images", visit.exchange);
}

export const dataRoutes = [
  member.get("/console/data", dataPage),
  owner.post("/console/data/retention", setRetention),
  owner.post("/console/data/deletion", setDeletion),
  member.post("/console/data/player", deletePlayer),
  member.post("/console/images/:id/delete", deleteImage),
];
