import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { ASKED_COMPOSITIONS, COMPOSITIONS, IMAGE_FORMATS, MOTIONS, POSITIONS } from "../core/card.ts";
import { ShownSet } from "../core/card-set.ts";
import { FAILURE_REASON_NAMES } from "../core/failure-reasons.ts";
import { StringEnum } from "../core/string-enum.ts";
import { Previewed, previewJob, SupportsJob } from "./preview/messages.ts";

// Messages between the server and a render worker. Both sides validate what they receive: an invalid message
// means that the other side is broken, and it is replaced.

const Milliseconds = Type.Record(Type.String(), Type.Number());

const CardInputSchema = Type.Object({
  player: Type.Object({
    name: Type.String(),
    position: StringEnum(POSITIONS),
    number: Type.Integer(),
    skillLevel: Type.Integer(),
    externalId: Type.Optional(Type.String()),
    focus: Type.Optional(Type.Object({ x: Type.Number(), y: Type.Number() })),
  }),
  style: Type.Object({
    preset: Type.String(),
    width: Type.Integer(),
    height: Type.Integer(),
    format: StringEnum(IMAGE_FORMATS),
    motion: Type.Optional(StringEnum(MOTIONS)),
    backgroundTheme: Type.Optional(Type.String()),
    composition: Type.Optional(StringEnum(ASKED_COMPOSITIONS)),
    layers: Type.Optional(Type.Literal(true)),
    foil: Type.Optional(Type.Literal(true)),
    back: Type.Optional(Type.Literal(true)),
  }),
  branding: Type.Object({
    primaryColor: Type.Optional(Type.String()),
    secondaryColor: Type.Optional(Type.String()),
  }),
  fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  set: Type.Optional(ShownSet),
});

/** What a renderer needs to start, sent as the first message to a worker. */
export const RendererOptions = Type.Object({
  chromium: Type.Object({
    path: Type.String(),
    origin: StringEnum(["configured", "system", "package"]),
    env: Type.Record(Type.String(), Type.String()),
  }),
  /** Folder of the native ONNX runtime. */
  onnxRuntime: Type.String(),
  /** The operator's own matte network, with the hash of its file. */
  matteModel: Type.Union([Type.Object({ path: Type.String(), sha256: Type.String() }), Type.Null()]),
  /** The operator's ffmpeg, which makes MP4 of videos. */
  mp4Encoder: Type.Union([Type.String(), Type.Null()]),
  profilesDir: Type.String(),
  cutoutsDir: Type.String(),
  templatesDir: Type.Union([Type.String(), Type.Null()]),
  /** Templates whose pages are warmed at start. */
  presets: Type.Array(Type.String(), { minItems: 1 }),
  noSandbox: Type.Boolean(),
  /**
   * Draws at the machine's normal priority: somebody is waiting in front of the picture, and no service runs
   * here.
   */
  normalPriority: Type.Optional(Type.Boolean()),
  /**
   * What is opened before the first card. `everything` unless given; `pages`: networks are loaded with the
   * first new photo; `one_page`: the other pages are opened with the first card that needs them too.
   */
  warms: Type.Optional(StringEnum(["everything", "pages", "one_page"])),
});
export type RendererOptions = Static<typeof RendererOptions>;

export const RenderJob = Type.Object({
  jobId: Type.String(),
  card: CardInputSchema,
  /** Draws the card's other side; without it the front. */
  side: Type.Optional(Type.Literal("back")),
  /** The template as of the request: its digest and a file that contains it. Without it, the current one. */
  template: Type.Optional(Type.Object({ digest: Type.String(), path: Type.String() })),
  /** Draws a silhouette with TEST across it instead of a photo. */
  placeholder: Type.Optional(Type.Boolean()),
  /** Marks the card with PREVIEW: for judging, not for use. */
  preview: Type.Optional(Type.Boolean()),
  photoPath: Type.String(),
  /** SHA-256 of the photo: the cutout's cache key. */
  photoSha256: Type.String(),
  badgePath: Type.Union([Type.String(), Type.Null()]),
  /** Pictures among the template's own fields, by the fields' names. */
  picturePaths: Type.Optional(Type.Record(Type.String(), Type.String())),
  /** Where the finished picture is written; appears complete or not at all. */
  outputPath: Type.String(),
});
export type RenderJob = Static<typeof RenderJob>;

