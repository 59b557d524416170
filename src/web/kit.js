// What all pages have in common. They work without it; it adds the reader's time zone, copying, the theme and
// dialogs.
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: the scope that keeps the names of a classic script its own.
(() => {
  const root = document.documentElement;
  const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });
  /** @type {[Intl.RelativeTimeFormatUnit, number][]} */
  const STEPS = [
    ["day", 86_400_000],
    ["hour", 3_600_000],
    ["minute", 60_000],
  ];

  /** @param {Date} date @param {string | undefined} style */
  const timeText = (date, style) => {
    if (style !== "relative") return absolute.format(date);
    const away = date.getTime() - Date.now();
    if (Math.abs(away) > 7 * 86_400_000) return absolute.format(date);
    for (const [unit, ms] of STEPS)
      if (Math.abs(away) >= ms) return relative.format(Math.round(away / ms), unit);
    return away > 0 ? "in a moment" : "just now";
  };

  /** @param {ParentNode} within */
  const localTimes = (within) => {
    for (const element of /** @type {NodeListOf<HTMLTimeElement>} */ (
      within.querySelectorAll("time[datetime]")
    )) {
      const date = new Date(element.dateTime);
      if (Number.isNaN(date.getTime())) continue;
      element.textContent = timeText(date, element.dataset.style);
      element.title = exact.format(date);
    }
  };

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let fade;
  /** Tells the reader something for a while; screen readers read it out. @param {string} text */
  const say = (text) => {
    const toast = document.getElementById("toast");
    if (!toast) return;
    toast.textContent = text;
    clearTimeout(fade);
    fade = setTimeout(() => {
      toast.textContent = "";
    }, 4000);
  };

  /** Copies what the button names, or the code it stands above. @param {HTMLElement} button */
  const copy = async (button) => {
    const name = button.dataset.copies;
    const target = name ? document.getElementById(name) : button.closest("figure")?.querySelector("code");
    if (!target) return;
    const text = target instanceof HTMLInputElement ? target.value : (target.textContent ?? "");
    // Browsers give pages over plain HTTP no clipboard: there the text is marked, for the reader's own keys.
    const copied = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    );
    if (!copied) getSelection()?.selectAllChildren(target);
    if (!copied && target instanceof HTMLInputElement) target.select();
    const done = copied || document.execCommand("copy");
    say(done ? "Copied to the clipboard" : "Press Ctrl+C or ⌘C to copy the marked text");
  };

  const showTheme = () => {
    const dark =
      root.dataset.theme === "dark" ||
      (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    for (const button of document.querySelectorAll("[data-theme-toggle]"))
      button.setAttribute("aria-label", dark ? "Use the light theme" : "Use the dark theme");
    return dark;
  };

  const toggleTheme = () => {
    const next = showTheme() ? "light" : "dark";
    root.dataset.theme = next;
    localStorage.setItem("cardpress-theme", next);
    showTheme();
  };

  document.addEventListener("click", (event) => {
    /** @type {HTMLElement | null} */
    const button = event.target instanceof Element ? event.target.closest("button") : null;
    if (!button) return;
    if (button.dataset.copies !== undefined) copy(button);
    if (button.hasAttribute("data-theme-toggle")) toggleTheme();
    const dialog = document.getElementById(button.dataset.opens ?? "");
    if (dialog instanceof HTMLDialogElement) dialog.showModal();
    if (button.hasAttribute("data-closes")) button.closest("dialog")?.close();
  });
  // The menu of small windows covers the page, which is then not there for the keyboard either.
  const menu = () => /** @type {HTMLDetailsElement | null} */ (document.querySelector("details.menu"));
  const closeMenu = () => menu()?.removeAttribute("open");
  document.addEventListener(
    "toggle",
    ({ target }) => {
      const main = document.getElementById("main");
      if (main && target === menu()) main.inert = menu()?.open ?? false;
    },
    // This event does not bubble.
    true,
  );
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !menu()?.open) return;
    closeMenu();
    menu()?.querySelector("summary")?.focus();
  });
  // Where the window grows the places stand at the left, and nothing could close the menu.
  matchMedia("(min-width: 900px)").addEventListener("change", closeMenu);
  addEventListener("pageshow", closeMenu);
  document.addEventListener("cardpress:added", ({ target }) => {
    if (target instanceof Element) localTimes(target);
  });
  document.addEventListener("cardpress:say", (event) => {
    if (event instanceof CustomEvent) say(String(event.detail));
  });
  localTimes(document);
  showTheme();
})();
