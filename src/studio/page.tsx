/** @jsxImportSource preact */
import { renderToString } from "preact-render-to-string";

/** The shell of the studio's single page; its scripts fill it. */
export function studioPage(): string {
  return `<!doctype html>${renderToString(
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="dark" />
        <title>cardpress studio</title>
        <link rel="icon" href="assets/icon.svg" />
        <link rel="stylesheet" href="assets/studio.css" />
        <script type="module" src="assets/main.ts" />
      </head>
      <body>
        <header class="bar">
          <a class="brand" href="./">
            <img src="assets/icon.svg" alt="" width="22" height="22" />
            <span>studio</span>
          </a>
          <select id="template" aria-label="Template" hidden />
          <h1 id="title">Templates</h1>
          <span id="version" class="chip" hidden />
          <nav id="views" class="segments" aria-label="Views">
            <button type="button" data-view="card" title="One size (1)">
              Card
            </button>
            <button type="button" data-view="sizes" title="All sizes side by side (2)">
              All sizes
            </button>
            <button type="button" data-view="wall" title="Everything that may come (3)">
              Wall
            </button>
            <button type="button" data-view="compare" title="Before and after (4)">
              Compare
            </button>
          </nav>
          <p id="wait" role="status" aria-live="polite" hidden />
          <p id="status" role="status" aria-live="polite">
            <i class="dot" /> <span>Starting the renderer…</span>
          </p>
          <button type="button" id="help" class="quiet" title="Keys (?)" aria-label="Keys">
            ?
          </button>
        </header>
        <main id="main">
          <aside id="rail" aria-label="Samples" />
          <section id="stage" aria-label="Pictures" />
          <aside id="panel" aria-label="Details" />
        </main>
        <div id="drop" hidden>
          <div>
            <strong>Drop the photo</strong>
            <span>It goes through the real detection and cutout, and stays on this machine.</span>
          </div>
        </div>
        <div id="toast" role="status" aria-live="polite" hidden />
        <dialog id="keys" />
        <noscript>The studio needs JavaScript.</noscript>
      </body>
    </html>,
  )}`;
}
