// How many of a list's cards were looked at; those that would fail come first. Each answer of the server
// knows its own card only.
(() => {
  document.addEventListener("htmx:load", ({ target }) => {
    const tally = document.querySelector("[data-looked-of]");
    if (!(tally instanceof HTMLElement)) return;
    if (target instanceof HTMLElement && target.dataset.seen === "refused") {
      const { parentElement: grid } = target;
      const after = [...(grid?.querySelectorAll(":scope > [data-seen='refused']") ?? [])]
        .filter((one) => one !== target)
        .at(-1);
      if (after) after.after(target);
      else grid?.prepend(target);
    }
    const total = Number(tally.dataset.lookedOf);
    const seen = document.querySelectorAll("[data-seen]").length;
    const failing = document.querySelectorAll("[data-seen='refused']").length;
    const write = (/** @type {string} */ name, /** @type {number} */ value) => {
      for (const place of document.querySelectorAll(`[data-${name}]`))
        place.textContent = value.toLocaleString("en-US");
    };
    const show = (/** @type {string} */ name, /** @type {boolean} */ is) => {
      for (const part of document.querySelectorAll(`[data-${name}]`)) part.toggleAttribute("hidden", !is);
    };
    write("looked", seen);
    write("failing", failing);
    write("open", total - seen);
    show("some-fail", failing > 0);
    show("some-open", seen < total);
    show("none-open", seen >= total);
    const bar = tally.querySelector("progress");
    if (bar) bar.value = seen;
  });
})();
