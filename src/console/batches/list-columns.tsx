/** @jsxImportSource preact */

import type { Mapping, Target } from "../../app/batches/squad-cards.ts";
import { areNamesIds } from "../../app/batches/squad-cards.ts";
import { columnName, type SquadList } from "../../app/batches/squad-list.ts";
import { kitFields } from "../../app/people/brand-kits.ts";
import { POSITIONS } from "../../core/card.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_LIST_CELL_CHARS } from "../../core/list-limits.ts";
import { formatsOf, type PictureFormatName } from "../../core/picture-formats.ts";
import { PRINT_SIZE_NAMES, PRINT_SIZES, printSizeLabel } from "../../core/print-sizes.ts";
import { type BrandKit, findKit } from "../../store/people/brand-kits.ts";
import { compositionsOf, type TemplateManifest, titleOf } from "../../templates/manifest.ts";
import { compositionText, positionText } from "../card-words.ts";
import { ColourInput } from "../cards/colour-input.tsx";
import { chosenKit, KitChoice } from "../cards/kit-choice.tsx";
import { Options, ThemeInput } from "../choices.tsx";
import { Card, counted, Field, Notice, PageHead, PostForm } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { redirect } from "../respond.ts";
import { type Look, looksOf, TemplateChoice } from "../template-choice.tsx";
import { field, type MemberVisit, member } from "../visit.ts";
import { draftCards, targetsOf } from "./draft-cards.ts";
import { mappingWithSet, SetChoice, sentSet } from "./list-set.tsx";
import type { Draft } from "./list-store.ts";

/** How many sample values identify a column, and how long each may be. */
const SHOWN_CELLS = 2;
const SHOWN_CHARS = 24;

function columnLabel(list: SquadList, at: number): string {
  const cells = list.rows.map(({ cells }) => cells[at] ?? "").filter((cell) => cell !== "");
  const shown = cells.slice(0, SHOWN_CELLS).map((cell) => {
    const chars = [...cell];
    return chars.length > SHOWN_CHARS ? `${chars.slice(0, SHOWN_CHARS).join("")}…` : cell;
  });
  return shown.length === 0
    ? columnName(list.columns, at)
    : `${columnName(list.columns, at)}: ${shown.join(", ")}`;
}

interface TargetProps {
  target: Target;
  draft: Draft;
  /** What the template takes. */
  compositions: readonly string[];
}

/** What holds for all rows, or for those whose cell is empty: a choice where there are few answers. */
function ForAll({ target: { key, label, forAll, isColour }, draft, compositions }: TargetProps) {
  if (!forAll) return null;
  const value = draft.mapping.all[key] ?? "";
  const named = { name: `all_${key}`, "aria-label": `${label}, for all or where the column is empty` };
  const input = { ...named, id: `all_${key}`, value, maxLength: MAX_LIST_CELL_CHARS };
  const parallels = new Map(draft.set?.parallels.map(({ name, size }) => [name, size]));
  const sized = (name: string) => (parallels.get(name) ? `${name} of ${parallels.get(name)}` : name);
  if (key === "set_parallel")
    return (
      <select {...named}>
        <Options names={[...parallels.keys()]} chosen={value} text={sized} />
      </select>
    );
  if (key === "position" || key === "composition" || key === "back" || key === "foil")
    return (
      <select {...named}>
        <option value="">{key === "position" ? "Choose a position" : "As usual"}</option>
        {key === "position" && <Options names={POSITIONS} chosen={value} text={positionText} />}
        {key === "composition" && <Options names={compositions} chosen={value} text={compositionText} />}
        {(key === "back" || key === "foil") && <Options names={["yes", "no"]} chosen={value} />}
      </select>
    );
  if (key === "background_theme") return <ThemeInput {...input} />;
  return isColour ? <ColourInput label={label} {...input} /> : <input type="text" {...input} />;
}

/** The players' ids: without a column of them, their names. */
const ID = "external_id";

