// Search in the documentation: the index is one file of this service, fetched when the search is first
// opened.
{
  const MAX_RESULTS = 12;
  const SNIPPET_CHARS = 140;
  /** How much a word counts by where it stands. */
  const WEIGHTS = { page: 8, heading: 6, text: 1 };

  /** The path of its host that the service has. */
  const basePath = document.documentElement.dataset.base ?? "";
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("search"));
  const input = /** @type {HTMLInputElement} */ (dialog.querySelector("input"));
  const list = /** @type {HTMLUListElement} */ (dialog.querySelector("ul"));
  const state = /** @type {HTMLElement} */ (dialog.querySelector(".search-state"));

  /** @typedef {{path: string, page: string, heading: string, text: string}} Entry */
  /** @type {Promise<Entry[]> | undefined} */
  let index;
  const load = () => {
    index ??= fetch(`${basePath}/docs/search.json`).then((answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.json();
    });
    // What failed once may work the next time it is opened.
    index.catch(() => {
      index = undefined;
      state.textContent = "The search could not be loaded. Reload the page.";
    });
    return index;
  };

  /** How well a section fits: 0 unless every word is there. @param {Entry} entry @param {string[]} words */
  const score = (entry, words) => {
    let total = 0;
    for (const word of words) {
      let best = 0;
      for (const place of /** @type {("page" | "heading" | "text")[]} */ (["page", "heading", "text"])) {
        const at = entry[place].toLowerCase().indexOf(word);
        if (at < 0) continue;
        const startsWord = at === 0 || !/\w/.test(entry[place][at - 1] ?? "");
        best += WEIGHTS[place] * (startsWord ? 2 : 1);
      }
      if (best === 0) return 0;
      total += best;
    }
    // A page's beginning before its sections, where both fit alike.
    return total + (entry.heading === "" ? 0.5 : 0);
  };

  /** The text around the first word that is found. @param {string} text @param {string[]} words */
  const snippet = (text, words) => {
    const found = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
    const from = Math.max(0, Math.min(...found, text.length) - 40);
    const start = from === 0 || found.length === 0 ? 0 : text.indexOf(" ", from) + 1;
    const cut = text.slice(start, start + SNIPPET_CHARS);
    return (start > 0 ? "… " : "") + cut + (start + SNIPPET_CHARS < text.length ? " …" : "");
  };

  /**
   * Adds text with the found words marked.
   * @param {HTMLElement} parent
   * @param {string} text
   * @param {string[]} words
   */
  const appendMarked = (parent, text, words) => {
    const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    for (const part of text.split(new RegExp(`(${escaped.join("|")})`, "gi"))) {
      const node = words.includes(part.toLowerCase())
        ? document.createElement("mark")
        : document.createElement("span");
      node.textContent = part;
      parent.append(node);
    }
  };

  /** @param {Entry} entry @param {string[]} words */
  const resultItem = (entry, words) => {
    const link = document.createElement("a");
    link.href = basePath + entry.path;
    const title = document.createElement("strong");
    appendMarked(title, entry.heading || entry.page, words);
    const where = document.createElement("small");
    where.textContent = entry.heading ? entry.page : "";
    const text = document.createElement("span");
    text.className = "search-text";
    appendMarked(text, snippet(entry.text, words), words);
    link.append(title, where, text);
    const item = document.createElement("li");
    item.append(link);
    return item;
  };

  const show = async () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const entries = await load();
    const found = words.length === 0 ? [] : entries.map((entry) => ({ entry, fit: score(entry, words) }));
    const best = found.filter(({ fit }) => fit > 0).sort((a, b) => b.fit - a.fit);
    list.replaceChildren(...best.slice(0, MAX_RESULTS).map(({ entry }) => resultItem(entry, words)));
    const count = best.length === 1 ? "1 place" : `${best.length} places`;
    state.textContent =
      words.length === 0 ? "" : best.length === 0 ? "Nothing found. Try fewer words." : count;
  };

  const links = () => /** @type {HTMLAnchorElement[]} */ ([...list.querySelectorAll("a")]);
  input.addEventListener("input", () => void show().catch(() => {}));
  // The field has the focus as soon as the dialog opens.
  input.addEventListener("focus", () => {
    input.select();
    void load().catch(() => {});
  });
  dialog.addEventListener("keydown", (event) => {
    const places = [input, ...links()];
    const at = places.indexOf(/** @type {HTMLInputElement} */ (document.activeElement));
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      places[Math.max(0, Math.min(places.length - 1, at + step))]?.focus();
    }
    // Enter in the field opens the best place instead of closing.
    if (event.key === "Enter" && document.activeElement === input) {
      event.preventDefault();
      links()[0]?.click();
    }
  });
  // A place on this very page.
  list.addEventListener("click", () => dialog.close());
  // Beside the dialog, on what lies behind it.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select");
    const isSlash = event.key === "/" && !isTyping;
    if (!isSlash && !(event.key === "k" && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    if (!dialog.open) dialog.showModal();
  });
}
