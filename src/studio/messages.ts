import type { Inspection } from "../render/preview/messages.ts";

// What the studio's page and its server tell each other. The page sees these types only.

/** One place in a template's files that something is wrong with. */
export interface Fault {
  file: string;
  /** Both from 1; null where the whole file is meant. */
  line: number | null;
  column: number | null;
  message: string;
  /** The lines around the place, the broken one marked. */
  frame: { line: number; text: string; isFault: boolean }[];
}

export interface SampleFile {
  name: string;
  /** As the file has it. */
  text: string;
  /** What is wrong with it; null where it makes a card. */
  problem: string | null;
}

export interface FieldHint {
  path: string;
  label: string;
  type: "text" | "integer" | "list";
  min?: number;
  max?: number;
}

export interface TemplateState {
  name: string;
  title: string;
  version: string;
  description: string;
  folder: string;
  /** Changes with every saved change. */
  revision: number;
  digest: string | null;
  sizes: Record<string, [number, number]>;
  fields: FieldHint[];
  samples: SampleFile[];
  /** Accepted pictures, by `<sample>@<size>`. */
  goldens: string[];
  /** Whether the folder is in git, so that it can be compared with the last commit. */
  inGit: boolean;
  faults: Fault[];
}

export interface StudioState {
  /** Folder names; empty where there is no template yet. */
  templates: string[];
  folder: string;
  template: TemplateState | null;
}

export interface PictureRequest {
  template: string;
  /** The part of the page that shows it: of two requests of one pane only the newer is drawn. */
  pane: string;
  /** Lower goes first: what is seen before what is out of sight. */
  priority: number;
  /** A sample's content, perhaps edited: a body of POST /v1/images without what only the API needs. */
  body: unknown;
  width: number;
  height: number;
  format: "png" | "webp" | "jpeg";
  /** An own photo that was dropped on the page, by its number. */
  photo?: string;
  inspect: "no" | "looks" | "contrast";
  /** The template of the last commit instead of the files as they are. */
  from?: "head";
}

export type PictureAnswer =
  | {
      kind: "drawn";
      url: string;
      width: number;
      height: number;
      bytes: number;
      ms: number;
      page: "same" | "restyled" | "opened" | "cached";
      inspection: Inspection | null;
    }
  /** A newer request of the same pane came. */
  | { kind: "superseded" }
  /** The data or the photo make no card; `message` says why and what to do. */
  | { kind: "refused"; message: string }
  /** The template's files make no card: the page keeps what it shows. */
  | { kind: "broken"; message: string };

export interface CompareAnswer {
  before: string | null;
  after: string;
  difference: string | null;
  /** Part of the pixels that changed, 0..1; null where there is nothing to compare with. */
  changed: number | null;
  width: number;
  height: number;
}

/** One line of the list of accepted pictures. */
export interface GoldenState {
  name: string;
  state: "new" | "same" | "changed" | "broken";
  changed: number | null;
}

export interface WallCase {
  id: string;
  label: string;
  group: string;
  sample: string;
  body: unknown;
}
