/** @jsxImportSource preact */

import { pictureName } from "../../app/batches/batch-zip.ts";
import { creditsOf } from "../../app/credits/credits.ts";
import { checkCard } from "../../app/images/check-card.ts";
import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { needsOtherPhoto } from "../../core/failure-reasons.ts";
import { type CreateImageRequest, storedRequest } from "../../core/image-request.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { ERROR_STATUS, type PartnerRefusal } from "../../http/http-refusal.ts";
import type { Image } from "../../store/images/images.ts";
import { takeFromBudget } from "../budget.ts";
import { withoutFields } from "../card-words.ts";
import { Card, Empty, EnvironmentBadge, Notice, PageHead, refreshing } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { Refused } from "../refused.tsx";
import { redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { MakeOrUpload } from "../ways.tsx";
import { ownImage } from "./image.tsx";
import { isOpen, isThere, playerName, Thumb } from "./image-parts.tsx";
import { isFirstOfItsPlace, Picture, refusalOf } from "./make.tsx";
import { MAKE, MATCH } from "./make-inputs.tsx";
import {
  choicesIn,
  type KnownPlayer,
  knownPlayers,
  type MatchState,
  matchState,
  requestsFrom,
} from "./match-form.ts";
import { CREDITS, LookForm, MatchForm } from "./match-inputs.tsx";
import { keepPhoto } from "./photo-drop.tsx";
import { problemsOf } from "./playground-inputs.tsx";
import { ownFields } from "./playground-own.tsx";
import { acceptOnce, madeBefore } from "./sent-once.tsx";
import { Share } from "./share.tsx";

// After the whistle, on a phone: who it was, a line about the match, and the card, its clip and its page.

const TITLE = "Player of the match";

/** The choice of a player, or the form of the one who was chosen. */
async function matchPage(visit: MemberVisit): Promise<Response> {
  const { players, last } = await knownPlayers(visit);
  const id = visit.query.get("player");
  if (id === null || !canWrite(visit)) return choicePage(visit, players);
  const player = await chosenPlayer(visit, id);
  return formPage(visit, player, await matchState(visit, player, { ...choicesIn(visit.query), last }));
}

function choicePage(visit: MemberVisit, players: KnownPlayer[]): Promise<Response> {
  return shell(
    visit,
    TITLE,
    <>
      <PageHead
        title={TITLE}
        lead="Choose who it was: the card, a clip of it and a page to share follow, in the look of the last one."
      />
      {!canWrite(visit) ? (
        <Card>
          <p>Owners and developers of the account make cards here.</p>
        </Card>
      ) : players.length === 0 ? (
        <Card>
          <Empty title="No players yet" action={<MakeOrUpload />}>
            Players who have a card can be chosen here. Make the squad's before the match.
          </Empty>
        </Card>
      ) : (
        <>
          <ul class="grid match-players">
            {players.map(({ image, request: { player } }) => (
              <li key={image.id}>
                <a class="tile" href={`${MATCH}?player=${image.id}`}>
                  <Thumb image={image} />
                  <span class="tile-name">
                    {player.number} {player.name}
                  </span>
                </a>
              </li>
            ))}
          </ul>
          <p class="note">
            Players of your newest cards. Somebody else? <a href={MAKE}>Make their card</a>.
          </p>
        </>
      )}
    </>,
    { wide: true },
  );
}

async function formPage(
  visit: MemberVisit,
  player: KnownPlayer,
  state: MatchState,
  refusal?: PartnerRefusal,
): Promise<Response> {
  const { left } = await creditsOf(visit.deps.store.read, visit.account, visit.now);
  const { name, number } = player.request.player;
  return shell(
    visit,
    TITLE,
    <>
      <PageHead title={`${number} ${name}`} lead={TITLE}>
        <a class="button" href={MATCH}>
          Another player
        </a>
      </PageHead>
      {refusal && <Refused error={refusal} title="The card is not made." />}
      {needsOtherPhoto(player.image.failureReason) && (
        <Notice tone="warn" title="The last photo cannot be used: choose another below.">
          {withoutFields(player.image.failureMessage ?? "")}
        </Notice>
      )}
      <div class="match">
        <LookForm player={player} state={state} isOpen={visit.query.has("clip")} />
        <MatchForm {...{ visit, player, state, left }} />
      </div>
    </>,
    { status: refusal ? ERROR_STATUS[refusal.code] : 200 },
  );
}

/** The form as it was sent. */
async function sentState(visit: MemberVisit, player: KnownPlayer): Promise<MatchState> {
  const { last } = await knownPlayers(visit);
  const state = await matchState(visit, player, { ...choicesIn(visit.form), last });
  const written = [...visit.form].filter(([name]) => name.startsWith("fields."));
  const own = { ...state.own, ...Object.fromEntries(written) };
  if (!visit.file) return { ...state, own };
  const source_image_url = await keepPhoto(visit, "live", visit.file.bytes);
  // A place in the photo before says nothing about this one.
  return { ...state, own, fields: { ...state.fields, source_image_url, focus: "" } };
}

/** The player whose card the address or the form names. */
async function chosenPlayer(visit: MemberVisit, id: string): Promise<KnownPlayer> {
  const image = await ownImage({ ...visit, params: { id } });
  return { image, request: storedRequest(image.request) };
}

/** Makes the card and its clip, each as the API would. */
async function make(visit: MemberVisit): Promise<Response> {
  const environment: Environment = field(visit, "environment") === "live" ? "live" : "test";
  const player = await chosenPlayer(visit, field(visit, "player"));
  let still = await madeBefore(visit, environment, "still");
  let clip = await madeBefore(visit, environment, "clip");
  let state: MatchState | undefined;
  try {
    if (!still || !clip) {
      state = await sentState(visit, player);
      const bodies = requestsFrom(state);
      const [ofStill, ofClip] = [await checked(visit, bodies.still), await checked(visit, bodies.clip)];
      await requireCredits(visit, environment, still ? 1 : CREDITS);
      await takeFromBudget(visit, environment);
      still ??= await acceptOnce(visit, { environment, request: ofStill }, "still");
      await takeFromBudget(visit, environment);
      clip = await acceptOnce(visit, { environment, request: ofClip }, "clip");
    }
  } catch (fault) {
    const refusal = refusalOf(visit, fault);
    if (!still) return refusedPage(visit, player, state, refusal);
    await visit.flashes.put(visit.session.id, { problem: `The clip is not made. ${refusal.message}` });
  }
  return redirect(`${MATCH}/${still}${clip ? `?clip=${clip}` : ""}`, visit.exchange);
}

async function checked({ deps }: MemberVisit, body: unknown): Promise<CreateImageRequest> {
  const { request, details } = await checkCard(body, deps.config, deps.templates);
  if (!request) throw invalidRequest(details.filter(isFirstOfItsPlace));
  return request;
}

/** Throws INSUFFICIENT_CREDITS before the first of two cards when there are not enough for both. */
async function requireCredits(visit: MemberVisit, environment: Environment, needed: number): Promise<void> {
  const { left } = await creditsOf(visit.deps.store.read, visit.account, visit.now);
  if (environment === "test" || left >= needed) return;
  throw new Refusal(
    "INSUFFICIENT_CREDITS",
    `The card and its clip need ${needed} credits and the account has ${left}. Ask for a top-up, or try it free.`,
  );
}

async function refusedPage(
  visit: MemberVisit,
  player: KnownPlayer,
  sent: MatchState | undefined,
  refusal: PartnerRefusal,
): Promise<Response> {
  const { last } = await knownPlayers(visit);
  const state = sent ?? (await matchState(visit, player, { ...choicesIn(visit.form), last }));
  const { places } = ownFields(state.template, state.own);
  const problems = problemsOf(refusal, places);
  return formPage(visit, player, { ...state, problems }, refusal);
}

/** The card and its clip, and where they are shared. */
async function madePage(visit: MemberVisit): Promise<Response> {
  const still = await ownImage(visit);
  const id = visit.query.get("clip");
  const clip = id === null ? null : await ownImage({ ...visit, params: { id } });
  const images = clip ? [still, clip] : [still];
  const { progress, config } = visit.deps;
  const open = images.some(isOpen);
  return shell(
    visit,
    TITLE,
    <div class="stack" {...refreshing(visit, "made", open)}>
      <PageHead title={playerName(still)} lead={open ? "Being made: this page shows it by itself." : TITLE}>
        <EnvironmentBadge environment={still.environment} />
        <a class="button" href={MATCH}>
          Another player
        </a>
      </PageHead>
      {images.map((image) => image.state === "failed" && <Failed key={image.id} image={image} />)}
      <Share image={still} config={config} />
      <div class="match-made">
        {images.map((image) => (
          <Card key={image.id} title={image === clip ? "Clip" : "Card"}>
            <div class="stack">
              <Picture image={image} progress={progress.of(image.id)} />
              <div class="actions">
                {isThere(image) && (
                  <a
                    class="button button-primary"
                    href={`/cdn/${image.outputName}`}
                    download={pictureName(image)}
                  >
                    Download
                  </a>
                )}
                <a class="button" href={`/console/images/${image.id}`}>
                  All about it
                </a>
              </div>
            </div>
          </Card>
        ))}
      </div>
    </div>,
    { wide: true },
  );
}

function Failed({ image }: { image: Image }) {
  return (
    <Notice tone="bad" title="This could not be made, and nothing was charged for it.">
      {withoutFields(image.failureMessage ?? "")}
    </Notice>
  );
}

export const matchRoutes = [
  member.get(MATCH, matchPage),
  member.upload(MATCH, MAX_UPLOAD_BODY_BYTES, make),
  member.get(`${MATCH}/:id`, madePage),
];