function TargetRow({ target, draft, compositions }: TargetProps) {
  const { key, label, required, forAll } = target;
  const { list, mapping } = draft;
  return (
    <tr>
      <th scope="row">
        <label for={`col_${key}`}>{label}</label>
        {required && key !== ID && <span class="sub">Needed</span>}
      </th>
      <td data-label="Column">
        <select id={`col_${key}`} name={`col_${key}`}>
          <option value="">
            {key === ID ? "The players' names" : required && !forAll ? "Choose a column" : "No column"}
          </option>
          {list.columns.map((_, at) => (
            <option key={at} value={at} selected={mapping.columns[key] === at}>
              {columnLabel(list, at)}
            </option>
          ))}
        </select>
      </td>
      <td data-label="For all, or where empty" class={forAll ? undefined : "minor"}>
        <ForAll target={target} draft={draft} compositions={compositions} />
      </td>
    </tr>
  );
}

interface ColumnsProps {
  targets: Target[];
  draft: Draft;
  manifest: TemplateManifest;
}

function ColumnsTable({ targets, draft, manifest }: ColumnsProps) {
  const compositions = ["auto", ...compositionsOf(manifest)];
  return (
    <table class="table table-columns">
      <caption class="visually-hidden">Columns</caption>
      <thead>
        <tr>
          <th scope="col">{titleOf(manifest)}</th>
          <th scope="col">Column of your list</th>
          <th scope="col">For all, or where it is empty</th>
        </tr>
      </thead>
      <tbody>
        {targets.map((target) => (
          <TargetRow key={target.key} target={target} draft={draft} compositions={compositions} />
        ))}
      </tbody>
    </table>
  );
}

/** More are an export of everything, of which no card needs the rest. */
const SHOWN_UNKNOWN = 40;

/** The form's field that says what a column means; its index follows. */
const MEANING = "meaning_";

/** The columns that nothing is taken from, each with the choice of what it means. */
function UnknownColumns({ targets, draft: { list, mapping } }: Pick<ColumnsProps, "targets" | "draft">) {
  const used = new Set(Object.values(mapping.columns));
  const unknown = [...list.columns.keys()].filter((at) => !used.has(at)).slice(0, SHOWN_UNKNOWN);
  if (unknown.length === 0) return null;
  const isOpen = ({ key }: Target) => mapping.columns[key] === undefined;
  return (
    <Card
      title={unknown.length === 1 ? "One column is not used" : `${unknown.length} columns are not used`}
      note="Say what a column means, if a card is to have it."
    >
      <div class="meanings">
        {unknown.map((at) => (
          <Field key={at} label={columnLabel(list, at)} id={`${MEANING}${at}`}>
            <select id={`${MEANING}${at}`} name={`${MEANING}${at}`}>
              <option value="">Not used</option>
              {targets.filter(isOpen).map(({ key, label }) => (
                <option key={key} value={key}>
                  {label}
                </option>
              ))}
            </select>
          </Field>
        ))}
      </div>
    </Card>
  );
}

/** What is needed and not known is open; what was recognised, and what a card may have besides, is folded. */
function Columns({ targets, ...of }: ColumnsProps) {
  const { columns, all } = of.draft.mapping;
  const isKnown = ({ key }: Target) => columns[key] !== undefined || Boolean(all[key]);
  const [known, others] = [targets.filter(isKnown), targets.filter((target) => !isKnown(target))];
  const open = others.filter(({ required }) => required);
  const more = others.filter(({ required }) => !required);
  const folded: [string, Target[]][] = [
    [`${counted(known.length, "column")} recognised`, known],
    [`${counted(more.length, "more thing")} a card can have`, more],
  ];
  return (
    <>
      {open.length > 0 && (
        <Card flush>
          <ColumnsTable targets={open} {...of} />
        </Card>
      )}
      <UnknownColumns targets={targets} draft={of.draft} />
      {folded.map(
        ([title, some]) =>
          some.length > 0 && (
            <details key={title} class="card fold">
              <summary>
                {title} <span class="note">{some.map(({ label }) => label).join(", ")}</span>
              </summary>
              <ColumnsTable targets={some} {...of} />
            </details>
          ),
      )}
    </>
  );
}

