// The console's own script, beside what all pages have: forms, and the parts of pages that ask for themselves.
(() => {
  // A form that is sent when one of its choices changes, such as a filter.
  document.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLSelectElement && target.hasAttribute("data-submits"))
      target.form?.requestSubmit();
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
  document.addEventListener("htmx:sendError", () =>
    document.dispatchEvent(
      new CustomEvent("cardpress:say", { detail: "No connection. Reload the page when it is back." }),
    ),
  );
  document.addEventListener("htmx:load", ({ target }) =>
    target?.dispatchEvent(new CustomEvent("cardpress:added", { bubbles: true })),
  );
})();
