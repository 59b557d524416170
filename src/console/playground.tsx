/** @jsxImportSource preact */

import type { ComponentChildren } from "preact";
import type { Environment } from "../core/account.ts";
import { IMAGE_FORMATS, POSITIONS } from "../core/card.ts";
import type { ErrorDetail } from "../core/errors.ts";
import {
  type CreateImageRequest,
  createImageValidator,
  storedRequestValidator,
} from "../core/image-request.ts";
import { publicStatus } from "../core/image-state.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { storageFault } from "../core/storage-unavailable.ts";
import { curlCreate } from "../http/curl.ts";
import { asPartnerRefusal } from "../http/envelope.ts";
import { ERROR_STATUS, isPartnerRefusal, type PartnerRefusal } from "../http/http-refusal.ts";
import { checkMeaning, checkPresetFields } from "../http/images.ts";
import type { Image } from "../store/images.ts";
import { takeFromBudget } from "./budget.ts";
import { typescriptSample } from "./code-samples.ts";
import { Card, Choice, Code, Field, Notice, PageHead, PostForm } from "./elements.tsx";
import { ownImage } from "./image.tsx";
import { playerName, StatusBadge } from "./image-parts.tsx";
import { shell } from "./layout.tsx";
import { logFault } from "./page-error.ts";
import { exampleFields, fieldsOf, type PlaygroundFields, readFields, requestOf } from "./playground-form.ts";
import { html, isHtmxRequest, redirect } from "./respond.ts";
import { canWrite, field, type MemberVisit, member } from "./visit.ts";

interface InputProps {
  name: keyof PlaygroundFields;
  fields: PlaygroundFields;
  label: string;
  hint?: string;
  type?: "text" | "number";
  options?: readonly string[];
}

function Input({ name, fields, label, hint, type = "text", options }: InputProps) {
  const describedBy = hint ? { "aria-describedby": `${name}-hint` } : {};
  return (
    <Field label={label} id={name} hint={hint}>
      {options ? (
        <select id={name} name={name} {...describedBy}>
          {options.map((option) => (
            <option key={option} selected={option === fields[name]}>
              {option}
            </option>
          ))}
        </select>
      ) : type === "number" ? (
        <input id={name} name={name} type="number" value={fields[name]} {...describedBy} />
      ) : (
        <input id={name} name={name} type="text" value={fields[name]} {...describedBy} />
      )}
    </Field>
  );
}

function CardFields({ fields, presets }: { fields: PlaygroundFields; presets: readonly string[] }) {
  return (
    <>
      {presets.length > 1 && <Input name="preset" fields={fields} label="Template" options={presets} />}
      <Input name="name" fields={fields} label="Player's name" />
      <div class="field-pair">
        <Input name="position" fields={fields} label="Position" options={POSITIONS} />
        <Input name="number" fields={fields} label="Shirt number" type="number" />
        <Input name="skill_level" fields={fields} label="Rating" type="number" />
      </div>
      <Input
        name="source_image_url"
        fields={fields}
        label="Photo address"
        hint="Public and HTTPS: JPEG, PNG or WebP. To begin with, a sample photo of this service. Test requests fetch nothing."
      />
      <Input
        name="external_id"
        fields={fields}
        label="Your id of the player"
        hint="In test, test_fail_no_player, test_fail_sideways, test_slow and others choose the ending."
      />
      <Input
        name="background_theme"
        fields={fields}
        label="Background theme"
        hint="Any words: stadium night, fire, ice, galaxy."
      />
      <div class="field-pair">
        <Input name="primary_color" fields={fields} label="Main colour" />
        <Input name="secondary_color" fields={fields} label="Second colour" />
      </div>
      <details class="more">
        <summary>Badge, size and format</summary>
        <div class="form">
          <Input name="club_badge_url" fields={fields} label="Badge address" />
          <div class="field-pair">
            <Input name="width" fields={fields} label="Width" type="number" />
            <Input name="height" fields={fields} label="Height" type="number" />
            <Input name="format" fields={fields} label="Format" options={IMAGE_FORMATS} />
          </div>
        </div>
      </details>
    </>
  );
}

function Form({ visit, fields, environment }: PlaygroundState & { visit: MemberVisit }) {
  return (
    <PostForm
      visit={visit}
      action="/console/playground/send"
      class="form"
      hx-post="/console/playground/send"
      hx-target="#outcome"
      hx-disabled-elt="find button[type=submit]"
      hx-disinherit="hx-disabled-elt"
    >
      <div
        class="form"
        hx-post="/console/playground/preview"
        hx-trigger="input delay:250ms, change"
        hx-target="#samples"
        hx-include="closest form"
        hx-sync="this:replace"
      >
        <CardFields fields={fields} presets={visit.deps.config.presets} />
      </div>
      {canWrite(visit) && (
        <div class="send">
          <Choice legend="Send as" name="environment" options={SEND_AS} chosen={environment} />
          <button type="submit" class="button button-primary">
            Send request
          </button>
        </div>
      )}
    </PostForm>
  );
}