/** The form that is sent when something is chosen, too, so that nothing else of it is lost. */
const FORM = "columns";

function TemplatePart({ looks, draft }: { looks: readonly Look[]; draft: Draft }) {
  if (looks.length < 2) return null;
  return (
    <div class="list-template">
      <TemplateChoice
        looks={looks}
        chosen={draft.style.preset}
        hint="Some ask for more than others."
        form={FORM}
        data-submits
      />
      <noscript>
        <button type="submit" class="button" form={FORM}>
          Change
        </button>
      </noscript>
    </div>
  );
}

interface StyleShown {
  draft: Draft;
  manifest: TemplateManifest;
  formats: readonly PictureFormatName[];
}

function Style({ draft, manifest, formats }: StyleShown) {
  const { width, height, format } = draft.style;
  return (
    <div class="field-pair">
      <Field label="Size" id="size">
        <select id="size" name="size">
          {Object.entries(manifest.sizes).map(([name, [w, h]]) => (
            <option key={name} value={`${w}x${h}`} selected={w === width && h === height}>
              {`${name.replaceAll("_", " ")}, ${w} × ${h}`}
            </option>
          ))}
          <optgroup label="For print, with bleed">
            {PRINT_SIZE_NAMES.map((name) => {
              const { short, long } = PRINT_SIZES[name].px;
              return (
                <option key={name} value={`${short}x${long}`} selected={short === width && long === height}>
                  {`${printSizeLabel(name)}, ${short} × ${long}`}
                </option>
              );
            })}
          </optgroup>
        </select>
      </Field>
      <Field label="Format" id="format">
        <select id="format" name="format">
          {formats.map((name) => (
            <option key={name} selected={name === format}>
              {name}
            </option>
          ))}
        </select>
      </Field>
    </div>
  );
}

/** What a brand kit says holds for all; a column that says otherwise comes first. */
export function withKit({ columns, all }: Mapping, kit: BrandKit | undefined): Mapping {
  if (!kit) return { columns, all };
  const { style, branding } = kitFields(kit);
  return { columns, all: { ...all, ...style, ...branding } };
}

async function columnsPage(visit: MemberVisit): Promise<Response> {
  const kept = await visit.lists.get(visit);
  const { deps, query } = visit;
  const looks = await looksOf(deps.templates);
  const presets = looks.map(({ manifest }) => manifest.name);
  const kit = await chosenKit(visit);
  const kitId = kit?.id ?? kept.kit ?? "";
  const wanted = kit?.preset ?? query.get("preset");
  const [first = kept.style.preset] = presets;
  const isGone = !(await deps.templates.has(kept.style.preset));
  const preset = presets.find((name) => name === wanted) ?? (isGone ? first : kept.style.preset);
  const { manifest } = await deps.templates.current(preset);
  const draft = { ...kept, mapping: withKit(kept.mapping, kit), style: { ...kept.style, preset } };
  const { columns, rows } = draft.list;
  const targets = await targetsOf(visit, preset, draft.set);
  return shell(
    visit,
    "Columns",
    <>
      <PageHead
        title="What is in which column?"
        lead={`${draft.name || "The list"} has ${counted(rows.length, "player")} and ${counted(columns.length, "column")}. What was recognised is folded: open it to change it.`}
      />
      {isGone && (
        <Notice tone="warn" title={`The template ${kept.style.preset} is not there any more.`}>
          {`The columns below are those of ${titleOf(manifest)}. Choose any other template, then check the list.`}
        </Notice>
      )}
      {areNamesIds(draft.mapping) && (
        <Notice tone="info" title="This list has no ids: each player's name is the id.">
          {draft.set
            ? "The cards go to the players of the set's checklist with the same names. "
            : "A card that is made again by the same name takes the place of the one before. "}
          Has a column ids after all? Choose it for Id below.
        </Notice>
      )}
      <div class="list-choices">
        {await KitChoice({ visit, form: FORM, chosen: kitId })}
        {await SetChoice({ visit, form: FORM, ...(draft.set && { chosen: draft.set }) })}
      </div>
      <TemplatePart looks={looks} draft={draft} />
      <PostForm visit={visit} action={`/console/lists/${draft.id}`} class="form" id={FORM}>
        <input type="hidden" name="shown_preset" value={preset} />
        <input type="hidden" name="shown_kit" value={kitId} />
        <input type="hidden" name="shown_set" value={draft.set?.id ?? ""} />
        <Columns targets={targets} draft={draft} manifest={manifest} />
        <Card title="Pictures">
          <Style draft={draft} manifest={manifest} formats={formatsOf(deps.config)} />
        </Card>
        <div class="actions">
          <button type="submit" class="button button-primary">
            Check the list
          </button>
          <a class="button" href={`/console/lists/${draft.id}/file`}>
            Another file
          </a>
        </div>
      </PostForm>
    </>,
  );
}

