/** @jsxImportSource preact */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { BUILT_IN_TEMPLATES, type LoadedTemplate, loadTemplate } from "../../render/template.ts";
import { latestPictures } from "../../store/image-search.ts";
import { Badge, Card, Empty, Notice, PageHead } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { operator, type UserVisit } from "../visit.ts";

interface Listed {
  name: string;
  origin: "Built in" | "Your folder";
  template: LoadedTemplate | null;
  problem: string | null;
}

async function list(origin: Listed["origin"], name: string, place: string): Promise<Listed> {
  try {
    return { name, origin, template: await loadTemplate(place), problem: null };
  } catch (error) {
    return { name, origin, template: null, problem: (error as Error).message };
  }
}

/** The templates the service knows, those that cannot be read too, with the reason. */
async function templates({ parts }: UserVisit): Promise<Listed[]> {
  const { templatesDir } = parts.config;
  const builtIn = BUILT_IN_TEMPLATES.map((name) => list("Built in", name, name));
  if (templatesDir === undefined) return Promise.all(builtIn);
  const entries = await readdir(templatesDir, { withFileTypes: true }).catch(() => []);
  const own = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => list("Your folder", entry.name, join(templatesDir, entry.name)));
  return Promise.all([...builtIn, ...own]);
}

async function templatesPage(visit: UserVisit): Promise<Response> {
  const listed = await templates(visit);
  const latest = await latestPictures(visit.parts.store.read, 6);
  return shell(
    visit,
    "Templates",
    <>
      <PageHead title="Templates" lead="What cards can look like. Designers make new ones with the studio." />
      {listed.map(({ name, origin, template, problem }) => (
        <Card
          key={`${origin}/${name}`}
          title={name}
          note={template?.manifest.description}
          actions={<Badge>{origin}</Badge>}
        >
          {problem && <Notice tone="bad">{problem}</Notice>}
          {template && (
            <dl class="facts">
              <dt>Version</dt>
              <dd>{template.manifest.version}</dd>
              <dt>Shapes</dt>
              <dd>{Object.keys(template.manifest.layouts).join(", ")}</dd>
              <dt>Fonts</dt>
              <dd>{template.manifest.fonts.join(", ")}</dd>
            </dl>
          )}
        </Card>
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
                  src={`/cdn/${image.outputName}`}
                  alt=""
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

export const templateRoutes = [operator.get("/console/operator/templates", templatesPage)];
