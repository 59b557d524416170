import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { PRINT_SIZE_NAMES, PRINT_SIZES, printSizeLabel } from "../core/print-sizes.ts";
import { sha256 } from "../core/sha256.ts";
import type { PreviewPool } from "../render/pool.ts";
import { writeWhole } from "../system/write-whole.ts";
import { readTemplateFolder } from "../templates/files.ts";
import { type SampleBody, WALLS, wallCases } from "./cases.ts";
import { checkStyles } from "./check/check-style.ts";
import { checkSvg } from "./check/check-svg.ts";
import { type ComparedPictures, type CompareRequest, compare, goldenDrawer } from "./comparison.ts";
import { curlCommand } from "./curl.ts";
import { type EventStream, eventStream } from "./event-stream.ts";
import { goldenStates, writeGolden } from "./goldens.ts";
import type {
  CompareAnswer,
  Fault,
  GoldenState,
  PictureAnswer,
  PictureRequest,
  StudioState,
  WallCase,
} from "./messages.ts";
import { samplesFolder } from "./sample-files.ts";
import { SAMPLE_NAME } from "./samples.ts";
import { openSession, type Session, type StudioOptions } from "./session.ts";
import { copyStarter } from "./starter.ts";
import { findTemplates, withFrame } from "./template-folder.ts";
import { watchFolder } from "./watch.ts";

interface SampleToSave {
  template: string;
  name: string;
  text: string;
  /** The id of a dropped photo to save with it. */
  photo?: string;
}

interface CurlRequest {
  template: string;
  body: unknown;
  width: number;
  height: number;
  format: string;
}

/** The requests of the studio's page. All its input is validated here. */
export interface Studio {
  readonly events: EventStream;
  state(template: string | undefined): Promise<StudioState>;
  /** What the browser leaves out of the style sheet, and text that pictures set in fonts of this machine. */
  style(template: string): Promise<Fault[]>;
  picture(request: PictureRequest, base: string): Promise<PictureAnswer>;
  file(key: string, downloadAs: string | undefined): Response;
  compare(request: CompareRequest, base: string): Promise<CompareAnswer>;
  goldens(template: string): Promise<GoldenState[]>;
  accept(request: { template: string; names: string[] }): Promise<{ accepted: string[] }>;
  wall(request: { template: string; wall: string; sample: string; body: unknown }): Promise<WallCase[]>;
  saveSample(request: SampleToSave): Promise<{ name: string }>;
  addPhoto(bytes: Uint8Array): Promise<{ id: string }>;
  create(request: { name: string }): Promise<{ name: string }>;
  curl(request: CurlRequest): Promise<{ command: string }>;
  close(): Promise<void>;
}

