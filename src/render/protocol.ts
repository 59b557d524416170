import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { IMAGE_FORMATS, POSITIONS } from "../core/card.ts";
import { StringEnum } from "../core/string-enum.ts";
import { Previewed, previewJob, SupportsJob } from "./preview/messages.ts";

// Messages between the server and a render worker. Both sides check what they receive: a message that does not fit means
// that the other side is broken, and it is replaced.

const Milliseconds = Type.Record(Type.String(), Type.Number());

export const CardInputSchema = Type.Object({
  player: Type.Object({
    name: Type.String(),
    position: StringEnum(POSITIONS),
    number: Type.Integer(),
    skillLevel: Type.Integer(),
    externalId: Type.Optional(Type.String()),
  }),
  style: Type.Object({
    preset: Type.String(),
    width: Type.Integer(),
    height: Type.Integer(),
    format: StringEnum(IMAGE_FORMATS),
    backgroundTheme: Type.Optional(Type.String()),
  }),
  branding: Type.Object({
    primaryColor: Type.Optional(Type.String()),
    secondaryColor: Type.Optional(Type.String()),
  }),
  fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});

/** What a renderer needs to start: told once, as the first message to a worker. */
export const RendererOptions = Type.Object({
  chromium: Type.Object({
    path: Type.String(),
    origin: StringEnum(["configured", "system", "package"]),
    env: Type.Record(Type.String(), Type.String()),
  }),
  /** The folder of the native ONNX runtime. */
  onnxRuntime: Type.String(),
  /** A matte network of the operator's, with the hash of its file. */
  matteModel: Type.Union([Type.Object({ path: Type.String(), sha256: Type.String() }), Type.Null()]),
  profilesDir: Type.String(),
  cutoutsDir: Type.String(),
  templatesDir: Type.Union([Type.String(), Type.Null()]),
  /** The templates that cards will be asked for: their pages are warmed. */
  presets: Type.Array(Type.String(), { minItems: 1 }),
  noSandbox: Type.Boolean(),
});
export type RendererOptions = Static<typeof RendererOptions>;

export const RenderJob = Type.Object({
  jobId: Type.String(),
  card: CardInputSchema,
  /** The template as it was when the card was asked for: its digest and a file that holds it. Without, as it is now. */
  template: Type.Optional(Type.Object({ digest: Type.String(), path: Type.String() })),
  /** A silhouette with TEST across it: no photo is looked at. */
  placeholder: Type.Optional(Type.Boolean()),
  /** The card with PREVIEW across it: for somebody to judge, not to use. */
  preview: Type.Optional(Type.Boolean()),
  photoPath: Type.String(),
  /** SHA-256 of the photo: the cutout's place in the cache. */
  photoSha256: Type.String(),
  badgePath: Type.Union([Type.String(), Type.Null()]),
  /** Where the finished picture is written; appears complete or not at all. */
  outputPath: Type.String(),
});
export type RenderJob = Static<typeof RenderJob>;

export const PreviewJob = previewJob(CardInputSchema);
export type PreviewJob = Static<typeof PreviewJob>;

export const STAGES = ["decode", "find", "cut_out", "compose", "capture", "store"] as const;
export type Stage = (typeof STAGES)[number];

export const ToWorker = Type.Union([
  Type.Object({ type: Type.Literal("start"), options: RendererOptions }),
  Type.Object({ type: Type.Literal("render"), job: RenderJob }),
  Type.Object({ type: Type.Literal("preview"), job: PreviewJob }),
  Type.Object({ type: Type.Literal("supports"), job: SupportsJob }),
]);
export type ToWorker = Static<typeof ToWorker>;

export const RenderedFile = Type.Object({
  contentType: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  bytes: Type.Integer(),
  /** The template it was really made with. */
  template: Type.Object({ version: Type.String(), digest: Type.String() }),
  timingsMs: Milliseconds,
  /** What says how it was made, and lets somebody make it again. */
  receipt: Type.Object({
    sha256: Type.String(),
    tools: Type.Record(Type.String(), Type.String()),
    framing: Type.Unknown(),
    timingsMs: Milliseconds,
  }),
});
export type RenderedFile = Static<typeof RenderedFile>;

export const FromWorker = Type.Union([
  /** The browser runs, in a group of processes of its own, which goes by the number of the first. */
  Type.Object({ type: Type.Literal("browser"), pid: Type.Integer({ minimum: 2 }) }),
  /** What a worker that is not warm yet has come to: it begins with that now. */
  Type.Object({ type: Type.Literal("starting"), step: Type.String() }),
  Type.Object({ type: Type.Literal("ready") }),
  /** Cards go on, but the operator should look at something. */
  Type.Object({ type: Type.Literal("problem"), message: Type.String() }),
  Type.Object({ type: Type.Literal("stage"), jobId: Type.String(), stage: StringEnum(STAGES) }),
  Type.Object({ type: Type.Literal("done"), jobId: Type.String(), file: RenderedFile }),
  Type.Object({ type: Type.Literal("previewed"), jobId: Type.String(), preview: Previewed }),
  /** For each declaration whether Chromium knows it. */
  Type.Object({ type: Type.Literal("supported"), jobId: Type.String(), known: Type.Array(Type.Boolean()) }),
  /** The photo cannot become a card; another attempt would end the same way. */
  Type.Object({ type: Type.Literal("refused"), jobId: Type.String(), message: Type.String() }),
  /** Something of ours broke; another attempt may succeed. `storage`: only once the disk takes files again. */
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