const SEND_AS: [string, string][] = [
  ["test", "Test, free"],
  ["live", "Live, one credit"],
];

function Samples({ visit, fields }: { visit: MemberVisit; fields: PlaygroundFields }) {
  const request = requestOf(fields);
  const { baseUrl } = visit.deps.config;
  return (
    <>
      <Code id="curl" label="curl" language="sh" text={curlCreate(baseUrl, request)} />
      <Code id="typescript" label="TypeScript" language="ts" text={typescriptSample(baseUrl, request)} />
    </>
  );
}

/** Filled in like an earlier request; with `sent`, used by browsers without scripts, its card is shown too. */
async function playgroundPage(visit: MemberVisit): Promise<Response> {
  const sent = visit.query.get("sent");
  const id = sent ?? visit.query.get("from");
  const earlier = id === null ? null : await ownImage({ ...visit, params: { id } });
  const { config } = visit.deps;
  const again = storedRequestValidator.check(earlier?.request);
  const fields = again.ok ? fieldsOf(again.value, config) : exampleFields(config);
  if (sent === null || !earlier) return page(visit, { fields, environment: "test" }, null);
  const outcome = <Outcome image={earlier} progress={visit.deps.progress.of(earlier.id)} />;
  return page(visit, { fields, environment: earlier.environment }, outcome);
}

interface PlaygroundState {
  fields: PlaygroundFields;
  environment: Environment;
}

function page(
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
      <div class="playground">
        <Card>
          <Form visit={visit} {...state} />
        </Card>
        <div class="stack">
          <div id="outcome" aria-live="polite">
            {outcome}
          </div>
          <div id="samples" class="stack">
            <Samples visit={visit} fields={state.fields} />
          </div>
        </div>
      </div>
    </>,
    { wide: true, status },
  );
}

async function preview(visit: MemberVisit): Promise<Response> {
  return html(visit.exchange, <Samples visit={visit} fields={readFields(visit.form, visit.deps.config)} />, {
    fragment: true,
  });
}

/** Submits the form the way the API would: same checks, same budget, same use case. */
async function send(visit: MemberVisit): Promise<Response> {
  const environment: Environment = field(visit, "environment") === "live" ? "live" : "test";
  const fields = readFields(visit.form, visit.deps.config);
  const asPart = isHtmxRequest(visit.exchange.request);
  try {
    const request = await checked(visit, requestOf(fields));
    await takeFromBudget(visit, environment);
    const accepted = await visit.deps.accept({
      account: visit.account,
      environment,
      idempotencyKey: `console-${visit.deps.random.id("idem")}`,
      request,
    });
    const id = accepted.answer.image_id;
    if (!asPart) return redirect(`${pathOf(id)}#outcome`, visit.exchange);
    const image = await ownImage({ ...visit, params: { id } });
    return html(visit.exchange, <Outcome image={image} progress={null} />, { fragment: true });
  } catch (fault) {
    const error = storageFault(fault) ? asPartnerRefusal(fault) : fault;
    if (!isPartnerRefusal(error)) throw error;
    logFault(visit, error);
    if (!asPart)
      return page(visit, { fields, environment }, <Refused error={error} />, ERROR_STATUS[error.code]);
    // htmx only shows responses with a success status, and the refusal is what the reader came to see.
    return html(visit.exchange, <Refused error={error} />, { fragment: true });
  }
}

async function checked(visit: MemberVisit, body: unknown): Promise<CreateImageRequest> {
  const result = createImageValidator(visit.deps.config.presets).check(body);
  if (!result.ok) throw invalidRequest(result.details);
  const details: ErrorDetail[] = [
    ...checkMeaning(result.value, visit.deps.config),
    ...(await checkPresetFields(result.value, visit.deps.templates)),
  ];
  if (details.length > 0) throw invalidRequest(details);
  return result.value;
}

/** The playground with the card of a submitted request. */
function pathOf(imageId: string): string {
  return `/console/playground?sent=${imageId}`;
}

function Refused({ error }: { error: PartnerRefusal }) {
  return (
    <Notice tone="bad" title={`${ERROR_STATUS[error.code]} ${error.code}`}>
      {error.details && error.details.length > 0 ? (
        <ul>
          {error.details.map(({ field: name, message }) => (
            <li key={name}>
              <code>{name}</code> {message}
            </li>
          ))}
        </ul>
      ) : (
        error.message
      )}{" "}
      <a href={`/docs/errors/${error.code}`}>About this error</a>
    </Notice>
  );
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
        <img class="outcome-card" src={`/cdn/${image.outputName}`} alt={`The card of ${playerName(image)}`} />
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
  member.post("/console/playground/send", send),
  member.get("/console/playground/:id", watch),
];
