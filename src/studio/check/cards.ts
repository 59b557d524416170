import type { Composition } from "../../core/card.ts";
import type { Inspection, TextLook } from "../../render/preview/messages.ts";
import { type Fault, faultAt } from "../../templates/fault.ts";
import { type SampleBody, wallCases } from "../cases.ts";

/** One card that is drawn for a check. */
export interface CheckCase {
  id: string;
  /** A description for people: `gold, print` or `names: 100 letters, print`. */
  label: string;
  sample: string;
  body: SampleBody;
  size: string;
  /** One of the template's own samples, which should look the way its designer wants. */
  isSample: boolean;
}

/** How many random brand pairs are drawn in sizes other than the first, whose layout is mostly the same. */
const FEWER_PAIRS = 24;

/**
 * Every sample in every size, also in each composition where there are several, then the first sample with everything a
 * partner may send.
 */
export function checkCases(
  samples: ReadonlyMap<string, SampleBody>,
  sizes: readonly string[],
  compositions: readonly Composition[],
): CheckCase[] {
  const [first = ""] = samples.keys();
  const several = compositions.length > 1 ? compositions : [];
  return sizes.flatMap((size, nth) => [
    ...[...samples].map(([sample, body]) => ({
      id: `${sample}@${size}`,
      label: `${sample}, ${size}`,
      sample,
      body,
      size,
      isSample: true,
    })),
    ...[...samples].flatMap(([sample, body]) =>
      several.map((composition) => ({
        id: `${sample}-${composition}@${size}`,
        label: `${sample}, ${composition}, ${size}`,
        sample,
        body: { ...body, style: { ...body.style, composition } },
        size,
        isSample: false,
      })),
    ),
    ...(["names", "scripts", "badges", "colours", "random"] as const).flatMap((wall) =>
      wallCases(wall, samples, first)
        .slice(0, wall === "random" && nth > 0 ? FEWER_PAIRS : Number.POSITIVE_INFINITY)
        .map(({ id, label, sample, body }) => ({
          id: `${id}@${size}`,
          label: `${wall}: ${label}, ${size}`,
          sample,
          body: body as SampleBody,
          size,
          isSample: false,
        })),
    ),
  ]);
}

/** What is wrong with one card. Faults of several cards with the same `subject` are one fault. */
interface CardFault {
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

function textFaults(text: TextLook): CardFault[] {
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
      text: `stands out of its box by ${Math.round(text.overflowPx)} px. Give it data-fit, or overflow: hidden with text-overflow: ellipsis.`,
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

/** Merges the faults of many cards: one for each text and kind, reported for its worst card. */
export function gather(all: { one: CheckCase; faults: CardFault[] }[], html: string): CheckedFault[] {
  const groups = new Map<string, { fault: CardFault; label: string; id: string }[]>();
  for (const { one, faults } of all)
    for (const fault of faults) {
      const key = `${fault.severity} ${fault.code} ${fault.subject}`;
      groups.set(key, [...(groups.get(key) ?? []), { fault, label: one.label, id: one.id }]);
    }
  return [...groups.values()].map((group) => {
    const sorted = group.sort((a, b) => b.fault.weight - a.fault.weight);
    const worst = sorted[0] as (typeof sorted)[number];
    const { severity, code, subject, text } = worst.fault;
    const more = sorted.length > 1 ? ` and ${sorted.length - 1} more` : "";
    const message = `${subject} ${text} Seen in ${worst.label}${more}.`;
    return {
      ...faultAt("card.html", html, placeIn(html, subject), code, message, severity),
      cases: sorted.map(({ id }) => id),
    };
  });
}

function placeIn(html: string, subject: string): number {
  const name = subject.startsWith(".") ? `"${subject.slice(1)}` : `"${subject}"`;
  return Math.max(0, html.indexOf(name));
}
