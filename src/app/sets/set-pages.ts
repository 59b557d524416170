import { join } from "node:path";
import PQueue from "p-queue";
import { PRINT_SIZES, type PrintSizeName } from "../../core/print-sizes.ts";
import type { RenderPool } from "../../render/pool.ts";
import { type CardSet, playersOfSet, type SetPlayer } from "../../store/sets/card-sets.ts";
import type { DataFolder } from "../../system/data-folder.ts";
import { removeWhole } from "../../system/write-whole.ts";
import type { AppContext } from "../context.ts";
import { SHEETS, type Sheet } from "../print/imposition.ts";
import { takePrintSlot } from "../print/print-slots.ts";
import { spareRenderer } from "../spare-renderer.ts";

// What collectors are handed out of a set, as pages for a printer at home or in the office.

export interface SetPagesDeps extends Pick<AppContext, "store" | "random"> {
  pool: RenderPool;
  folder: DataFolder;
}

/** Measures of the pages, in millimetres. */
const MARGIN = 8;
const HEAD = 22;
const FOOT = 12;
/** A place's line below it, and the least room between places. */
const LABEL = 8;
const GAP = 2;
const MAX_GAP = 8;
const ROW = 7;
/** From so many parallels on, their names stand upright above narrow columns. */
const MANY_PARALLELS = 5;
const PARALLEL_HEAD = { few: 11, many: 38 };

/** One at a time: the pages of a large set keep a renderer busy for seconds. */
const printing = new PQueue({ concurrency: 1 });

const text = (value: string) => Bun.escapeHTML(value);
/** How a player is called here; deleted ones keep their number and nothing else. */
const nameOf = ({ name, externalId }: SetPlayer) => text(name || externalId);

/**
 * The checklist of a set as a PDF: each player with a box to tick for each parallel. Throws when too many
 * files are being written, or all renderers are busy.
 */
export async function checklistPages(
  deps: SetPagesDeps,
  set: CardSet,
  { sheet }: { sheet: Sheet },
): Promise<Uint8Array<ArrayBuffer>> {
  const { parallels } = set;
  const isMany = parallels.length >= MANY_PARALLELS;
  const head = isMany ? PARALLEL_HEAD.many : PARALLEL_HEAD.few;
  const rows = Math.floor((SHEETS[sheet].height - HEAD - FOOT - head - 2) / ROW);
  const columns = parallels.map(
    ({ name, size }) =>
      `<th class="parallel${isMany ? " upright" : ""}"><div><b dir="auto">${text(name)}</b>${size === null ? "" : ` <i>/${size}</i>`}</div></th>`,
  );
  const boxes = parallels.map(() => `<td class="box"><span></span></td>`).join("");
  const list = pagesOf(await playersOfSet(deps.store.read, set.id), rows).map(
    (players) =>
      `<table><thead><tr style="height:${head}mm"><th class="at"></th><th></th>${columns.join("")}</tr></thead><tbody>${players
        .map(
          (player) =>
            `<tr><td class="at">${player.position + 1}</td><td class="name"><span dir="auto">${nameOf(player)}</span>${player.number === null ? "" : ` <i>${player.number}</i>`}</td>${boxes}</tr>`,
        )
        .join("")}</tbody></table>`,
  );
  return print(deps, set, { sheet, list, style: CHECKLIST_CSS });
}

/**
 * Pages of an album: a numbered place of the card's size for each player of a set, the name below it. Throws
 * as a checklist does.
 */
export async function albumPages(
  deps: SetPagesDeps,
  set: CardSet,
  { sheet, size }: { sheet: Sheet; size: PrintSizeName },
): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height } = PRINT_SIZES[size].trim;
  const across = SHEETS[sheet].width - 2 * MARGIN;
  const columns = Math.floor((across + GAP) / (width + GAP));
  const rows = Math.floor((SHEETS[sheet].height - HEAD - FOOT + GAP) / (height + LABEL + GAP));
  const gap = Math.min(MAX_GAP, (across - columns * width) / Math.max(1, columns - 1));
  const list = pagesOf(await playersOfSet(deps.store.read, set.id), columns * rows).map(
    (players) =>
      `<div class="places">${players
        .map(
          (player) =>
            `<figure><div class="place">${player.position + 1}</div><figcaption><b>${player.position + 1}</b> <span dir="auto">${nameOf(player)}</span></figcaption></figure>`,
        )
        .join("")}</div>`,
  );
  const style = `.places { grid-template-columns: repeat(${columns}, ${width}mm); grid-template-rows: repeat(${rows}, ${height + LABEL}mm); column-gap: ${gap}mm } .place { width: ${width}mm; height: ${height}mm } figure { width: ${width}mm } ${ALBUM_CSS}`;
  return print(deps, set, { sheet, list, style });
}

