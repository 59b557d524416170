/** @jsxImportSource preact */

import { pictureName } from "../../app/batches/batch-zip.ts";
import { creditsOf } from "../../app/credits/credits.ts";
import { checkCard } from "../../app/images/check-card.ts";
import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { storageFault } from "../../core/storage-unavailable.ts";
import { asPartnerRefusal } from "../../http/envelope.ts";
import { ERROR_STATUS, isPartnerRefusal, type PartnerRefusal } from "../../http/http-refusal.ts";
import type { Image } from "../../store/images/images.ts";
import { findPhoto } from "../../store/images/photos.ts";
import { takeFromBudget } from "../budget.ts";
import { Card, EnvironmentBadge, Notice, PageHead, refreshing } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { logFault, notFound } from "../page-error.ts";
import { Refused } from "../refused.tsx";
import { html, isHtmxRequest, redirect } from "../respond.ts";
import { canWrite, field, type MemberVisit, member } from "../visit.ts";
import { ownImage } from "./image.tsx";
import { CardPicture, isOpen, isThere, placeholderClass, playerName } from "./image-parts.tsx";
import { type MakeState, missingOf, NEEDED, openedForm, requestFrom, sentForm } from "./make-form.ts";
import { LookPart, MAKE, MATCH, MakeForm, PhotoPart } from "./make-inputs.tsx";
import { makePreviewRoutes, SHOWS_PART } from "./make-preview.tsx";
import { keepPhoto } from "./photo-drop.tsx";
import { problemsOf } from "./playground-inputs.tsx";
import { ownFields } from "./playground-own.tsx";
import { acceptOnce } from "./sent-once.tsx";
import { photoThumb } from "./thumbs.ts";

// One card, for people who are not developers: a photo, a name, a look, and the card beside them as it will
// be.

async function formPage(visit: MemberVisit, state: MakeState, refusal?: PartnerRefusal): Promise<Response> {
  const { left } = await creditsOf(visit.deps.store.read, visit.account, visit.now);
  return shell(
    visit,
    "Make a card",
    <>
      <PageHead
        title="Make a card"
        lead="Photo, name and number: the card is drawn beside them as you go. Nothing is charged until you make it."
      >
        {canWrite(visit) && (
          <a class="button" href={MATCH}>
            Player of the match
          </a>
        )}
      </PageHead>
      {refusal && <Refused error={refusal} title="The card is not made." />}
      {canWrite(visit) ? (
        <MakeForm visit={visit} state={state} left={left} />
      ) : (
        <Card>
          <p>Owners and developers of the account make cards here.</p>
        </Card>
      )}
    </>,
    { wide: true, status: refusal ? ERROR_STATUS[refusal.code] : 200 },
  );
}

/** Keeps the photo that was sent, where one was. Live, as its preview and its card need it. */
async function withPhoto(visit: MemberVisit, state: MakeState): Promise<MakeState> {
  if (!visit.file) return state;
  const source_image_url = await keepPhoto(visit, "live", visit.file.bytes);
  return { ...state, fields: { ...state.fields, source_image_url } };
}

/** The refusal that an error stands for. Throws any other. */
export function refusalOf(visit: MemberVisit, fault: unknown): PartnerRefusal {
  const error = storageFault(fault) ? asPartnerRefusal(fault) : fault;
  if (!isPartnerRefusal(error)) throw error;
  logFault(visit, error);
  return error;
}

/** A photo as soon as it is chosen: kept, and shown in the form. */
async function sendPhoto(visit: MemberVisit): Promise<Response> {
  const before = field(visit, "source_image_url");
  const shown = (address: string, problem: string) =>
    html(visit.exchange, <PhotoPart visit={visit} address={address} problem={problem} />, {
      fragment: true,
      headers: SHOWS_PART,
    });
  if (!visit.file) return shown(before, "");
  try {
    return shown(await keepPhoto(visit, "live", visit.file.bytes), "");
  } catch (fault) {
    return shown(before, refusalOf(visit, fault).message);
  }
}

/** The look of the kit or the template that was just chosen. */
async function chooseLook(visit: MemberVisit): Promise<Response> {
  const state = await sentForm(visit);
  if (isHtmxRequest(visit.exchange.request))
    return html(visit.exchange, <LookPart visit={visit} state={state} />, {
      fragment: true,
      headers: SHOWS_PART,
    });
  return formPage(visit, await withPhoto(visit, state));
}

/** What is missing, beside its input, in place of the rule that it breaks. */
const missingProblems = (state: MakeState) =>
  Object.fromEntries(
    missingOf(state).map((name) => [
      name,
      name === "source_image_url" ? "Choose a photo." : "Needed for the card.",
    ]),
  );

