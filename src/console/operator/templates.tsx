/** @jsxImportSource preact */
import { drawnSample, sampleCard, sampleSize } from "../../app/images/sample-card.ts";
import { findImageByOutput } from "../../store/images/image-reads.ts";
import { latestPictures } from "../../store/images/image-search.ts";
import type { FoundTemplate } from "../../templates/registry.ts";
import { playerName } from "../cards/image-parts.tsx";
import { thumbOf } from "../cards/thumbs.ts";
import { Badge, Card, Empty, Notice, PageHead } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { html, privateFile } from "../respond.ts";
import { operator, type UserVisit } from "../visit.ts";

const LATEST_SHOWN = 5;

/** When to ask again for a sample that is being drawn. */
const AGAIN_MS = 2_000;

/**
 * A sample card. While it is drawn the page asks now and then, each time answered at once: a browser has six
 * connections to a server, and samples that waited for a renderer would keep all of them from the next page.
 */
function Sample({
  name,
  size,
  sides,
  state,
}: {
  name: string;
  size: string;
  sides: [number, number];
  state: "asked" | "drawing" | "drawn" | "failed";
}) {
  const address = `/console/operator/templates/${name}/${size}`;
  const asks = state === "asked" ? "intersect once" : `load delay:${AGAIN_MS}ms`;
  const { width, height } = sampleSize(sides);
  const isWaiting = state === "asked" || state === "drawing";
  return (
    <figure
      {...(isWaiting ? { "hx-get": `${address}/state`, "hx-trigger": asks, "hx-swap": "outerHTML" } : {})}
    >
      {state === "drawn" ? (
        <img
          src={address}
          alt={`A card made with ${name} in its size ${size}`}
          loading="lazy"
          width={width}
          height={height}
        />
      ) : (
        <span class={`picture thumb-${isWaiting ? "processing" : "failed"}`}>
          {isWaiting ? "Being drawn" : "It could not be drawn. Reload the page to try again."}
        </span>
      )}
      <figcaption>
        {size[0]?.toUpperCase() + size.slice(1)}, {sides[0]} x {sides[1]}
      </figcaption>
    </figure>
  );
}

function TemplateCard({
  found: { name, folder, isPublished, isListed, template, problem },
}: {
  found: FoundTemplate;
}) {
  return (
    <Card
      title={name}
      note={template?.manifest.description}
      actions={
        <>
          <Badge tone={isListed ? "good" : "neutral"}>{isListed ? "Listed" : "Not listed"}</Badge>
          {template && <Badge>{`Version ${template.manifest.version}`}</Badge>}
        </>
      }
    >
      {problem && (
        <Notice tone="bad" title="It cannot be used.">
          {problem}
        </Notice>
      )}
      {template && (
        <>
          <ul class="samples">
            {Object.entries(template.manifest.sizes).map(([size, [width, height]]) => (
              <li key={size}>
                <Sample name={name} size={size} sides={[width, height]} state="asked" />
              </li>
            ))}
          </ul>
          <dl class="facts">
            <dt>From</dt>
            <dd>{folder === null ? isPublished ? "Published" : "Built in" : <code>{folder}</code>}</dd>
            <dt>Digest</dt>
            <dd>
              <code>{template.digest}</code>
            </dd>
          </dl>
        </>
      )}
    </Card>
  );
}

async function templatesPage(visit: UserVisit): Promise<Response> {
  const { config, templates } = visit.deps;
  const [found, latest] = await Promise.all([
    templates.all(),
    latestPictures(visit.deps.store.read, LATEST_SHOWN),
  ]);
  return shell(
    visit,
    "Templates",
    <>
      <PageHead
        title="Templates"
        lead={
          <>
            {config.templatesDir === undefined
              ? "What cards can look like: the templates that come with cardpress. "
              : `What cards can look like: the built-in templates and those in ${config.templatesDir}. `}
            Partners can ask for those that <code>CARDPRESS_PRESETS</code> lists, and for those that{" "}
            <code>cardpress template publish</code> offers.
          </>
        }
      />
      {found.map((each) => (
        <TemplateCard key={each.name} found={each} />
      ))}
      <Card title="The latest cards" note="Finished live cards of all accounts.">
        {latest.length === 0 ? (
          <Empty title="No cards yet">The first finished live cards appear here.</Empty>
        ) : (
          <ul class="grid">
            {latest.map((image) => (
              <li key={image.id}>
                <img
                  class="thumb"
                  src={`/console/operator/cards/${image.outputName}`}
                  alt={`The card of ${playerName(image)}`}
                  loading="lazy"
                  width={256}
                  height={320}
                />
              </li>
            ))}
          </ul>
        )}
      </Card>
    </>,
  );
}

/** The template and size in the URL. Throws 404. */
async function sampled({ deps, params: { name, size = "" } }: UserVisit) {
  const found = (await deps.templates.all()).find((each) => each.name === name);
  const sides = found?.template?.manifest.sizes[size];
  if (!found?.template || !sides) throw notFound();
  return { name: found.name, template: found.template, size, sides };
}

async function sampleState(visit: UserVisit): Promise<Response> {
  const { name, template, size, sides } = await sampled(visit);
  const state = await drawnSample(visit.deps, name, template, size);
  return html(visit.exchange, <Sample name={name} size={size} sides={sides} state={state} />, {
    fragment: true,
  });
}

async function sample(visit: UserVisit): Promise<Response> {
  const { name, template, size } = await sampled(visit);
  if ((await drawnSample(visit.deps, name, template, size)) !== "drawn") throw notFound();
  const path = await sampleCard(visit.deps, name, template, size);
  return privateFile(visit.exchange, Bun.file(path), {
    "Content-Type": "image/webp",
    // A designer who reloads the page expects to see what was just saved.
    "Cache-Control": "private, no-cache",
  });
}

async function latestCard(visit: UserVisit): Promise<Response> {
  const image = await findImageByOutput(visit.deps.store.read, visit.params.name ?? "");
  if (!image) throw notFound();
  return thumbOf(visit, image);
}

export const templateRoutes = [
  operator.get("/console/operator/templates", templatesPage),
  operator.get("/console/operator/templates/:name/:size", sample),
  operator.get("/console/operator/templates/:name/:size/state", sampleState),
  operator.get("/console/operator/cards/:name", latestCard),
];
