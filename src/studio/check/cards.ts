import type { Composition } from "../../core/card.ts";
import { PRINT_SIZES, SAFE_MM, SAFE_PX } from "../../core/print-sizes.ts";
import type { Inspection, TextInspection } from "../../render/preview/messages.ts";
import { type Fault, faultAt } from "../../templates/fault.ts";
import type { TemplateManifest } from "../../templates/manifest.ts";
import { type SampleBody, wallCases } from "../cases.ts";

/** One card that is drawn for a check. */
export interface CheckCase {
  id: string;
  /** A description for people: `gold, print` or `names: 100 letters, print`. */
  label: string;
  sample: string;
  body: SampleBody;
  size: string;
  /** Its other side; absent for the front. */
  side?: "back";
  /** Drawn as it is printed, and not smaller: only then is it known what the printer cuts off. */
  isPrint: boolean;
  /** One of the template's own samples, which should look the way its designer wants. */
  isSample: boolean;
}

/** How many random brand pairs are drawn in sizes other than the first, whose layout is mostly the same. */
const FEWER_PAIRS = 24;

/** A card of 63 x 88 mm with its bleed, as the renderer knows it. */
const PRINT_SIDES = [PRINT_SIZES["63x88"].px.short, PRINT_SIZES["63x88"].px.long] as const;

/** What is drawn beside samples: in a print only what may stand beyond its cut, since colours never do. */
const WALLS = ["fields", "names", "scripts", "badges", "colours", "random"] as const;
const PRINTED = new Set<string>(["fields", "names", "scripts", "badges"]);

/** A template as its cases need it. */
export type Checked = Pick<TemplateManifest, "sizes" | "shapes" | "bleeds" | "fields">;

/**
 * The sizes that a template is drawn in, by name: its own, and for one that bleeds the print, which is the
 * only size that anything is cut off.
 */
export function checkedSizes({ sizes, shapes, bleeds }: Checked): Map<string, readonly [number, number]> {
  const all = new Map<string, readonly [number, number]>(Object.entries(sizes));
  if (!bleeds || [...all.values()].some(isPrint)) return all;
  const [short, long] = PRINT_SIDES;
  const [narrowest, widest] = shapes;
  const sides: [number, number] =
    short / long >= narrowest || long / short > widest ? [short, long] : [long, short];
  return all.set(sides.join("x"), sides);
}

const isPrint = ([width, height]: readonly [number, number]) =>
  Math.min(width, height) === PRINT_SIDES[0] && Math.max(width, height) === PRINT_SIDES[1];

/**
 * Every sample in every size, also in each composition where there are several, then the first sample with
 * everything a partner may send.
 */
export function checkCases(
  samples: ReadonlyMap<string, SampleBody>,
  manifest: Checked,
  compositions: readonly Composition[] = [],
  hasSet = false,
): CheckCase[] {
  const [first = ""] = samples.keys();
  const several = compositions.length > 1 ? compositions : [];
  const own = new Set(Object.keys(manifest.sizes));
  return [...checkedSizes(manifest)].flatMap(([size, sides], nth) => {
    const isCut = (manifest.bleeds ?? false) && isPrint(sides);
    return [
      ...[...samples].map(([sample, body]) => ({
        id: `${sample}@${size}`,
        label: `${sample}, ${size}`,
        sample,
        body,
        size,
        isPrint: isCut,
        isSample: own.has(size),
      })),
      ...[...samples].flatMap(([sample, body]) =>
        several.map((composition) => ({
          id: `${sample}-${composition}@${size}`,
          label: `${sample}, ${composition}, ${size}`,
          sample,
          body: { ...body, style: { ...body.style, composition } },
          size,
          isPrint: isCut,
          isSample: false,
        })),
      ),
      ...WALLS.filter((wall) => own.has(size) || PRINTED.has(wall)).flatMap((wall) =>
        wallCases(wall, samples, first, manifest.fields ?? {}, hasSet)
          .slice(0, wall === "random" && nth > 0 ? FEWER_PAIRS : Number.POSITIVE_INFINITY)
          .map(({ id, label, sample, body }) => ({
            id: `${id}@${size}`,
            label: `${wall}: ${label}, ${size}`,
            sample,
            body: body as SampleBody,
            size,
            isPrint: isCut && PRINTED.has(wall),
            isSample: false,
          })),
      ),
    ];
  });
}

