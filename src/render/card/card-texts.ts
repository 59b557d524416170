import { type CardInput, POSITION_NAMES } from "../../core/card.ts";
import { serialLabel } from "../../core/card-set.ts";
import type { Field, Fields, ListField } from "../../templates/fields.ts";
import { isDrawable } from "../fonts/fonts.ts";
import { type DisplayText, displayName, displayText } from "./display-name.ts";
import type { CardList, CardText } from "./page/messages.ts";

/**
 * Everything a card says in words and numbers, by the paths that card.html uses. Absent values have no entry.
 */
export interface CardTexts {
  name: DisplayText;
  texts: Record<string, CardText>;
  lists: Record<string, CardList>;
  /** Numbers and colours of the template's own fields, by custom property name without the dashes. */
  variables: Record<string, string>;
  /** Chosen options and switches that are on, by attribute name without `data-`. */
  attributes: Record<string, string>;
  /** What the codes say, by their paths, unchanged. */
  codes: Record<string, string>;
  /** The template's own fields that have a value. */
  given: string[];
}

/** Words that follow a family name without being part of it. */
const SUFFIXES = /^(?:jr|sr|ii|iii|iv|junior|senior)\.?$/i;

/**
 * Splits a name the way shirts do: the family name with its particles ("van Dijk", "de Bruyne") and suffix
 * ("Neymar Jr"), and what comes before it. A single word is a family name.
 */
function nameParts(name: string): { first: string; last: string } {
  const words = name.split(" ");
  let from = words.length - 1;
  if (from > 0 && SUFFIXES.test(words[from] ?? "")) from--;
  const isParticle = (word = "") => /^\p{Ll}/u.test(word);
  while (from > 1 && isParticle(words[from - 1])) from--;
  return { first: words.slice(0, from).join(" "), last: words.slice(from).join(" ") };
}

/**
 * Everything of `card` that a template with these fields can show. Of the pictures among them it has those
 * in `pictures`, as test cards have none.
 */
export function cardTexts(card: CardInput, fields: Fields = {}, pictures: readonly string[] = []): CardTexts {
  const { player, style } = card;
  const name = displayName(player.name, isDrawable);
  const { first, last } = nameParts(name.text);
  const said: CardTexts = {
    name,
    texts: {
      "player.name": textOf(name),
      "player.position": plain(player.position),
      "player.position_name": plain(POSITION_NAMES[player.position]),
      "player.number": plain(player.number),
      "player.skill_level": plain(player.skillLevel),
    },
    lists: {},
    variables: {},
    attributes: {},
    codes: {},
    given: [],
  };
  put(said.texts, "player.first_name", first);
  put(said.texts, "player.last_name", last);
  put(said.texts, "player.external_id", player.externalId);
  put(said.texts, "theme.text", style.backgroundTheme);
  addSet(said.texts, card.set);
  const given = card.fields ?? {};
  for (const [field, declared] of Object.entries(fields))
    if (declared.type === "image" ? pictures.includes(field) : Object.hasOwn(given, field))
      addField(said, field, declared, given[field]);
  return said;
}

function addSet(texts: Record<string, CardText>, set: CardInput["set"]): void {
  if (!set) return;
  put(texts, "set.name", set.name);
  put(texts, "set.season", set.season);
  put(texts, "set.parallel", set.parallel);
  if (set.serial !== undefined) texts.serial = plain(serialLabel(set));
}

function addField(said: CardTexts, field: string, declared: Field, value: unknown): void {
  if (!hasValue(value)) return;
  const path = `fields.${field}`;
  const css = kebab(field);
  said.given.push(field);
  if (declared.type === "image") {
    // For conditions: what it shows is among the pictures.
    said.texts[path] = plain("");
    return;
  }
  if (declared.type === "list") {
    said.lists[path] = (value as Record<string, unknown>[]).map((item) => itemOf(item, declared));
    return;
  }
  if (declared.type === "qr") said.codes[path] = String(value);
  addSimple(said.texts, said.variables, path, `field-${css}`, declared.type, value);
  if (declared.type === "choice" || declared.type === "boolean")
    said.attributes[camel(`field-${css}`)] = declared.type === "choice" ? String(value) : "yes";
}

function itemOf(item: Record<string, unknown>, { of }: ListField): CardList[number] {
  const entry: CardList[number] = { texts: {}, variables: {} };
  for (const [column, declared] of Object.entries(of)) {
    const value = Object.hasOwn(item, column) ? item[column] : undefined;
    if (hasValue(value)) addSimple(entry.texts, entry.variables, column, kebab(column), declared.type, value);
  }
  return entry;
}

function addSimple(
  texts: Record<string, CardText>,
  variables: Record<string, string>,
  path: string,
  variable: string,
  type: string,
  value: unknown,
): void {
  if (type === "text" || type === "choice" || type === "qr") put(texts, path, String(value));
  else texts[path] = plain(type === "boolean" ? "" : String(value));
  if (type === "integer" || type === "number" || type === "color") variables[variable] = String(value);
}

/** A switch that is off, an empty text and an empty list count as absent. */
function hasValue(value: unknown): boolean {
  return !(
    value === undefined ||
    value === "" ||
    value === false ||
    (Array.isArray(value) && value.length === 0)
  );
}

const kebab = (name: string) => name.replaceAll("_", "-");
const camel = (name: string) => name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Text written by us, whatever the card's language. */
const plain = (value: string | number): CardText => ({ text: String(value), lang: "", direction: "ltr" });

const textOf = ({ text, lang, direction }: DisplayText): CardText => ({ text, lang, direction });

/** Adds a partner's text, cleaned; leaves it out when no character of it can be drawn. */
function put(texts: Record<string, CardText>, path: string, raw: string | undefined): void {
  const shown = raw === undefined ? undefined : displayText(raw, isDrawable);
  if (shown && shown.text !== "") texts[path] = textOf(shown);
}
