// Puts a card's data where card.html asks for it. What a partner sent only ever becomes a text node or a
// custom property.

import type { CardFill, CardList, CardText } from "./messages.ts";

/** The pattern for each list's entries: the first child of the element with `data-each`, removed from it. */
const patterns = new Map<HTMLElement, Element>();

/**
 * Prepares a card's markup, once: removes the sample content, and wraps each fitted text in an element of
 * its own.
 */
export function prepare(card: HTMLElement) {
  patterns.clear();
  for (const list of elements(card, "[data-each]")) {
    const [pattern] = list.children;
    if (pattern) patterns.set(list, pattern);
  }
  for (const root of [card, ...patterns.values()]) {
    for (const box of elements(root, "[data-fit][data-text]")) {
      const text = document.createElement("span");
      text.dataset.text = box.dataset.text;
      delete box.dataset.text;
      box.replaceChildren(text);
    }
    for (const element of elements(root, "[data-text]")) element.textContent = "";
  }
  for (const list of patterns.keys()) list.replaceChildren();
}

/** Fills in every text, list and condition of the card. */
export function bind(card: HTMLElement, { texts, lists }: Pick<CardFill, "texts" | "lists">) {
  for (const [list, pattern] of patterns) {
    const entries = own(lists, list.dataset.each ?? "") ?? [];
    list.replaceChildren(
      ...entries.map((entry, index) => {
        const copy = pattern.cloneNode(true) as HTMLElement;
        copy.style.setProperty("--index", String(index));
        for (const [name, value] of Object.entries(entry.variables))
          copy.style.setProperty(`--${name}`, value);
        // What an entry lacks is taken from the card.
        const scope = { ...texts, ...entry.texts };
        for (const element of [copy, ...elements(copy, "*")]) bindOne(element, scope, lists);
        return copy;
      }),
    );
  }
  for (const element of elements(card, "[data-text], [data-if], [data-unless], [data-each]"))
    if (!element.parentElement?.closest("[data-each]")) bindOne(element, texts, lists);
}

function bindOne(element: HTMLElement, texts: Record<string, CardText>, lists: Record<string, CardList>) {
  const { text, if: wanted, unless } = element.dataset;
  if (text !== undefined) setText(element, own(texts, text));
  if (wanted === undefined && unless === undefined) return;
  const has = (path: string) => own(texts, path) !== undefined || own(lists, path) !== undefined;
  const isShown = (wanted === undefined || has(wanted)) && (unless === undefined || !has(unless));
  // A missing picture stays hidden, whatever the conditions say.
  element.hidden = !isShown || (element.hidden && element.dataset.picture !== undefined);
}

function setText(element: HTMLElement, shown: CardText | undefined) {
  const { text = "", lang = "", direction = "ltr" } = shown ?? {};
  // A fitted text's box takes its direction as well, which determines where a line begins.
  const box = element.parentElement?.closest<HTMLElement>("[data-fit]") ?? null;
  for (const each of box ? [box, element] : [element]) {
    if (lang !== "") [each.lang, each.dir] = [lang, direction];
    else for (const name of ["lang", "dir"]) each.removeAttribute(name);
  }
  // CSS turns ß into SS, but German names keep their own capital.
  const isUpper = text.includes("ß") && getComputedStyle(element).textTransform === "uppercase";
  element.textContent = isUpper ? text.replaceAll("ß", "ẞ") : text;
}

/**
 * Replaces an element's attributes with another's.
 * @param but names to leave alone
 */
export function takeAttributes(to: Element, from: Element, but: string[] = []) {
  for (const name of to.getAttributeNames()) if (!but.includes(name)) to.removeAttribute(name);
  for (const { name, value } of from.attributes) if (!but.includes(name)) to.setAttribute(name, value);
}

/** Looks up a value by a name that can be any text, even that of an inherited property. */
function own<T>(from: Record<string, T>, name: string): T | undefined {
  return Object.hasOwn(from, name) ? from[name] : undefined;
}

function elements(root: Element, selector: string) {
  return [...root.querySelectorAll<HTMLElement>(selector)];
}