/** Those with these ids; all where none has, as after a sample was renamed, and where no ids are given. */
export function chosenCases(cases: CheckCase[], ids: ReadonlySet<string> | null): CheckCase[] {
  const chosen = cases.filter(({ id }) => ids?.has(id));
  return chosen.length > 0 ? chosen : cases;
}

/** The same card's other side. */
export const backCase = (one: CheckCase): CheckCase => ({
  ...one,
  id: `${one.id}.back`,
  label: `${one.label}, back`,
  side: "back",
});

/** What is wrong with one card. Faults of several cards with the same `subject` are one fault. */
export interface CardFault {
  severity: Fault["severity"];
  code: string;
  subject: string;
  text: string;
  /** Severity: the larger, the worse. */
  weight: number;
}

/** Everything wrong that a card's inspection shows. */
export function cardFaults(inspection: Inspection, { isSample }: CheckCase): CardFault[] {
  const faults = inspection.texts.flatMap((text) => textFaults(text));
  const add = (code: string, subject: string, text: string, severity: Fault["severity"], weight = 1) =>
    faults.push({ severity, code, subject, text, weight });
  for (const picture of inspection.brokenPictures)
    add("picture", picture, `the picture ${picture} cannot be shown. Is the file there, and whole?`, "error");
  const safe = inspection.zones.find(({ name }) => name === "safe")?.box;
  for (const { label, ink, fontPx } of safe ? inspection.texts : []) {
    const out = safe ? outside(ink, safe) - fontPx * 0.3 : 0;
    if (out > 1)
      add(
        "safe",
        label,
        `leaves the safe area by ${Math.round(out)} px, where it may be cut off.`,
        "error",
        out,
      );
  }
  faults.push(...cutFaults(inspection));
  const { face } = inspection;
  if (!face || !isSample) return faults;
  for (const { label, ink } of inspection.texts) {
    const covered = overlap(ink, face) / (face.width * face.height);
    if (covered > 0.12)
      add(
        "face",
        label,
        `covers ${Math.round(covered * 100)} % of the face. Move the text, or the face zone.`,
        "error",
        covered,
      );
  }
  const zone = inspection.zones.find(({ name }) => name === "face")?.box;
  if (zone && !holds(zone, face))
    add(
      "face",
      "face zone",
      "the real face lies outside the face zone: this photo cannot be placed so. Give the zone more room, or another photo to the sample.",
      "warning",
    );
  return faults;
}

/** Texts and marks of which the printer takes a part off. */
export function cutFaults({
  trim,
  texts,
  marks,
  zones,
}: Pick<Inspection, "trim" | "texts" | "marks" | "zones">): CardFault[] {
  if (!trim) return [];
  const hasOwnSafe = zones.some(({ name }) => name === "safe");
  const safe = {
    x: trim.x + SAFE_PX,
    y: trim.y + SAFE_PX,
    width: trim.width - 2 * SAFE_PX,
    height: trim.height - 2 * SAFE_PX,
  };
  const faults: CardFault[] = [];
  const add = (subject: string, px: number) =>
    faults.push({
      severity: "error",
      code: "cut",
      subject,
      text: `stands ${Math.ceil(px)} px beyond the cut, where the printer takes it off. Keep it --bleed away from every edge, or give it aria-hidden="true" where it may be cut.`,
      weight: px,
    });
  const tooNear = (subject: string, px: number) =>
    faults.push({
      severity: "error",
      code: "safe",
      subject,
      text: `comes ${Math.ceil(px)} px too near to the cut: printers ask for ${SAFE_MM} mm, as their knives wander. Move it inwards, or say by a zone "safe" how near is near enough.`,
      weight: px,
    });
  for (const { label, ink, fontPx } of texts) {
    // A line's box is higher than its letters.
    const [slackX, slackY] = [1, fontPx * 0.3];
    const letters = {
      x: ink.x + slackX,
      y: ink.y + slackY,
      width: ink.width - 2 * slackX,
      height: ink.height - 2 * slackY,
    };
    const px = outside(letters, trim);
    if (px > 0) add(label, px);
    else if (!hasOwnSafe && outside(letters, safe) > 0) tooNear(label, outside(letters, safe));
  }
  for (const { label, box } of marks) {
    const px = beyondCut(label, box, trim);
    if (px > 1) add(label, px);
  }
  return faults;
}

