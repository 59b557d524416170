import { join } from "node:path";
import { type Node, Renderer } from "@takumi-rs/core";
import { isMoving } from "../../src/core/moving-pictures.ts";
import type { CardJob } from "../../src/render/card/card-fill.ts";

// A renderer without a browser, for comparison: https://github.com/kane50613/takumi. The closest card its
// subset of CSS allows: gradients and corners, the player, figures, name and number; no scene, masks, blend
// modes or grain.

const FONT = join(
  import.meta.dir,
  "../../node_modules/@fontsource/barlow-condensed/files/barlow-condensed-latin-700-normal.woff2",
);
let opened: Promise<{ renderer: Renderer; player: Uint8Array }> | undefined;

/** A card of the size and format the job asks for; the player is decoded once, as on a warm page. */
export async function takumiCard(job: CardJob): Promise<Uint8Array> {
  opened ??= open(job);
  const { renderer, player } = await opened;
  const { width, height, format } = job.card.style;
  if (isMoving(format)) throw new Error("takumi draws no pictures that move");
  const images = [{ src: "player", data: player }];
  return renderer.render(card(job), { width, height, format, quality: 90, images });
}

async function open({ cutout }: CardJob) {
  const renderer = new Renderer();
  await renderer.registerFont(await Bun.file(FONT).bytes());
  if (!cutout) throw new Error("the card for comparison shows a player");
  return { renderer, player: await Bun.file(cutout.path).bytes() };
}

function card({ card: { player, branding, style } }: CardJob): Node {
  const { width, height } = style;
  const [from, to] = [branding.primaryColor ?? "#333", branding.secondaryColor ?? "#999"];
  const text = (words: string, size: number, place: object): Node => ({
    type: "text",
    text: words,
    style: {
      position: "absolute",
      fontFamily: "Barlow Condensed",
      fontSize: size,
      fontWeight: 700,
      color: "#fff",
      ...place,
    },
  });
  const layer = (inset: number, backgroundImage: string): Node => ({
    type: "container",
    style: {
      position: "absolute",
      top: inset,
      left: inset,
      right: inset,
      bottom: inset,
      borderRadius: 40,
      backgroundImage,
    },
  });
  const pattern = Array.from({ length: 2 }, (_, n) =>
    layer(30, `linear-gradient(${60 + n * 60}deg, ${to}22 0%, transparent 40%, ${from}33 100%)`),
  );
  return {
    type: "container",
    style: { width, height, position: "relative" },
    children: [
      layer(0, "linear-gradient(120deg, #f7e7a0, #b8860b 45%, #fff4c2 60%, #8a6508)"),
      layer(14, "linear-gradient(300deg, #f7e7a0, #b8860b 45%, #fff4c2 60%, #8a6508)"),
      layer(26, `radial-gradient(circle at 50% 30%, ${to}, ${from} 60%, #111)`),
      ...pattern,
      {
        type: "image",
        src: "player",
        style: {
          position: "absolute",
          left: width * 0.1,
          top: height * 0.1,
          width: width * 0.8,
          height: height * 0.8,
          objectFit: "contain",
        },
      },
      text(String(player.skillLevel), width * 0.16, { left: width * 0.08, top: height * 0.05 }),
      text(player.position, width * 0.07, { left: width * 0.09, top: height * 0.2 }),
      {
        type: "container",
        style: {
          position: "absolute",
          left: width * 0.05,
          right: width * 0.05,
          bottom: height * 0.06,
          height: height * 0.12,
          borderRadius: 20,
          backgroundImage: `linear-gradient(90deg, ${from}, #111)`,
        },
      },
      text(`${player.number}  ${player.name}`, width * 0.085, { left: width * 0.09, bottom: height * 0.075 }),
    ],
  };
}
