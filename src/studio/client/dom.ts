type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | ((event: never) => void) | null | undefined>;

/** An element; functions become listeners, false and null leave an attribute out. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value as unknown as EventListener);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An element of an SVG. */
export function svg(tag: string, props: Record<string, string | number>, ...children: (Node | string)[]) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

export function byId<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

/** A group of buttons, one of which is pressed. */
export function segments(
  label: string,
  choices: readonly (readonly [value: string, text: string, title?: string])[],
  chosen: string,
  choose: (value: string) => void,
): HTMLElement {
  return el(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    ...choices.map(([value, text, title]) =>
      el(
        "button",
        {
          type: "button",
          "data-value": value,
          title,
          "aria-pressed": String(value === chosen),
          click: () => choose(value),
        },
        text,
      ),
    ),
  );
}

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows a brief notice. */
export function toast(text: string, kind: "good" | "bad" = "good"): void {
  const box = byId("toast");
  box.textContent = text;
  box.dataset.kind = kind;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => {
    box.hidden = true;
  }, 4000);
}

/** Copies a text and confirms it, or says what prevented it. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // The clipboard API needs a secure page in the foreground; this older way does not.
    const area = el("textarea", { class: "offstage" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(`${what} copied.`);
}