/** Opens the studio of a folder. Nothing is drawn until the page asks. */
export async function openStudio(options: StudioOptions): Promise<Studio> {
  const { root, scratch, baseUrl } = options;
  const events = eventStream();
  const session = openSession(options);
  const compared: ComparedPictures = new Map();
  const watcher = watchFolder(root, (paths) => {
    // A changed style sheet changes only pictures, so the page need not reload the state first.
    const isSheet = paths.every((path) => /(?:card|back)\.css$/.test(path));
    events.send("changed", { revision: session.changed(), isSheet });
  });
  return {
    events,
    state: (template) => stateOf(session, root, template),
    style: (template) => styleOf(session, options.pool, template),
    picture: (request, base) => pictureOf(session, request, base),
    file: (key, downloadAs) => fileOf(session, compared, key, downloadAs),
    compare: (request, base) => compare(session, compared, request, base),
    goldens: async (template) => goldenStates(await session.folderNow(template), goldenDrawer(session)),
    accept: (request) => accept(session, request.template, request.names),
    wall: (request) => wallOf(session, request),
    saveSample: (request) => saveSample(session, request),
    addPhoto: (bytes) => addPhoto(session, scratch, bytes),
    create: async ({ name }) => {
      await copyStarter(root, String(name));
      return { name };
    },
    curl: async ({ template, body, width, height, format }) => {
      const fields = (await session.folderNow(template)).manifest?.fields;
      const wanted = { baseUrl, preset: template, size: [width, height], format, fields } as const;
      return { command: curlCommand(body as SampleBody, wanted) };
    },
    close: async () => {
      watcher.close();
      await session.drawings.close();
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

async function stateOf(session: Session, root: string, template: string | undefined): Promise<StudioState> {
  const templates = [...(await findTemplates(root)).keys()];
  const chosen = template !== undefined && templates.includes(template) ? template : templates[0];
  const now = chosen === undefined ? null : await session.folderNow(chosen);
  const printSizes = PRINT_SIZE_NAMES.map((name) => {
    const { short, long } = PRINT_SIZES[name].px;
    return { label: printSizeLabel(name), short, long };
  });
  return { templates, folder: root, template: now?.state ?? null, printSizes };
}

async function styleOf(session: Session, pool: PreviewPool, template: string): Promise<Fault[]> {
  const files = await readTemplateFolder(await session.dirOf(template));
  const faults = [...(await checkStyles(files, pool)), ...checkSvg(files)];
  return faults.map((fault) => withFrame(fault, files));
}

async function pictureOf(session: Session, request: PictureRequest, base: string): Promise<PictureAnswer> {
  const now = await session.folderNow(request.template);
  if (now.digest === null) return { kind: "broken", message: now.state.faults[0]?.message ?? "" };
  try {
    return await session.draw(await session.jobOf(request, now), base);
  } catch (error) {
    if (error instanceof OperatorError) return { kind: "refused", message: error.message };
    const [first = ""] = String(error instanceof Error ? error.message : error).split("\n", 1);
    return { kind: "broken", message: first.replace(/^Error: /, "") };
  }
}

function fileOf(
  session: Session,
  compared: ComparedPictures,
  key: string,
  downloadAs: string | undefined,
): Response {
  const bytes = compared.get(key);
  const file = session.drawings.file(key);
  if (!bytes && !file)
    return Response.json({ error: "This picture is gone. Reload the page." }, { status: 404 });
  const name = downloadAs?.replaceAll(/[^\w.-]/g, "_");
  return new Response(bytes ? new Uint8Array(bytes) : Bun.file(file?.path ?? ""), {
    headers: {
      "Content-Type": file?.contentType ?? (bytes?.[0] === 0x52 ? "image/webp" : "image/png"),
      "Cache-Control": "private, max-age=31536000, immutable",
      ...(name ? { "Content-Disposition": `attachment; filename="${name}"` } : {}),
    },
  });
}

async function accept(session: Session, template: string, names: string[]): Promise<{ accepted: string[] }> {
  const now = await session.folderNow(template);
  const accepted: string[] = [];
  for (const name of names) {
    await writeGolden(now, String(name), goldenDrawer(session));
    accepted.push(name);
  }
  session.forget(template);
  return { accepted };
}

async function wallOf(session: Session, request: Parameters<Studio["wall"]>[0]): Promise<WallCase[]> {
  const { state, manifest, showsSet } = await session.folderNow(request.template);
  const wall = WALLS.find((one) => one === request.wall);
  if (!wall) throw new OperatorError(`There is no wall "${request.wall}".`);
  const good = state.samples.filter(({ problem }) => problem === null);
  const bodies = new Map(good.map(({ name, text }) => [name, JSON.parse(text) as SampleBody]));
  bodies.set(request.sample, request.body as SampleBody);
  return wallCases(wall, bodies, request.sample, manifest?.fields ?? {}, showsSet);
}

async function saveSample(
  session: Session,
  { template, name, text, photo }: SampleToSave,
): Promise<{ name: string }> {
  const folder = await samplesFolder(await session.dirOf(template));
  if (!SAMPLE_NAME.test(name))
    throw new OperatorError("A sample's name has lower-case letters, digits, - and _, as in long_name.");
  let body: SampleBody;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new OperatorError(`Not saved: the data is no JSON. ${(error as Error).message}`);
  }
  await mkdir(folder, { recursive: true });
  const own = photo === undefined ? undefined : session.photos.get(photo);
  if (own) {
    const file = `${name}.${own.path.split(".").at(-1)}`;
    await writeWhole(join(folder, file), await readFile(own.path));
    body = { ...body, player: { ...body.player, photo: file } };
  }
  await writeWhole(join(folder, `${name}.json`), own ? `${JSON.stringify(body, null, 2)}\n` : text);
  session.forget(template);
  return { name };
}

async function addPhoto(session: Session, scratch: string, bytes: Uint8Array): Promise<{ id: string }> {
  const { format } = await new Bun.Image(bytes).metadata().catch(() => ({ format: "" }));
  if (!["jpeg", "png", "webp"].includes(format))
    throw new OperatorError("This is not a picture that cardpress reads. Drop a JPEG, PNG or WebP.");
  const hash = sha256(bytes);
  const path = join(scratch, `${hash}.${format === "jpeg" ? "jpg" : format}`);
  await mkdir(scratch, { recursive: true });
  await writeWhole(path, bytes);
  const id = hash.slice(0, 16);
  session.photos.set(id, { path, sha256: hash });
  return { id };
}
