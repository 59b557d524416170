/** @jsxImportSource preact */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { BUILT_IN_TEMPLATES, type LoadedTemplate, loadTemplate } from "../../render/template.ts";
import { latestPictures } from "../../store/image-search.ts";
import { findImageByOutput } from "../../store/images.ts";
import { Badge, Card, Empty, Notice, PageHead } from "../elements.tsx";
import { thumbOf } from "../image.tsx";
import { playerName } from "../image-parts.tsx";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { privateFile } from "../respond.ts";
import { operator, type UserVisit } from "../visit.ts";
import { type LayoutName, SAMPLE_SIZES, sampleCard } from "./sample-card.ts";

const LATEST_SHOWN = 5;
const LAYOUTS = Object.keys(SAMPLE_SIZES) as LayoutName[];

interface Listed {
  name: string;
  template: LoadedTemplate | null;
  problem: string | null;
}

async function load(name: string, place: string): Promise<Listed> {
  try {
    return { name, template: await loadTemplate(place), problem: null };
  } catch (error) {
    return { name, template: null, problem: (error as Error).message };
  }
}

/** The templates cards are set from, those that cannot be read too, with the reason. */
async function templates({ parts }: UserVisit): Promise<Listed[]> {
  const { templatesDir } = parts.config;
  if (templatesDir === undefined) return Promise.all(BUILT_IN_TEMPLATES.map((name) => load(name, name)));
  const entries = await readdir(templatesDir, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.map((name) => load(name, join(templatesDir, name))));
}

function TemplateCard({ listed: { name, template, problem } }: { listed: Listed }) {
  return (
    <Card
      title={name}
      note={template?.manifest.description}
      actions={template && <Badge>{`Version ${template.manifest.version}`}</Badge>}
    >
      {problem && (
        <Notice tone="bad" title="It cannot be used.">
          {problem}
        </Notice>
      )}
      {template && (
        <>
          <ul class="samples">
            {LAYOUTS.map((layout) => (
              <li key={layout}>
                <figure>
                  <img
                    src={`/console/operator/templates/${name}/${layout}`}
                    alt={`A ${layout} card made with ${name}`}
                    loading="lazy"
                    {...SAMPLE_SIZES[layout]}
                  />
                  <figcaption>{layout[0]?.toUpperCase() + layout.slice(1)}</figcaption>
                </figure>
              </li>
            ))}
          </ul>
          <dl class="facts">
            <dt>Fonts</dt>
            <dd>{template.manifest.fonts.join(", ")}</dd>
          </dl>
        </>
      )}
    </Card>
  );
}

async function templatesPage(visit: UserVisit): Promise<Response> {
  const { templatesDir } = visit.parts.config;
  const [listed, latest] = await Promise.all([
    templates(visit),
    latestPictures(visit.parts.store.read, LATEST_SHOWN),
  ]);
  return shell(
    visit,
    "Templates",
    <>
      <PageHead
        title="Templates"
        lead={
          templatesDir === undefined
            ? "What cards can look like: the templates that come with cardpress."
            : `What cards can look like: the templates in ${templatesDir}.`
        }
      />
      {listed.length === 0 && (
        <Card>
          <Empty title="No templates here">
            Put one folder for each template there, or unset CARDPRESS_TEMPLATES_DIR to use the built-in ones.
          </Empty>
        </Card>
      )}
      {listed.map((template) => (
        <TemplateCard key={template.name} listed={template} />
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

async function sample(visit: UserVisit): Promise<Response> {
  const { name, layout } = visit.params;
  const known = LAYOUTS.find((each) => each === layout);
  const listed = (await templates(visit)).find((each) => each.name === name);
  if (!known || !listed?.template) throw notFound();
  const path = await sampleCard(visit.parts, listed.name, listed.template, known);
  return privateFile(visit.exchange, Bun.file(path), {
    "Content-Type": "image/webp",
    // A designer who reloads the page wants to see what was just saved.
    "Cache-Control": "private, no-cache",
  });
}

async function latestCard(visit: UserVisit): Promise<Response> {
  const image = await findImageByOutput(visit.parts.store.read, visit.params.name ?? "");
  if (!image) throw notFound();
  return thumbOf(visit, image);
}

export const templateRoutes = [
  operator.get("/console/operator/templates", templatesPage),
  operator.get("/console/operator/templates/:name/:layout", sample),
  operator.get("/console/operator/cards/:name", latestCard),
];
