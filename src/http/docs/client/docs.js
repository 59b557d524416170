// Comfort only: every page works without this file.

// A language chosen once is chosen on every sample of the page, and on the next page.
const KEY = "cardpress-docs-tab";
/** @type {NodeListOf<HTMLInputElement>} */
const tabInputs = document.querySelectorAll("input[data-tab]");
/** @param {string} name */
const choose = (name) => {
  for (const input of tabInputs) if (input.dataset.tab === name) input.checked = true;
};
for (const input of tabInputs) {
  input.addEventListener("change", () => {
    const name = input.dataset.tab ?? "";
    const before = input.getBoundingClientRect().top;
    choose(name);
    // Samples above may have grown or shrunk: what was clicked stays where it was.
    scrollBy(0, input.getBoundingClientRect().top - before);
    localStorage.setItem(KEY, name);
  });
}
const chosen = localStorage.getItem(KEY);
if (chosen) choose(chosen);

// Marks the section being read in the table of contents.
/** @type {NodeListOf<HTMLAnchorElement>} */
const tocLinks = document.querySelectorAll(".toc a");
const links = new Map([...tocLinks].map((link) => [link.hash.slice(1), link]));
if (links.size > 0) {
  const observer = new IntersectionObserver(
    (entries) => {
      const entry = entries.find(({ isIntersecting }) => isIntersecting);
      if (!entry) return;
      for (const [id, link] of links) link.classList.toggle("here", id === entry.target.id);
    },
    { rootMargin: "-70px 0px -70% 0px" },
  );
  for (const id of links.keys()) {
    const heading = document.getElementById(id);
    if (heading) observer.observe(heading);
  }
}
