import { kitFields } from "../../app/people/brand-kits.ts";
import { storedRequestValidator } from "../../core/image-request.ts";
import { PRINT_SIZE_NAMES, PRINT_SIZES, printSizeLabel } from "../../core/print-sizes.ts";
import { type BrandKit, findKit, listKits } from "../../store/people/brand-kits.ts";
import type { LoadedTemplate } from "../../templates/load.ts";
import { field, type MemberVisit } from "../visit.ts";
import { ownImage } from "./image.tsx";
import { exampleFields, fieldsOf, type PlaygroundFields, readFields, requestOf } from "./playground-form.ts";
import { declaredBy, formFacts, type PlaygroundState, withinReach } from "./playground-inputs.tsx";
import { inputsOf, type OwnInputs, ownFields } from "./playground-own.tsx";

// What the form holds with which somebody who is no developer makes one card.

export interface MakeState extends Omit<PlaygroundState, "environment" | "sets"> {
  /** What may be chosen as the look. */
  look: LoadedTemplate;
  kits: BrandKit[];
  /** The kit whose look is filled in; empty for none. */
  kit: string;
}

/** What each card needs of its player, with what a preview shows until it is written. */
export const NEEDED = {
  source_image_url: { label: "photo", standIn: "" },
  name: { label: "name", standIn: "Player Name" },
  number: { label: "shirt number", standIn: "10" },
  skill_level: { label: "rating", standIn: "80" },
  position: { label: "position", standIn: "ST" },
} as const;

type Needed = keyof typeof NEEDED;

/** What is still missing for the card. */
export const missingOf = ({ fields }: Pick<MakeState, "fields">): Needed[] =>
  (Object.keys(NEEDED) as Needed[]).filter((name) => fields[name] === "");

/** Identifies the set of inputs that a look has. The form sends the one it shows. */
export const lookOf = ({ look, fields }: MakeState) => `${look.manifest.name} ${fields.back}`.trim();

const NOBODY = { external_id: "", name: "", position: "", number: "", skill_level: "", source_image_url: "" };
const NO_BRAND = { background_theme: "", club_badge_url: "", primary_color: "", secondary_color: "" };

/** Fields of templates that are the same for the whole team, and stay for its next card. */
export const OF_THE_TEAM = ["club", "team", "league", "season"];

/**
 * The form as it is opened: empty but for the look, or with `from` filled in like an earlier card, or with
 * `like` in the look of one.
 */
export async function openedForm(visit: MemberVisit): Promise<MakeState> {
  const { query, deps, account } = visit;
  const id = query.get("from") ?? query.get("like");
  const earlier = id === null ? null : await ownImage({ ...visit, params: { id } });
  const facts = await formFacts(visit);
  const again = storedRequestValidator.check(earlier?.request);
  const kits = await listKits(deps.store.read, account.id);
  if (!again.ok) {
    const blank = { ...exampleFields(facts), ...NOBODY, ...NO_BRAND };
    const chosen = query.get("kit");
    // With one kit there is nothing to choose.
    const kit =
      chosen === null ? (kits.length === 1 ? kits[0] : undefined) : kits.find(({ id }) => id === chosen);
    return stateOf(visit, { fields: withKit(blank, kit, facts.presets), own: {}, kit: kit?.id ?? "" });
  }
  const same = fieldsOf(again.value, facts);
  const own = inputsOf(again.value.fields);
  if (query.has("from")) return stateOf(visit, { fields: same, own, kit: "" });
  const ofTeam = OF_THE_TEAM.flatMap((name) =>
    own[`fields.${name}`] ? [[`fields.${name}`, own[`fields.${name}`]]] : [],
  );
  return stateOf(visit, {
    fields: { ...same, ...NOBODY },
    own: Object.fromEntries(ofTeam),
    kit: "",
  });
}

/** The form as it was sent. Where another kit was chosen, with its look. */
export async function sentForm(visit: MemberVisit): Promise<MakeState> {
  const { deps, account, form } = visit;
  const facts = await formFacts(visit);
  const sent = readFields(form, facts);
  const photo = sent.source_image_url || field(visit, "address");
  const [width = "", height = ""] = field(visit, "size").split("x");
  const fields = { ...sent, source_image_url: photo, width, height };
  const id = field(visit, "kit");
  const kit = id === "" ? undefined : await findKit(deps.store.read, { accountId: account.id, id });
  const isOther = id !== field(visit, "shown_kit");
  const own = Object.fromEntries([...form].filter(([name]) => name.startsWith("fields.")));
  return stateOf(visit, {
    fields: isOther ? withKit(fields, kit, facts.presets) : fields,
    own,
    kit: kit?.id ?? "",
  });
}

/** The fields with the look of a brand kit; the colours of another club are worse than none. */
export function withKit(fields: PlaygroundFields, kit: BrandKit | undefined, presets: readonly string[]) {
  if (!kit) return fields;
  const { style, branding } = kitFields(kit);
  const preset = presets.includes(kit.preset) ? kit.preset : fields.preset;
  return { ...fields, ...NO_BRAND, composition: "auto", ...style, ...branding, preset };
}

/** The form's state with these values, as far as templates and kits of today take them. */
export async function stateOf(
  visit: MemberVisit,
  { fields, own, kit }: { fields: PlaygroundFields; own: OwnInputs; kit: string },
): Promise<MakeState> {
  const { deps, account } = visit;
  const facts = await formFacts(visit);
  const { looks } = facts;
  const look = looks.find(({ manifest }) => manifest.name === fields.preset) ?? looks[0];
  if (!look) throw new Error("a service without templates");
  const declared = await declaredBy(visit, fields, facts);
  const size = sizesOf(look).find(([, px]) => px === `${fields.width}x${fields.height}`) ?? sizesOf(look)[0];
  const [width = "", height = ""] = size?.[1].split("x") ?? [];
  // What was written for another template does not belong to this one.
  const kept = Object.entries(own).filter(
    ([name]) => (/^fields\.(\w+)/.exec(name)?.[1] ?? "") in declared.template,
  );
  const club = "club" in declared.template ? { "fields.club": account.name } : {};
  const composition = declared.compositions.some((one) => one === fields.composition)
    ? fields.composition
    : "auto";
  return {
    fields: withinReach({ ...fields, width, height, composition }, declared),
    own: { ...club, ...Object.fromEntries(kept) },
    ...declared,
    ...facts,
    problems: {},
    look,
    kits: await listKits(deps.store.read, account.id),
    kit,
  };
}

/** The sizes of a card in words, each as in 1024x1280. */
export function sizesOf({ manifest }: LoadedTemplate): [label: string, px: string][] {
  const own = Object.entries(manifest.sizes).map(([name, [width, height]]): [string, string] => [
    `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}, ${width} × ${height} pixels`,
    `${width}x${height}`,
  ]);
  const known = new Set(own.map(([, px]) => px));
  const print = PRINT_SIZE_NAMES.map((name): [string, string] => {
    const { short, long } = PRINT_SIZES[name].px;
    return [`For print, ${printSizeLabel(name)}`, `${short}x${long}`];
  });
  return [...own, ...print.filter(([, px]) => !known.has(px))];
}

/**
 * The request body that the form stands for, unchecked. A player without an id of the club's own is known by
 * name, as in squad lists.
 */
export function requestFrom({ fields, own, template }: MakeState): unknown {
  const external_id = fields.external_id || fields.name;
  return requestOf({ ...fields, external_id }, ownFields(template, own).fields);
}