/** Makes the card, as the API would: same checks, same budget, same use case. */
async function make(visit: MemberVisit): Promise<Response> {
  const { deps } = visit;
  const environment: Environment = field(visit, "environment") === "live" ? "live" : "test";
  let state = await sentForm(visit);
  try {
    state = await withPhoto(visit, state);
    const { request, details } = await checkCard(requestFrom(state), deps.config, deps.templates);
    if (!request) throw invalidRequest(details.filter(isFirstOfItsPlace));
    await takeFromBudget(visit, environment);
    return redirect(`${MAKE}/${await acceptOnce(visit, { environment, request })}`, visit.exchange);
  } catch (fault) {
    const refusal = refusalOf(visit, fault);
    const { places } = ownFields(state.template, state.own);
    const problems = { ...problemsOf(refusal, places), ...missingProblems(state) };
    return formPage(visit, { ...state, problems }, said(refusal, state));
  }
}

/** One rule for each field is enough to go on with. */
export const isFirstOfItsPlace = (
  { field: at }: { field: string },
  index: number,
  all: { field: string }[],
) => all.findIndex((one) => one.field === at) === index;

/** The refusal in the words of the form: an empty field is missing, whatever rule of the API it breaks. */
function said(refusal: PartnerRefusal, state: MakeState): PartnerRefusal {
  const missing = missingOf(state);
  if (missing.length === 0) return refusal;
  const labels = missing.map((name) => NEEDED[name].label);
  return new Refusal("INVALID_REQUEST", `Still missing: ${labels.join(", ")}.`);
}

const TEXT = {
  made: "The card is made.",
  test: "A test card shows a grey stand-in for the photo. The real one costs a credit.",
};

/** The card that was made, and what to do with it. */
async function madePage(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  const open = isOpen(image);
  return shell(
    visit,
    playerName(image),
    <div class="stack" {...refreshing(visit, "made", open)}>
      <PageHead
        title={playerName(image)}
        lead={open ? "The card is being made." : isThere(image) ? TEXT.made : "There is no card."}
      >
        <EnvironmentBadge environment={image.environment} />
      </PageHead>
      {image.state === "failed" && (
        <Notice tone="bad" title="The card could not be made, and nothing was charged.">
          {image.failureMessage}
        </Notice>
      )}
      <Card>
        <div class="made">
          <Picture image={image} progress={visit.deps.progress.of(image.id)} />
          <div class="stack">
            <Ways visit={visit} image={image} />
            {image.environment === "test" && <p class="note">{TEXT.test}</p>}
          </div>
        </div>
      </Card>
    </div>,
  );
}

/** The finished card with its back, or how far it is. */
export function Picture({ image, progress }: { image: Image; progress: number | null }) {
  const name = playerName(image);
  if (isThere(image))
    return (
      <div class="made-sides">
        <CardPicture image={image} className="picture" alt={`The card of ${name}`} />
        {image.backOutputName !== null && (
          <img class="picture" src={`/cdn/${image.backOutputName}`} alt={`The back of the card of ${name}`} />
        )}
      </div>
    );
  const percent = `${Math.round((progress ?? 0) * 100)} %`;
  return (
    <div class="made-sides">
      <span class={`picture ${placeholderClass(image)}`}>
        {isOpen(image) ? (
          <span class="stack">
            Being made
            <progress max={1} value={progress ?? 0} aria-label="Progress">
              {percent}
            </progress>
          </span>
        ) : (
          "No card"
        )}
      </span>
    </div>
  );
}

function Ways({ visit, image }: { visit: MemberVisit; image: Image }) {
  const isMade = isThere(image);
  return (
    <div class="made-ways">
      {isMade && (
        <a class="button button-primary" href={`/cdn/${image.outputName}`} download={pictureName(image)}>
          Download
        </a>
      )}
      {canWrite(visit) && (
        <>
          <a class={isMade ? "button" : "button button-primary"} href={`${MAKE}?from=${image.id}`}>
            Change
          </a>
          <a class="button" href={`${MAKE}?like=${image.id}`}>
            Make another
          </a>
        </>
      )}
      <a class="button" href={`/console/images/${image.id}`}>
        All about this card
      </a>
    </div>
  );
}

/** Enough to point at one of several faces in it. */
const FORM_PHOTO_WIDTH_PX = 480;

/** A photo of the form. */
async function photoOfForm(visit: MemberVisit): Promise<Response> {
  const { deps, account, now, params } = visit;
  const scope = { accountId: account.id, environment: "live", id: params.id ?? "", now } as const;
  const photo = await findPhoto(deps.store.read, scope);
  if (!photo) throw notFound();
  return photoThumb(visit, photo.sha256, FORM_PHOTO_WIDTH_PX);
}

export const makeRoutes = [
  member.get(MAKE, async (visit) => formPage(visit, await openedForm(visit))),
  member.upload(MAKE, MAX_UPLOAD_BODY_BYTES, make),
  member.upload(`${MAKE}/photo`, MAX_UPLOAD_BODY_BYTES, sendPhoto),
  member.upload(`${MAKE}/look`, MAX_UPLOAD_BODY_BYTES, chooseLook),
  member.get(`${MAKE}/photos/:id/thumb`, photoOfForm),
  ...makePreviewRoutes,
  member.get(`${MAKE}/:id`, madePage),
];
