/** The path of its host that the service has. */
const basePath = document.documentElement.dataset.base ?? "";
/** Nobody types on for this long: then the service is asked. */
const PAUSE_MS = 150;

/**
 * Asks the service what the account has of a name. Only the last question is answered.
 * @returns {(text: string) => Promise<HTMLElement[]>}
 */
function placeFinder() {
  let asked = new AbortController();
  return async (text) => {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked;
    if (text !== "") await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    if (text === "" || signal.aborted) return new Promise(() => {});
    const address = `${basePath}/console/find?q=${encodeURIComponent(text)}`;
    const answer = await fetch(address, { signal }).catch(() => null);
    // Signed out meanwhile, or the service is away: the pages can still be gone to.
    const places = answer?.ok && !answer.redirected ? await answer.json().catch(() => []) : [];
    return signal.aborted ? new Promise(() => {}) : places.map(foundOption);
  };
}

/** @param {{ kind: string, label: string, href: string }} place @param {number} at */
function foundOption({ kind, label, href }, at) {
  const option = document.createElement("div");
  option.id = `palette-found-${at}`;
  option.role = "option";
  option.tabIndex = -1;
  option.dataset.href = basePath + href;
  const note = document.createElement("span");
  note.className = "note";
  note.textContent = kind;
  option.append(label, " ", note);
  return option;
}

// The palette that goes to a page by its name, beside the navigation.
(() => {
  const palette = document.getElementById("palette");
  if (!(palette instanceof HTMLDialogElement)) return;
  const input = /** @type {HTMLInputElement} */ (palette.querySelector("input"));
  const places = /** @type {HTMLElement[]} */ ([...palette.querySelectorAll("[data-href]")]);
  const search = /** @type {HTMLElement} */ (document.getElementById("palette-search"));
  /** What the account has of that name. @type {HTMLElement[]} */
  let found = [];
  const find = placeFinder();

  for (const button of document.querySelectorAll("[data-palette]")) button.removeAttribute("hidden");

  const all = () => [...places, ...found, search];
  const shown = () => all().filter(({ hidden }) => !hidden);
  const chosen = () => all().find((option) => option.getAttribute("aria-selected") === "true");

  /** @param {HTMLElement | undefined} option */
  const choose = (option) => {
    for (const one of all()) one.setAttribute("aria-selected", String(one === option));
    input.setAttribute("aria-activedescendant", option?.id ?? "");
    option?.scrollIntoView({ block: "nearest" });
  };

  const written = () => input.value.trim();

  /** Shows what has every word that is written; whatever is written can be searched for among the images. */
  const narrow = () => {
    const words = written().toLowerCase().split(/\s+/);
    for (const option of places) {
      const text = `${option.textContent} ${option.dataset.words ?? ""}`.toLowerCase();
      option.hidden = !words.every((word) => text.includes(word));
    }
    search.hidden = written() === "";
    search.textContent = `Images of “${written()}”`;
    for (const option of found) option.remove();
    found = [];
    choose(shown()[0]);
    void find(written()).then(add);
  };

  /** @param {HTMLElement[]} options what the account has of what is written */
  const add = (options) => {
    const before = chosen();
    found = options;
    search.before(...found);
    choose(before && before !== search ? before : shown()[0]);
  };

  const open = () => {
    if (palette.open) return;
    input.value = "";
    narrow();
    palette.showModal();
    input.focus();
  };

  /** @param {HTMLElement | undefined} option */
  const go = (option) => {
    const { href, search: query } = option?.dataset ?? {};
    if (href ?? query) location.assign(href ?? query + encodeURIComponent(written()));
  };

  input.addEventListener("input", narrow);
  palette.addEventListener("keydown", (event) => {
    const options = shown();
    const at = options.indexOf(/** @type {HTMLElement} */ (chosen()));
    if (event.key === "ArrowDown") choose(options[(at + 1) % options.length]);
    else if (event.key === "ArrowUp") choose(options.at(at - 1));
    else if (event.key === "Enter") go(chosen());
    else return;
    event.preventDefault();
  });
  palette.addEventListener("click", ({ target }) => {
    if (target === palette) palette.close();
    const option = target instanceof Element && target.closest('[role="option"]');
    if (option instanceof HTMLElement) go(option);
  });
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("[data-palette]")) open();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || event.altKey || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    open();
  });
})();

// Keys that do something by themselves; people who dictate, or type by accident, switch them off.
(() => {
  const keys = document.getElementById("shortcuts");
  if (!(keys instanceof HTMLDialogElement)) return;
  const single = /** @type {HTMLInputElement} */ (keys.querySelector("[data-single-keys]"));
  const OFF = "cardpress-single-keys-off";
  const PAGES = { i: "images", b: "batches", p: "playground", r: "requests" };
  single.checked = localStorage.getItem(OFF) === null;
  single.addEventListener("change", () =>
    single.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1"),
  );

  /** Whether keys are text there. @param {EventTarget | null} target */
  const isWriting = (target) =>
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest("input, textarea, select, pre, dialog[open]") !== null);

  let wentTo = 0;
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
    if (ctrlKey || metaKey || altKey || isWriting(target)) return;
    // The table itself stays, or nobody could switch the others on again.
    if (key === "?") return keys.showModal();
    if (!single.checked) return;
    const page = PAGES[/** @type {keyof typeof PAGES} */ (key.toLowerCase())];
    // G, and within a second the letter of a page.
    if (page && event.timeStamp - wentTo < 1_000) return location.assign(`${basePath}/console/${page}`);
    wentTo = key.toLowerCase() === "g" ? event.timeStamp : 0;
    const step = { ArrowLeft: "prev", ArrowRight: "next" }[key];
    // With Shift they select text.
    if (step && !shiftKey) {
      const link = document.querySelector(`a[rel="${step}"]`);
      if (link instanceof HTMLAnchorElement) link.click();
    }
    const field = document.querySelector('main input[type="search"]');
    if (key === "/" && field instanceof HTMLInputElement) {
      event.preventDefault();
      field.focus();
    }
  });
})();

(() => {
  // Filters are folded on a phone, and stand open on anything wider.
  const wide = matchMedia("(min-width: 720px)");
  const fold = () => {
    for (const filters of document.querySelectorAll("details.filters"))
      filters.toggleAttribute("open", wide.matches);
  };
  wide.addEventListener("change", fold);
  fold();
})();
