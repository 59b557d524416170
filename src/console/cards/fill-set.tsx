/** @jsxImportSource preact */
import { earlierBatch } from "../../app/batches/accept-batch.ts";
import { creditsAvailable, creditsOf } from "../../app/credits/credits.ts";
import { fillingOf } from "../../app/sets/fill-set.ts";
import { isClosed, type Parallel } from "../../core/card-set.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { insufficientCredits } from "../../core/partner-refusals.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import { type Batch, listBatches } from "../../store/images/batches.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { batchName } from "../batches/batches.tsx";
import { setOfId } from "../batches/list-set.tsx";
import { logBatch } from "../batches/log-batch.ts";
import { takeFromBudget } from "../budget.ts";
import { Breakable, Card, count, counted, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { asked, inBatches, type Plan } from "./fill-plan.ts";
import { addNewPhoto, NewPhotos, newPhotoThumb, PLAN_PART } from "./photoless.tsx";
import { fillPath, parallelText, problemOf } from "./set-words.ts";

// A parallel's cards, made from cards that the players have already.

/** Batches to choose among: the newest. */
const OFFERED_BATCHES = 30;

async function fillPage(visit: MemberVisit): Promise<Response> {
  const { deps, account, query, now } = visit;
  const from = query.get("from") ?? "";
  const { set, parallel, plan } = await asked(visit, { parallel: query.get("parallel"), from });
  const path = `/console/sets/${set.id}`;
  const scope = { accountId: account.id, environment: set.environment };
  const [batches, { left }] = await Promise.all([
    listBatches(deps.store.read, { ...scope, limit: OFFERED_BATCHES }),
    creditsOf(deps.store.read, account, now),
  ]);
  const isLive = set.environment === "live";
  const title = `Make ${parallel.name}`;
  return shell(
    visit,
    title,
    <>
      <PageHead title={title} lead={`${set.name}: ${parallelText(parallel)}.`}>
        <a class="button" href={path}>
          Back to the set
        </a>
      </PageHead>
      <Card title="From which cards" note="Each is made again as it was, as a card of the set.">
        <form method="get" action={`${path}/fill`} class="row-form">
          <input type="hidden" name="parallel" value={parallel.name} />
          <Field label="Cards" id="from">
            <select id="from" name="from" data-submits>
              <option value="">Each player's newest card</option>
              {batches.map((batch) => (
                <option key={batch.id} value={batch.id} selected={batch.id === from}>
                  {`${batchName(batch)}, ${counted(batch.total, "card")}`}
                </option>
              ))}
            </select>
          </Field>
          <noscript>
            <button type="submit" class="button">
              Use
            </button>
          </noscript>
        </form>
      </Card>
      <Without plan={plan} set={set} />
      <NewPhotos visit={visit} players={plan.photoless} path={`${path}/fill`} />
      <div class="stack" id={PLAN_PART}>
        <Card title="What is made">
          {plan.cards === 0 ? (
            <p>{nothingText(plan, parallel, now)}</p>
          ) : (
            <div class="form">
              <p>
                <strong>{counted(plan.cards, "card")}</strong>
                {parallel.size === null
                  ? ", one of each player"
                  : `, numbered, of ${counted(plan.refills.length, "player")}`}
                {plan.done > 0 && `; ${counted(plan.done, "player")} ${plan.done === 1 ? "has" : "have"} all`}
                .
                {plan.later > 0 &&
                  ` ${counted(plan.later, "more card")} can be made once these are: so many are never in the making at once.`}
              </p>
              {isLive && left < plan.cards ? (
                <Notice
                  tone="warn"
                  title={`They cost ${counted(plan.cards, "credit")}, and you have ${count(left)}.`}
                >
                  Have credits added first.
                </Notice>
              ) : (
                <p>
                  {isLive ? (
                    <>
                      They cost <strong>{counted(plan.cards, "credit")}</strong> of the {count(left)} you
                      have. A card that fails costs nothing.
                    </>
                  ) : (
                    "Test cards cost nothing."
                  )}
                </p>
              )}
              <p class="note">The cards there are now stay as they are.</p>
              {canWrite(visit) && (!isLive || left >= plan.cards) && (
                <PostForm visit={visit} action={`${path}/fill`} class="actions">
                  <input type="hidden" name="parallel" value={parallel.name} />
                  <input type="hidden" name="from" value={from} />
                  <input type="hidden" name="cards" value={plan.cards} />
                  <input type="hidden" name="once" value={deps.random.id("form")} />
                  <button type="submit" class="button button-primary">
                    {`Make ${counted(plan.cards, "card")}${isLive ? ` for ${counted(plan.cards, "credit")}` : ""}`}
                  </button>
                </PostForm>
              )}
            </div>
          )}
        </Card>
      </div>
    </>,
  );
}

/** Why there is nothing to make. */
function nothingText({ done, photoless }: Plan, parallel: Parallel, now: number): string {
  if (isClosed(parallel, now)) return "It is closed: no card of it can be made any more.";
  if (photoless.length > 0) return "Every card that is left to make needs another photo.";
  return done > 0 ? "There is nothing left to make of it." : "No player has a card yet.";
}

function Without({ plan: { without }, set }: { plan: Plan; set: CardSet }) {
  if (without.length === 0) return null;
  return (
    <Notice
      tone="warn"
      title={`${counted(without.length, "player")} of the checklist ${without.length === 1 ? "has" : "have"} no card here.`}
    >
      <Breakable text={without.map(({ name, external_id }) => name ?? external_id ?? "").join(", ")} />. Make
      theirs from a <a href={`/console/lists/new?set=${set.id}`}>squad list</a>.
    </Notice>
  );
}

/** Orders the cards in as many batches as they need; sent twice, the form makes them once. */
async function fill(visit: MemberVisit): Promise<Response> {
  const { deps, account, exchange } = visit;
  const [name, from, once] = [field(visit, "parallel"), field(visit, "from"), field(visit, "once")];
  const id = visit.params.id ?? "";
  const set = await setOfId(visit, id);
  if (!set) throw notFound();
  const { environment } = set;
  const made: Batch[] = [];
  try {
    const ofPart = (part: number) => ({
      account,
      environment,
      idempotencyKey: `console-${once}-${part}`,
      name: [...`${set.name} ${name}`].slice(0, MAX_ACCOUNT_NAME_CHARS).join(""),
      sent: { set: id, parallel: name, from, part },
    });
    const earlier = await earlierBatch(deps, ofPart(0));
    if (earlier) return redirect(`/console/batches/${earlier.id}`, exchange);
    const { parallel, plan } = await asked(visit, { parallel: name, from });
    if (String(plan.cards) !== field(visit, "cards"))
      throw new Refusal("INVALID_REQUEST", "The cards to make have changed meanwhile. Look at them again.");
    // All are checked before the first is made.
    const fillings = await Promise.all(
      inBatches(plan.refills).map((part) => fillingOf(deps, set, parallel.name, part)),
    );
    // Of all, so that no part is made and charged where the next is refused.
    const needed = plan.cards;
    const left = creditsAvailable(account, visit.now);
    if (environment === "live" && left < needed)
      throw insufficientCredits(account.creditLimit, visit.now, { needed, left });
    await takeFromBudget(visit, environment);
    for (const [part, filling] of fillings.entries()) {
      const { batch } = await deps.acceptBatch({ ...ofPart(part), ...filling });
      made.push(batch);
      await logBatch(visit, batch);
    }
    if (made.length === 1) return redirect(`/console/batches/${made[0]?.id}`, exchange);
    await visit.flashes.put(visit.session.id, {
      notice: `${counted(plan.cards, "card")} are in the making, in ${counted(made.length, "squad")}.`,
    });
    return redirect(`/console/sets/${id}`, exchange);
  } catch (error) {
    if (!isPartnerRefusal(error) && !(error instanceof Refusal)) throw error;
    const cards = made.reduce((sum, { total }) => sum + total, 0);
    // Of several batches one may be refused when others are made, which then are charged.
    const rest = cards > 0 ? `${counted(cards, "card")} are in the making, and the others are not: ` : "";
    await visit.flashes.put(visit.session.id, { problem: rest + problemOf(error) });
    return redirect(fillPath(set, name, from), exchange);
  }
}

/** Keeps a photo for a player whose earlier one is gone. */
async function addPhoto(visit: MemberVisit): Promise<Response> {
  const from = visit.query.get("from") ?? "";
  const { set, parallel, plan } = await asked(visit, { parallel: visit.query.get("parallel"), from });
  return addNewPhoto(visit, { owner: set, players: plan.photoless }, fillPath(set, parallel.name, from));
}

export const fillSetRoutes = [
  member.get("/console/sets/:id/fill", fillPage),
  member.post("/console/sets/:id/fill", fill),
  member.upload("/console/sets/:id/fill/photos", MAX_UPLOAD_BODY_BYTES, addPhoto),
  member.get("/console/sets/:id/fill/photo", newPhotoThumb),
];