export const PreviewJob = previewJob(CardInputSchema);
export type PreviewJob = Static<typeof PreviewJob>;

/** An HTML document to print as a PDF. */
export const DocumentJob = Type.Object({
  jobId: Type.String(),
  html: Type.String(),
  outputPath: Type.String(),
});
export type DocumentJob = Static<typeof DocumentJob>;

export const STAGES = ["decode", "find", "cut_out", "compose", "capture", "store"] as const;
export type Stage = (typeof STAGES)[number];

export const ToWorker = Type.Union([
  Type.Object({ type: Type.Literal("start"), options: RendererOptions }),
  Type.Object({ type: Type.Literal("render"), job: RenderJob }),
  Type.Object({ type: Type.Literal("preview"), job: PreviewJob }),
  Type.Object({ type: Type.Literal("document"), job: DocumentJob }),
  Type.Object({ type: Type.Literal("supports"), job: SupportsJob }),
]);
export type ToWorker = Static<typeof ToWorker>;

export const RenderedFile = Type.Object({
  contentType: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  bytes: Type.Integer(),
  /** How the player is shown, whether it was asked for or not. */
  composition: StringEnum(COMPOSITIONS),
  /** The template that was actually used. */
  template: Type.Object({ version: Type.String(), digest: Type.String() }),
  timingsMs: Milliseconds,
  /** Records how it was made, so that it can be made again. */
  receipt: Type.Object({
    sha256: Type.String(),
    tools: Type.Record(Type.String(), Type.String()),
    framing: Type.Unknown(),
    timingsMs: Milliseconds,
  }),
});
export type RenderedFile = Static<typeof RenderedFile>;

export const FromWorker = Type.Union([
  /** The browser is running in its own process group, identified by the leader's pid. */
  Type.Object({ type: Type.Literal("browser"), pid: Type.Integer({ minimum: 2 }) }),
  /** The step a starting worker begins now. */
  Type.Object({ type: Type.Literal("starting"), step: Type.String() }),
  Type.Object({ type: Type.Literal("ready") }),
  /** Rendering continues, but an operator should look at something. */
  Type.Object({ type: Type.Literal("problem"), message: Type.String() }),
  Type.Object({ type: Type.Literal("stage"), jobId: Type.String(), stage: StringEnum(STAGES) }),
  Type.Object({ type: Type.Literal("done"), jobId: Type.String(), file: RenderedFile }),
  Type.Object({ type: Type.Literal("previewed"), jobId: Type.String(), preview: Previewed }),
  Type.Object({ type: Type.Literal("printed"), jobId: Type.String() }),
  /** For each declaration, whether Chromium supports it. */
  Type.Object({ type: Type.Literal("supported"), jobId: Type.String(), known: Type.Array(Type.Boolean()) }),
  /** The photo cannot become a card; a retry would end the same way. */
  Type.Object({
    type: Type.Literal("refused"),
    jobId: Type.String(),
    message: Type.String(),
    reason: StringEnum(FAILURE_REASON_NAMES),
  }),
  /** Something of ours broke; a retry may succeed. `storage`: only once the disk accepts files again. */
  Type.Object({
    type: Type.Literal("fault"),
    jobId: Type.String(),
    message: Type.String(),
    storage: Type.Boolean(),
  }),
  Type.Object({ type: Type.Literal("broken"), message: Type.String() }),
]);
export type FromWorker = Static<typeof FromWorker>;

const toWorker = TypeCompiler.Compile(ToWorker);
const fromWorker = TypeCompiler.Compile(FromWorker);

export function parseToWorker(message: unknown): ToWorker | null {
  return toWorker.Check(message) ? message : null;
}

export function parseFromWorker(message: unknown): FromWorker | null {
  return fromWorker.Check(message) ? message : null;
}