async function choose(visit: MemberVisit): Promise<Response> {
  const draft = await visit.lists.get(visit);
  const { deps, form } = visit;
  const presets = await deps.templates.listed();
  const known = (name: string) => presets.find((one) => one === field(visit, name));
  const wanted = known("preset") ?? draft.style.preset;
  const preset = known("shown_preset") ?? wanted;
  const set = await sentSet(visit);
  const isOtherSet = field(visit, "shown_set") !== (set?.id ?? "");
  const targets = await targetsOf(visit, preset, isOtherSet ? undefined : set);
  const sent = mappingOf(form, targets, draft.list);
  const [kit, shownKit] = [field(visit, "kit"), field(visit, "shown_kit")];
  const look =
    kit === shownKit ? undefined : await findKit(deps.store.read, { accountId: visit.account.id, id: kit });
  const mapping = withKit(isOtherSet && set ? mappingWithSet(sent, set, draft.list) : sent, look);
  const [width = 0, height = 0] = field(visit, "size").split("x").map(Number);
  const format = field(visit, "format");
  const chosen = { mapping, set, kit, style: { preset, width, height, format } };
  const changed = await visit.lists.change(visit, (kept) => ({ ...kept, ...chosen }));
  // Another kit, template or set was chosen: the form comes again with it, and with all that was in it.
  if (kit !== shownKit || preset !== wanted || isOtherSet) {
    const chosen = new URLSearchParams(kit !== shownKit && kit !== "" ? { kit } : { preset: wanted });
    return redirect(`/console/lists/${draft.id}?${chosen}`, visit.exchange);
  }
  const missing = targets.filter(
    ({ key, required }) => required && mapping.columns[key] === undefined && !mapping.all[key],
  );
  if (missing.length > 0)
    throw new Refusal(
      "INVALID_REQUEST",
      `Every card needs ${missing.map(({ label }) => label).join(", ")}. Choose the column${missing.some(({ forAll }) => forAll) ? ", or write what holds for all" : ""}.`,
    );
  const step = (await draftCards(visit, changed)).withoutPhoto.length > 0 ? "photos" : "check";
  return redirect(`/console/lists/${draft.id}/${step}`, visit.exchange);
}

/** The form's choices; unknown columns are ignored. */
function mappingOf(form: URLSearchParams, targets: readonly Target[], list: SquadList): Mapping {
  const mapping: Mapping = { columns: {}, all: {} };
  for (const { key, forAll } of targets) {
    const meant = list.columns.findIndex((_, at) => form.get(`${MEANING}${at}`) === key);
    const column = meant >= 0 ? String(meant) : (form.get(`col_${key}`) ?? "");
    if (/^\d{1,3}$/.test(column) && Number(column) < list.columns.length)
      mapping.columns[key] = Number(column);
    const text = (form.get(`all_${key}`) ?? "").trim().slice(0, MAX_LIST_CELL_CHARS);
    if (forAll && text !== "") mapping.all[key] = text;
  }
  if (mapping.columns[ID] === undefined && mapping.columns.name !== undefined)
    mapping.columns[ID] = mapping.columns.name;
  return mapping;
}

export const listColumnRoutes = [
  member.get("/console/lists/:id", columnsPage),
  member.post("/console/lists/:id", choose),
];
