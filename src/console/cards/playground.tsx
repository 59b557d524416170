/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import { checkCard } from "../../app/images/check-card.ts";
import { kitFields } from "../../app/people/brand-kits.ts";
import { type CreateImageRequest, storedRequestValidator } from "../../core/image-request.ts";
import { publicStatus } from "../../core/image-state.ts";
import { MAX_UPLOAD_BODY_BYTES } from "../../core/limits.ts";
import { invalidRequest } from "../../core/partner-refusals.ts";
import { storageFault } from "../../core/storage-unavailable.ts";
import { curlCreate } from "../../http/curl.ts";
import { asPartnerRefusal } from "../../http/envelope.ts";
import { ERROR_STATUS, isPartnerRefusal } from "../../http/http-refusal.ts";
import type { Image } from "../../store/images/images.ts";
import type { BrandKit } from "../../store/people/brand-kits.ts";
import { offeredSets } from "../batches/list-set.tsx";
import { takeFromBudget } from "../budget.ts";
import { Card, Code, PageHead } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { logFault } from "../page-error.ts";
import { Refused } from "../refused.tsx";
import { html, isHtmxRequest, redirect } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";
import { typescriptSample } from "./code-samples.ts";
import { ownImage } from "./image.tsx";
import { CardPicture, playerName, StatusBadge } from "./image-parts.tsx";
import { chosenKit, KitChoice } from "./kit-choice.tsx";
import { keepPhoto } from "./photo-drop.tsx";
import {
  exampleFields,
  type FormFacts,
  fieldsOf,
  type PlaygroundFields,
  requestOf,
} from "./playground-form.ts";
import {
  BesideInputs,
  declaredBy,
  Form,
  formFacts,
  PhotoAddress,
  type PlaygroundState,
  problemsOf,
  sentState,
  TemplateInputs,
} from "./playground-inputs.tsx";
import { exampleInputs, inputsOf, ownFields } from "./playground-own.tsx";
import { acceptOnce, Nonce } from "./sent-once.tsx";

function Samples({ visit, fields, own, template }: PlaygroundState & { visit: MemberVisit }) {
  const request = requestOf(fields, ownFields(template, own).fields);
  const { baseUrl } = visit.deps.config;
  return (
    <>
      <Code id="curl" label="curl" language="sh" text={curlCreate(baseUrl, request)} />
      <Code id="typescript" label="TypeScript" language="ts" text={typescriptSample(baseUrl, request)} />
    </>
  );
}

/**
 * Filled in like an earlier request; with `sent`, used by browsers without scripts, its card is shown too.
 */
async function playgroundPage(visit: MemberVisit): Promise<Response> {
  const sent = visit.query.get("sent");
  const id = sent ?? visit.query.get("from");
  const earlier = id === null ? null : await ownImage({ ...visit, params: { id } });
  const facts = await formFacts(visit);
  const again = storedRequestValidator.check(earlier?.request);
  const kit = await chosenKit(visit);
  const fields = withKit(again.ok ? fieldsOf(again.value, facts) : exampleFields(facts), kit, facts);
  const declared = await declaredBy(visit, fields, facts);
  const isSame = again.ok && again.value.style.preset === fields.preset;
  const own = isSame ? inputsOf(again.value.fields) : exampleInputs(declared.template);
  const sets = await offeredSets(visit);
  const begun = { fields, own, ...declared, ...facts, sets };
  const state: PlaygroundState = { ...begun, environment: "test", problems: {} };
  if (sent === null || !earlier) return page(visit, state, null);
  const outcome = <Outcome image={earlier} progress={visit.deps.progress.of(earlier.id)} />;
  return page(visit, { ...state, environment: earlier.environment }, outcome);
}

/** The fields with what a brand kit says. */
function withKit(fields: PlaygroundFields, kit: BrandKit | undefined, { presets }: FormFacts) {
  if (!kit) return fields;
  const { style, branding } = kitFields(kit);
  // Colours and badge of another club are worse than none.
  const none = { composition: "", primary_color: "", secondary_color: "", club_badge_url: "" };
  const preset = presets.includes(kit.preset) ? kit.preset : fields.preset;
  return { ...fields, ...none, ...style, ...branding, preset };
}

async function page(
  visit: MemberVisit,
  state: PlaygroundState,
  outcome: ComponentChildren,
  status = 200,
): Promise<Response> {
  return shell(
    visit,
    "Playground",
    <>
      <PageHead
        title="Playground"
        lead={
          <>
            Fill in a player, see the request, send it and watch the card appear.{" "}
            <a href="/docs/card-options">All options of a card</a>
          </>
        }
      />
      {canWrite(visit) && (await KitChoice({ visit, action: "/console/playground" }))}
      <div class="playground">
        <Card>
          {canWrite(visit) ? (
            <Form visit={visit} {...state} />
          ) : (
            <p>Owners and developers of the account fill in a player and send the request here.</p>
          )}
        </Card>
        <div class="stack">
          <div id="outcome" aria-live="polite">
            {outcome}
          </div>
          <div id="samples" class="stack">
            <Samples visit={visit} {...state} />
          </div>
        </div>
      </div>
    </>,
    { wide: true, status },
  );
}

async function preview(visit: MemberVisit): Promise<Response> {
  return html(visit.exchange, <Samples visit={visit} {...(await sentState(visit))} />, { fragment: true });
}

