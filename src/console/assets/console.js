// The console's own script, beside what all pages have: forms, and the parts of pages that ask for
// themselves.
(() => {
  const CHOSEN = "chosen";
  // A form that is sent when one of its choices changes, such as a filter.
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLSelectElement || target instanceof HTMLInputElement)) return;
    if (!target.hasAttribute("data-submits")) return;
    sessionStorage.setItem(CHOSEN, target.id);
    target.form?.requestSubmit();
  });
  // The page that follows has the focus where it was, for who chooses by keyboard.
  document.getElementById(sessionStorage.getItem(CHOSEN) ?? "")?.focus();
  sessionStorage.removeItem(CHOSEN);
  // A colour's picker writes into the field beside it, which is what is sent, and shows what is written
  // there.
  document.addEventListener("input", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const written = target.dataset.writes && document.getElementById(target.dataset.writes);
    if (written instanceof HTMLInputElement) {
      written.value = target.value.toUpperCase();
      written.dispatchEvent(new Event("input", { bubbles: true }));
    }
    const picker = document.querySelector(`[data-writes="${CSS.escape(target.id)}"]`);
    if (picker instanceof HTMLInputElement && /^#[0-9a-f]{6}$/i.test(target.value))
      picker.value = target.value;
  });
  // A time that is still to be written is one of the reader's clock.
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.value !== "") return;
    const zone = target.parentElement?.querySelector("[data-zone]");
    const name = target.parentElement?.querySelector("[data-zone-name]");
    if (!(zone instanceof HTMLInputElement) || !name) return;
    zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone;
    name.textContent = zone.value;
  });
  for (const button of document.querySelectorAll("[data-prints]")) button.removeAttribute("hidden");
  document.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("[data-prints]")) print();
  });
  // Sending a form twice by a double click would do it twice.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.hasAttribute("hx-post")) return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "1";
  });
  addEventListener("pageshow", () => {
    for (const form of document.forms) delete form.dataset.sent;
  });
  // Below the form on a phone: what came of a request is brought into the window.
  document.addEventListener("htmx:afterSwap", ({ target }) => {
    if (target instanceof Element && target.id === "outcome") target.scrollIntoView({ block: "nearest" });
  });
  // What is wrong in a part that is folded away is seen.
  document.addEventListener("htmx:oobAfterSwap", ({ target }) => {
    if (target instanceof Element && target.matches(".problem:not(:empty)"))
      target.closest("details")?.setAttribute("open", "");
  });
  document.addEventListener("htmx:sendError", () =>
    document.dispatchEvent(
      new CustomEvent("cardpress:say", { detail: "No connection. Reload the page when it is back." }),
    ),
  );
  document.addEventListener("htmx:load", ({ target }) =>
    target?.dispatchEvent(new CustomEvent("cardpress:added", { bubbles: true })),
  );
})();
// What somebody opened or folded is so on the next page, too; it may stand on a page twice.
(() => {
  const folds = () =>
    /** @type {HTMLDetailsElement[]} */ ([...document.querySelectorAll("[data-remembers]")]);
  for (const fold of folds()) {
    const key = `cardpress-${fold.dataset.remembers}`;
    const kept = localStorage.getItem(key);
    if (kept !== null) fold.open = kept === "open";
    fold.addEventListener("toggle", () => {
      localStorage.setItem(key, fold.open ? "open" : "folded");
      for (const twin of folds())
        if (twin.dataset.remembers === fold.dataset.remembers) twin.open = fold.open;
    });
  }
})();
