// The palette that goes to a page by its name, beside the navigation.
(() => {
  const palette = document.getElementById("palette");
  if (!(palette instanceof HTMLDialogElement)) return;
  const input = /** @type {HTMLInputElement} */ (palette.querySelector("input"));
  const options = /** @type {HTMLElement[]} */ ([...palette.querySelectorAll('[role="option"]')]);
  const search = /** @type {HTMLElement} */ (document.getElementById("palette-search"));

  for (const button of document.querySelectorAll("[data-palette]")) button.removeAttribute("hidden");

  const shown = () => options.filter(({ hidden }) => !hidden);
  const chosen = () => options.find((option) => option.getAttribute("aria-selected") === "true");

  /** @param {HTMLElement | undefined} option */
  const choose = (option) => {
    for (const one of options) one.setAttribute("aria-selected", String(one === option));
    if (option) input.setAttribute("aria-activedescendant", option.id);
    else input.removeAttribute("aria-activedescendant");
    option?.scrollIntoView({ block: "nearest" });
  };

  /** Shows what has every word that is written; whatever is written can be searched for among the images. */
  const narrow = () => {
    const words = input.value.trim().toLowerCase().split(/\s+/);
    for (const option of options) {
      if (option === search) continue;
      const text = (option.textContent ?? "").toLowerCase();
      option.hidden = !words.every((word) => text.includes(word));
    }
    search.hidden = input.value.trim() === "";
    search.textContent = `Images of “${input.value.trim()}”`;
    choose(shown()[0]);
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
    if (!option) return;
    const { href = "", search: query } = option.dataset;
    location.assign(query ? query + encodeURIComponent(input.value.trim()) : href);
  };

  input.addEventListener("input", narrow);
  palette.addEventListener("keydown", (event) => {
    const all = shown();
    const at = all.indexOf(/** @type {HTMLElement} */ (chosen()));
    if (event.key === "ArrowDown") choose(all[(at + 1) % all.length]);
    else if (event.key === "ArrowUp") choose(all.at(at - 1));
    else if (event.key === "Enter") go(chosen());
    else return;
    event.preventDefault();
  });
  palette.addEventListener("click", ({ target }) => {
    if (target === palette) palette.close();
    if (target instanceof HTMLElement && target.role === "option") go(target);
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

// Keys that do something by themselves; whoever dictates, or types by accident, switches them off.
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
    if (page && event.timeStamp - wentTo < 1_000) return location.assign(`/console/${page}`);
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
