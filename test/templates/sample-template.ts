import type { TemplateFiles } from "../../src/templates/files.ts";

export const MANIFEST = {
  name: "test_card",
  version: "1.0.0",
  sizes: { poster: [600, 800], wide: [1200, 600] },
  shapes: [0.5, 2],
  fields: {
    club: { type: "text", max: 40 },
    captain: { type: "boolean" },
    kit: { type: "choice", options: ["home", "away"] },
    trim: { type: "color" },
    code: { type: "qr" },
    goals: { type: "integer", min: 0, max: 999 },
    stats: {
      type: "list",
      max: 6,
      of: { label: { type: "text", max: 16, required: true }, value: { type: "integer", min: 0, max: 99 } },
    },
  },
};

export const HTML = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Test card</title>
<link rel="stylesheet" href="preview.css"><link rel="stylesheet" href="card.css"></head>
<body>
<main class="card">
  <i data-zone="face"></i>
  <img class="paper" src="assets/paper.svg" alt="">
  <img class="player" data-picture="player" src="samples/player.png" alt="">
  <img class="badge" data-picture="badge" src="samples/badge.png" alt=""><img class="code" data-picture="fields.code" src="samples/code.png" alt="">
  <h1 data-fit="2 lines" data-text="player.name">Maya Okafor</h1>
  <p class="club" data-fit="1 line" data-if="fields.club"><span data-text="fields.club">Rovers</span></p>
  <p class="none" data-unless="fields.club">No club</p>
  <b class="captain" data-if="fields.captain">C</b>
  <dl data-each="fields.stats" data-if="fields.stats">
    <div><dt data-text="label">Pace</dt><dd data-text="value">91</dd><dd data-text="player.position">ST</dd></div>
    <div><dt>Shooting</dt><dd>84</dd></div>
  </dl>
</main>
</body>
</html>
`;

export const CSS = `* { box-sizing: border-box; margin: 0 }
.card { position: absolute; left: var(--card-x); top: var(--card-y); width: var(--card-width); height: var(--card-height);
  background: var(--primary); color: #fff; font: 700 24px "Noto Sans Variable", var(--fallback-fonts); overflow: hidden }
.card[data-field-kit="away"] { background: var(--secondary) }
.paper { position: absolute; right: 0; bottom: 0; width: 100px; height: 100px }
.player { position: absolute; left: var(--player-x); top: var(--player-y); width: var(--player-width); height: var(--player-height) }
.badge { position: absolute; right: 0; top: 0; width: 100px }
.code { position: absolute; right: 10.3px; top: 300.6px; width: 160.4px; height: 160.4px }
[data-zone="face"] { left: 40%; top: 30%; width: 20%; height: 20% }
.card[data-layout="landscape"] [data-zone="face"] { left: 70% }
h1 { position: absolute; left: 20px; top: 20px; width: 400px; height: 120px; --fit-largest: 60px; --fit-smallest: 0.3; --fit-line: 1.2 }
.club { position: absolute; left: 20px; top: 150px; width: 200px; height: 40px; --fit-largest: 30px; --fit-line: 1.2; color: var(--field-trim, #fff) }
dl { position: absolute; left: 20px; bottom: 20px; width: 300px }
dl > div { display: flex; height: 30px; margin-left: calc(var(--index) * 10px); border-left: calc(var(--value) * 1px) solid red }
.captain { position: absolute; left: 20px; top: 200px; width: calc(var(--field-goals, 0) * 1px) }
`;

export const PAPER = `<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><rect width="10" height="10" fill="#00ff00"/></svg>`;

/**
 * A small template that uses everything the format has, with some of its files changed; null leaves one out.
 */
export function sampleTemplate(changes: Record<string, string | null> = {}): TemplateFiles {
  const texts: Record<string, string | null> = {
    "template.json": JSON.stringify(MANIFEST, null, 2),
    "card.html": HTML,
    "card.css": CSS,
    "assets/paper.svg": PAPER,
    ...changes,
  };
  const encoder = new TextEncoder();
  return new Map(
    Object.entries(texts).flatMap(([name, text]) => (text === null ? [] : [[name, encoder.encode(text)]])),
  );
}

/** A back that goes with it. */
export const BACK = {
  "back.html": `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Back</title><link rel="stylesheet" href="back.css"></head>
<body><main class="card"><p class="club" data-text="fields.club">Rovers</p></main></body>
</html>
`,
  "back.css": `.card { position: absolute; inset: 0; background: var(--secondary) }
.club { color: #fff }
`,
};
