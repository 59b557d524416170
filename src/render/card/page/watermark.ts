/** Inside a shadow tree and marked important, so that no template's style sheet can change or hide it. */
const STYLE = `
  :host { all: initial !important; position: fixed !important; z-index: 2147483647 !important; display: block !important;
    left: var(--card-x) !important; top: var(--card-y) !important; width: var(--card-width) !important;
    height: var(--card-height) !important; overflow: hidden !important; container-type: size !important;
    pointer-events: none !important; }
  span { position: absolute; left: 50%; top: 50%; white-space: nowrap; padding: 3cqmin 60vmax;
    font: italic 900 var(--size) / 0.86 "Sofia Sans Extra Condensed Variable"; letter-spacing: 0.14em; text-indent: 0.14em;
    color: rgb(255 255 255 / 0.42); -webkit-text-stroke: 0.5cqmin rgb(255 255 255 / 0.95);
    border: solid rgb(255 255 255 / 0.8); border-width: 0.5cqmin 0; background: rgb(8 10 16 / 0.42);
    transform: translate(-50%, -50%) rotate(-24deg); }`;

let mark: HTMLElement | undefined;
let written: string | undefined;

/** Puts a word across the card, such as TEST, or takes it away. */
export function showWatermark(word: string | null) {
  if (word === null) return mark?.remove();
  if (!mark || written !== word) {
    mark?.remove();
    mark = document.createElement("cardpress-watermark");
    // Longer words are smaller, so that they fit on cards of any shape.
    const size = Math.min(31, 132 / word.length);
    const root = mark.attachShadow({ mode: "closed" });
    root.innerHTML = `<style>${STYLE}</style><span style="--size: ${size}cqmin"></span>`;
    if (root.lastElementChild) root.lastElementChild.textContent = word;
    written = word;
  }
  // Next to the body, wherever that is: in the page, or in the canvas it is drawn into.
  document.querySelector("body")?.after(mark);
}
