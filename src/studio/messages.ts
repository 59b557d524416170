import type { Inspection } from "../render/preview/messages.ts";

// The messages between the studio's page and its server. The page imports only these types.

/** A fault in a template's files, and where it is. */
export interface Fault {
  file: string;
  /** Line and column count from 1; null when the whole file is meant. */
  line: number | null;
  column: number | null;
  message: string;
  /** The surrounding lines, the faulty one marked. */
  frame: { line: number; text: string; isFault: boolean }[];
}

export interface SampleFile {
  name: string;
  /** As in the file. */
  text: string;
  /** What is wrong with it; null when it makes a card. */
  problem: string | null;
}

/** A field of the template's own, as the form needs it. */
export interface FieldHint {
  path: string;
  label: string;
  type: "text" | "integer" | "number" | "boolean" | "choice" | "color" | "qr" | "image" | "list";
  isRequired: boolean;
  min?: number;
  /** The longest text, the largest number or the most entries. */
  max?: number;
  /** Of a choice. */
  options?: readonly string[];
  /** What holds when none of them is chosen. */
  otherwise?: string;
  /** The columns of a list, and what a new entry begins with. */
  of?: FieldHint[];
  entry?: Record<string, unknown>;
}

export interface TemplateState {
  name: string;
  title: string;
  version: string;
  description: string;
  folder: string;
  /** Changes with every save. */
  revision: number;
  digest: string | null;
  sizes: Record<string, [number, number]>;
  fields: FieldHint[];
  /** What a sample's style.composition may be besides auto. */
  compositions: readonly string[];
  samples: SampleFile[];
  /** Accepted pictures, as `<sample>@<size>`, and `.back` behind it for the other side. */
  goldens: string[];
  /** Whether the card has another side. */
  hasBack: boolean;
  /** Whether the folder is in git and can be compared with the last commit. */
  inGit: boolean;
  faults: Fault[];
}

export interface StudioState {
  /** Folder names; empty when there is no template yet. */
  templates: string[];
  folder: string;
  template: TemplateState | null;
  /** The sizes of printed cards with their bleed, in pixels and portrait. */
  printSizes: { label: string; short: number; long: number }[];
}

export interface PictureRequest {
  template: string;
  /** The page and the part of it that shows it: of two requests for the same pane only the newer is drawn. */
  pane: string;
  /**
   * Increases with every request of a page, since a newer one may be ready to be drawn before an older one.
   */
  turn: number;
  /** Lower goes first: visible pictures before those out of sight. */
  priority: number;
  /** A sample's content, possibly edited: a body of POST /v1/images without the fields only the API needs. */
  body: unknown;
  width: number;
  height: number;
  format: "png" | "webp" | "jpeg";
  /** The id of a photo dropped on the page. */
  photo?: string;
  /** Draws the other side of the card; without it the front. */
  side?: "back";
  inspect: "no" | "looks" | "contrast";
  /** `screen`: the pixels of a PNG without its compression, which this machine's browser shows sooner. */
  encoding?: "file" | "screen";
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
      /** How far from every edge the printer cuts and text should end; null for a picture of no print. */
      print: { label: string; cutPx: number; safePx: number } | null;
      inspection: Inspection | null;
      /** What of it the printer takes off, or nearly, as sentences; empty where nobody looked. */
      cut: string[];
    }
  /** Replaced by a newer request for the same pane. */
  | { kind: "superseded" }
  /** The data or the photo cannot make a card; `message` says why and what to do. */
  | { kind: "refused"; message: string }
  /** The template's files cannot make a card; the page keeps what it shows. */
  | { kind: "broken"; message: string };

export interface CompareAnswer {
  before: string | null;
  after: string;
  difference: string | null;
  /** Fraction of the pixels that changed, 0..1; null when there is nothing to compare with. */
  changed: number | null;
  width: number;
  height: number;
}

/** One row in the list of accepted pictures. */
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