/**
 * How far a mark stands beyond the cut. What goes on to the picture's edge is ground that bleeds, unless it
 * is a badge or nothing of it stays.
 */
function beyondCut(label: string, box: Box, trim: Box): number {
  // A trim lies in its picture's middle.
  const bleed = trim.x;
  const sides = [
    trim.x - box.x,
    trim.y - box.y,
    box.x + box.width - trim.x - trim.width,
    box.y + box.height - trim.y - trim.height,
  ];
  const mayNotBleed = label === "badge" || overlap(box, trim) === 0;
  return Math.max(...sides.map((px) => (px < bleed - 1 || mayNotBleed ? px : 0)));
}

function textFaults(text: TextInspection): CardFault[] {
  const faults: CardFault[] = [];
  const subject = text.label;
  if (text.missing.length > 0)
    faults.push({
      severity: "error",
      code: "glyph",
      subject,
      text: `has no glyph for ${text.missing.slice(0, 6).join(" ")}. Add var(--fallback-fonts) to its font-family.`,
      weight: text.missing.length,
    });
  if (text.overflowPx > 2)
    faults.push({
      severity: "error",
      code: "overflow",
      subject,
      text: `overflows its box by ${Math.round(text.overflowPx)} px. Give it data-fit, or overflow: hidden with text-overflow: ellipsis.`,
      weight: text.overflowPx,
    });
  if (text.contrast !== null && text.contrast < text.neededContrast)
    faults.push({
      severity: "error",
      code: "contrast",
      subject,
      text: `has a contrast of ${text.contrast.toFixed(2)} with what lies under it; WCAG AA asks for ${text.neededContrast}.`,
      weight: text.neededContrast - text.contrast,
    });
  return faults;
}

type Box = Inspection["card"];

function outside(inner: Box, outer: Box): number {
  return Math.max(
    outer.x - inner.x,
    outer.y - inner.y,
    inner.x + inner.width - outer.x - outer.width,
    inner.y + inner.height - outer.y - outer.height,
  );
}

function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return Math.max(0, width) * Math.max(0, height);
}

/** Whether the middle of a face is in its zone, or within a third of the zone's size of it. */
function holds(zone: Box, face: Box): boolean {
  const [x, y] = [face.x + face.width / 2, face.y + face.height / 2];
  const [dx, dy] = [zone.width / 3, zone.height / 3];
  return x > zone.x - dx && x < zone.x + zone.width + dx && y > zone.y - dy && y < zone.y + zone.height + dy;
}

/** A fault of cards, reported once for all cards that have it. */
export interface CheckedFault extends Fault {
  /** The cards that have it, the worst first; empty for a fault of the files themselves. */
  cases: string[];
}

/** Faults of one key are one fault, seen on several cards. */
export const faultKey = ({ severity, code, subject }: CardFault): string => `${severity} ${code} ${subject}`;

/** Merges the faults of many cards: one for each text and kind, reported for its worst card. */
export function gather(
  all: { one: CheckCase; faults: CardFault[] }[],
  html: string,
  file = "card.html",
): CheckedFault[] {
  const groups = new Map<string, { fault: CardFault; label: string; id: string }[]>();
  for (const { one, faults } of all)
    for (const fault of faults) {
      const key = faultKey(fault);
      groups.set(key, [...(groups.get(key) ?? []), { fault, label: one.label, id: one.id }]);
    }
  return [...groups.values()].map((group) => {
    const sorted = group.sort((a, b) => b.fault.weight - a.fault.weight);
    const worst = sorted[0] as (typeof sorted)[number];
    const { severity, code, subject, text } = worst.fault;
    const more = sorted.length > 1 ? ` and ${sorted.length - 1} more` : "";
    const message = `${subject} ${text} Seen in ${worst.label}${more}.`;
    return {
      ...faultAt(file, html, placeIn(html, subject), code, message, severity),
      cases: sorted.map(({ id }) => id),
    };
  });
}

function placeIn(html: string, subject: string): number {
  const name = subject.startsWith(".") ? `"${subject.slice(1)}` : `"${subject}"`;
  return Math.max(0, html.indexOf(name));
}
