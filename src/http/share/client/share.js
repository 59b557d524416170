// A shared card's page works without it; it adds the buttons that need a script.
(() => {
  const address = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=canonical]"))?.href;
  const status = document.getElementById("status");
  /** @param {string} name @param {(button: HTMLElement) => unknown} press */
  const enable = (name, press) => {
    const button = document.getElementById(name);
    if (!button || !address) return;
    button.hidden = false;
    button.addEventListener("click", () => press(button));
  };
  // Who closes the sheet of the system has shared nothing, which is no fault.
  if (navigator.share !== undefined)
    enable("share", () => navigator.share({ title: document.title, url: address ?? "" }).catch(() => {}));
  // Browsers give pages over plain HTTP no clipboard.
  if (navigator.clipboard !== undefined)
    enable("copy", async () => {
      await navigator.clipboard.writeText(address ?? "");
      if (status) status.textContent = "Link copied";
    });
})();