function pagesOf(players: SetPlayer[], perPage: number): SetPlayer[][] {
  return Array.from({ length: Math.ceil(players.length / perPage) }, (_, page) =>
    players.slice(page * perPage, (page + 1) * perPage),
  );
}

async function print(
  { pool, folder, random }: SetPagesDeps,
  set: CardSet,
  { sheet, list, style }: { sheet: Sheet; list: string[]; style: string },
): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height } = SHEETS[sheet];
  const head = `<header><h1 dir="auto">${text(set.name)}</h1><p dir="auto">${text(set.season)}</p></header>`;
  const pages = list.map(
    (body, at) => `<section>${head}<main>${body}</main><footer>${at + 1} / ${list.length}</footer></section>`,
  );
  const size = `@page { size: ${width}mm ${height}mm; margin: 0 } section { width: ${width}mm; height: ${height}mm }`;
  const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${text(set.name)}</title><link rel="stylesheet" href="/library.css"><style>${size} ${PAGE_CSS} ${style}</style></head><body>${pages.join("")}</body></html>`;
  // Those that wait hold their pages in memory.
  const giveBack = takePrintSlot(set.accountId);
  const printed = printing.add(async () => {
    const outputPath = join(folder.scratch, `${random.id("pages")}.pdf`);
    const renderer = await spareRenderer(pool);
    try {
      await renderer.printDocument({ jobId: "pages", html, outputPath });
      return await Bun.file(outputPath).bytes();
    } finally {
      renderer.release();
      await removeWhole(outputPath).catch(() => {});
    }
  });
  return printed.finally(giveBack);
}

const PAGE_CSS = `
* { box-sizing: border-box; margin: 0; padding: 0 }
body { font: 10.5pt/1.25 var(--fonts); color: #111 }
section { position: relative; overflow: hidden; break-after: page; padding: 0 ${MARGIN}mm }
section:last-child { break-after: auto }
header { height: ${HEAD}mm; padding: 8mm 2mm 3mm; display: flex; gap: 6mm; align-items: baseline; justify-content: space-between; white-space: nowrap }
h1 { font-size: 17pt; font-weight: 800; overflow: hidden; text-overflow: ellipsis }
header p { flex: none; max-width: 60mm; overflow: hidden; text-overflow: ellipsis; color: #555 }
i { font-style: normal; color: #666 }
footer { position: absolute; inset: auto 0 6mm; text-align: center; font-size: 8.5pt; color: #666 }
`;

const CHECKLIST_CSS = `
table { width: 100%; border-collapse: collapse; table-layout: fixed }
tr { height: ${ROW}mm }
thead { border-bottom: .5mm solid #111 }
tbody tr { border-bottom: .1mm solid #bbb }
.at { width: 13mm; text-align: right; padding-right: 4mm; color: #666 }
.name { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-weight: 600 }
.name i { font-weight: 400; padding-left: 2mm }
th { vertical-align: bottom; font-weight: 400; padding-bottom: 1.5mm }
.parallel { width: 24mm; font-size: 9pt; line-height: 1.15 }
.parallel div { max-height: 9mm; overflow: hidden; overflow-wrap: anywhere }
.upright { width: 7mm }
.upright div { writing-mode: vertical-rl; rotate: 180deg; height: ${PARALLEL_HEAD.many - 3}mm; max-height: none; max-width: 7mm; margin: 0 auto; text-align: start; white-space: nowrap; text-overflow: ellipsis }
.box { text-align: center }
.box span { display: inline-block; width: 4mm; height: 4mm; border: .3mm solid #111; vertical-align: middle }
`;

const ALBUM_CSS = `
.places { display: grid; justify-content: center; align-content: space-evenly; height: calc(100% - ${HEAD + FOOT}mm) }
main { height: 100% }
.place { border: .25mm solid #999; border-radius: 2mm; display: grid; place-items: center; font-size: 30pt; font-weight: 800; color: #ccc }
figcaption { height: ${LABEL}mm; line-height: ${LABEL}mm; padding: 0 1mm; text-align: center; font-size: 10pt; white-space: nowrap; overflow: hidden; text-overflow: ellipsis }
`;
