import type { Inspection } from "../../render/preview/messages.ts";
import type { WallCase } from "../messages.ts";
import { byId, el, segments, toast } from "./dom.ts";
import { textProblem } from "./overlays.ts";
import { createPane, type Pane } from "./pane.ts";
import { server } from "./server.ts";
import type { StageView } from "./stage.ts";
import { pictureRequest, sampleBody, sampleText, set, sizeOf, template, view } from "./state.ts";

/** The longer side of a picture on the wall: small enough to draw two hundred, large enough to judge. */
const TILE_PX = 640;
/** Requests sent at once; the worker draws them one after the other. */
const AT_ONCE = 3;

const WALLS = [
  ["samples", "Samples"],
  ["fields", "Fields"],
  ["names", "Names"],
  ["scripts", "Scripts"],
  ["badges", "Badges & tiers"],
  ["colours", "Hard colours"],
  ["random", "100 colours"],
] as const;

interface Tile {
  one: WallCase;
  pane: Pane;
  element: HTMLElement;
  isSeen: boolean;
  isDone: boolean;
  badness: number;
}

/** How much a card needs a designer's attention: unreadable text ranks above merely shortened text. */
function badnessOf({ texts, brokenPictures }: Inspection): { score: number; words: string[] } {
  const words = [
    ...new Set(
      texts.flatMap((text) => {
        const problem = textProblem(text);
        return problem ? [`${text.label}: ${problem}`] : text.shortened ? [`${text.label}: shortened`] : [];
      }),
    ),
  ];
  const score = texts.reduce((sum, text) => {
    const lack = text.contrast === null ? 0 : Math.max(0, text.neededContrast - text.contrast);
    return (
      sum + text.missing.length * 50 + Math.min(text.overflowPx, 50) + lack * 10 + (text.shortened ? 1 : 0)
    );
  }, brokenPictures.length * 50);
  return { score, words };
}

/** Everything a partner may send, worst first. */
export function wallView(): StageView {
  const grid = el("div", { class: "wall" });
  const summary = el("p", { class: "soft", role: "status" });
  const head = el("div", { class: "tools top" });
  byId("stage").replaceChildren(head, el("div", { class: "room scroll" }, summary, grid));
  let tiles: Tile[] = [];
  let round = 0;
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const tile = tiles.find((one) => one.element === target);
        if (tile) tile.isSeen = isIntersecting;
      }
    },
    { rootMargin: "200px" },
  );
  /** Draws visible cards first, the rest when nothing else is waiting. */
  const drawAll = async () => {
    round += 1;
    const mine = round;
    const todo = new Set(tiles);
    const work = async () => {
      while (todo.size > 0 && mine === round) {
        const tile = [...todo].find((one) => one.isSeen) ?? [...todo][0];
        if (!tile) return;
        todo.delete(tile);
        await drawTile(tile);
        if (mine === round) summary.textContent = sortTiles(tiles);
      }
    };
    await new Promise((resolve) => requestAnimationFrame(resolve));
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };
  const build = async () => {
    head.replaceChildren(...wallTools());
    try {
      const cases = await server.wall(view.template, view.wall, view.sample, sampleBody());
      const [width, height] = sizeOf();
      observer.disconnect();
      tiles = cases.map((one) => tileOf(one, width / height));
      grid.style.setProperty("--ratio", String(width / height));
      grid.replaceChildren(...tiles.map((tile) => tile.element));
      for (const tile of tiles) observer.observe(tile.element);
      summary.textContent = sortTiles(tiles);
      await drawAll();
    } catch (error) {
      toast((error as Error).message, "bad");
    }
  };
  let shown = "";
  return {
    redraw: () => {
      const key = JSON.stringify([view.template, view.wall, view.sample, view.size, sampleText()]);
      if (key === shown && tiles.length > 0) return void drawAll();
      shown = key;
      void build();
    },
    pane: () => null,
  };
}

function wallTools(): HTMLElement[] {
  const sizes = Object.keys(template()?.sizes ?? {});
  const hasFields = (template()?.fields ?? []).length > 0;
  const walls = WALLS.filter(([name]) => hasFields || name !== "fields");
  return [
    segments("Wall", walls, view.wall, (wall) => set({ wall })),
    segments(
      "Size",
      sizes.map((name) => [name, name.replaceAll("_", " ")] as const),
      view.size || (sizes[0] ?? ""),
      (size) => set({ size }),
    ),
  ];
}

/** Puts the worst first, and returns a summary so far. */
function sortTiles(tiles: Tile[]): string {
  const order = [...tiles].sort((a, b) => b.badness - a.badness);
  order.forEach((tile, i) => {
    tile.element.style.order = String(i);
  });
  const done = tiles.filter((tile) => tile.isDone).length;
  const bad = tiles.filter((tile) => tile.badness >= 2).length;
  if (done < tiles.length) return `${done} of ${tiles.length} drawn…`;
  return bad === 0
    ? `All ${tiles.length} hold: nothing overflows, nothing is unreadable.`
    : `${bad} of ${tiles.length} need a look; the worst come first.`;
}

async function drawTile(tile: Tile): Promise<void> {
  const [width, height] = sizeOf();
  const scale = Math.min(1, TILE_PX / Math.max(width, height));
  const size: [number, number] = [Math.round(width * scale), Math.round(height * scale)];
  const drawn = await tile.pane.draw({
    ...pictureRequest(`wall:${tile.one.id}`, tile.isSeen ? 4 : 6, size),
    body: tile.one.body,
    inspect: "contrast",
  });
  tile.isDone = true;
  if (!drawn?.inspection) return;
  const { score, words } = badnessOf(drawn.inspection);
  tile.badness = score;
  tile.element.dataset.bad = score >= 2 ? "yes" : "no";
  const note = tile.element.querySelector("small");
  if (note) note.textContent = words.slice(0, 2).join("; ");
  tile.element.title = words.join("\n");
}

function tileOf(one: WallCase, ratio: number): Tile {
  const pane = createPane();
  pane.element.style.aspectRatio = String(ratio);
  const open = () =>
    set({ view: "card", sample: one.sample, data: `${JSON.stringify(one.body, null, 2)}\n` });
  const element = el(
    "button",
    { type: "button", class: "tile", click: open },
    pane.element,
    el("span", {}, one.label),
    el("small", {}),
  );
  return { one, pane, element, isSeen: false, isDone: false, badness: 0 };
}