/** The inputs of the template that was just chosen. */
async function ownInputs(visit: MemberVisit): Promise<Response> {
  return html(visit.exchange, <TemplateInputs {...(await sentState(visit))} />, { fragment: true });
}

/** Submits the form the way the API would: same checks, same budget, same use case. */
async function send(visit: MemberVisit): Promise<Response> {
  let state = await sentState(visit);
  const { environment } = state;
  const own = ownFields(state.template, state.own);
  const asPart = isHtmxRequest(visit.exchange.request);
  try {
    if (visit.file) {
      const source_image_url = await keepPhoto(visit, environment, visit.file.bytes);
      state = { ...state, fields: { ...state.fields, source_image_url } };
    }
    const request = await checked(visit, requestOf(state.fields, own.fields));
    await takeFromBudget(visit, environment);
    const id = await acceptOnce(visit, { environment, request });
    if (!asPart) return redirect(`${pathOf(id)}#outcome`, visit.exchange);
    const image = await ownImage({ ...visit, params: { id } });
    const outcome = (
      <>
        <Outcome image={image} progress={null} />
        <BesideInputs {...state} />
        <Nonce visit={visit} renews />
        {visit.file && <WithItsAddress visit={visit} {...state} />}
      </>
    );
    return html(visit.exchange, outcome, { fragment: true });
  } catch (fault) {
    const error = storageFault(fault) ? asPartnerRefusal(fault) : fault;
    if (!isPartnerRefusal(error)) throw error;
    logFault(visit, error);
    const refused = { ...state, problems: problemsOf(error, own.places) };
    if (!asPart)
      return page(
        visit,
        refused,
        <Refused error={error} title="The card is not made." />,
        ERROR_STATUS[error.code],
      );
    const outcome = (
      <>
        <Refused error={error} title="The card is not made." />
        <BesideInputs {...refused} />
      </>
    );
    // htmx only shows responses with a success status, and the refusal is what the reader came to see.
    return html(visit.exchange, outcome, { fragment: true });
  }
}

/** The address of a photo that was dropped, in the form and in the samples that the page shows already. */
function WithItsAddress(props: PlaygroundState & { visit: MemberVisit }) {
  return (
    <>
      <PhotoAddress fields={props.fields} problems={props.problems} />
      <div id="samples" class="stack" hx-swap-oob="true">
        <Samples {...props} />
      </div>
    </>
  );
}

async function checked({ deps }: MemberVisit, body: unknown): Promise<CreateImageRequest> {
  const { request, details } = await checkCard(body, deps.config, deps.templates);
  if (!request) throw invalidRequest(details);
  return request;
}

/** The playground with the card of a submitted request. */
function pathOf(imageId: string): string {
  return `/console/playground?sent=${imageId}`;
}

/** The unfinished card, which refreshes itself until it is done. */
function Outcome({ image, progress }: { image: Image; progress: number | null }) {
  const isOpen = publicStatus(image.state) === "processing";
  const poll = isOpen
    ? {
        "hx-get": `/console/playground/${image.id}`,
        "hx-trigger": "load delay:400ms",
        "hx-swap": "outerHTML",
      }
    : {};
  return (
    <section class="card outcome" aria-label="Outcome" {...poll}>
      {image.state === "completed" ? (
        <div class="outcome-sides">
          <CardPicture image={image} className="outcome-card" alt={`The card of ${playerName(image)}`} />
          {image.backOutputName !== null && (
            <img
              class="outcome-card"
              src={`/cdn/${image.backOutputName}`}
              alt={`The back of the card of ${playerName(image)}`}
            />
          )}
        </div>
      ) : (
        <span class={`outcome-card thumb-${publicStatus(image.state)}`}>
          {isOpen ? `${Math.round((progress ?? 0) * 100)} %` : "No card"}
        </span>
      )}
      <div class="stack">
        <p>
          <StatusBadge image={image} />
        </p>
        {isOpen && (
          <progress max={1} value={progress ?? 0} aria-label="Progress">
            {`${Math.round((progress ?? 0) * 100)} %`}
          </progress>
        )}
        {image.state === "failed" && <p>{image.failureMessage}</p>}
        <p class="note">
          <code>{image.id}</code>
        </p>
        <p>
          <a class="button button-small" href={`/console/images/${image.id}`}>
            Open the image
          </a>
        </p>
        {isOpen && (
          <noscript>
            {/* Without a fragment: with one, browsers only scroll. */}
            <a class="button button-small" href={pathOf(image.id)}>
              See whether it is finished
            </a>
          </noscript>
        )}
      </div>
    </section>
  );
}

async function watch(visit: MemberVisit): Promise<Response> {
  const image = await ownImage(visit);
  if (!isHtmxRequest(visit.exchange.request)) return redirect(pathOf(image.id), visit.exchange);
  const outcome = <Outcome image={image} progress={visit.deps.progress.of(image.id)} />;
  return html(visit.exchange, outcome, { fragment: true });
}

export const playgroundRoutes = [
  member.get("/console/playground", playgroundPage),
  member.post("/console/playground/preview", preview),
  member.post("/console/playground/fields", ownInputs),
  member.upload("/console/playground/send", MAX_UPLOAD_BODY_BYTES, send),
  member.get("/console/playground/:id", watch),
];
