import type { CDPSession, Page } from "puppeteer-core";
import type { Box, CutoutFile } from "../../core/card.ts";
import { readPageScripts } from "../../system/page-scripts.ts" with { type: "macro" };
import type { LoadedTemplate } from "../../templates/load.ts";
import { PAGE_ORIGIN } from "../browser/browser.ts";
import type { CardPage } from "../card/page.ts";
import { type FontFace, libraryFaces, missingCharacters } from "./glyphs.ts";
import type { Inspection, TextInspection } from "./messages.ts";

const SCRIPTS: Record<string, string> = readPageScripts("render/preview/page");

interface Shown {
  page: CardPage;
  template: LoadedTemplate;
  refused: ReadonlySet<string>;
}

type PageText = Omit<TextInspection, "usedFamilies" | "missing" | "contrast"> & { index: number };

interface PageLook
  extends Pick<Inspection, "card" | "zones" | "player" | "trim" | "marks" | "brokenPictures"> {
  texts: PageText[];
  faces: FontFace[];
}

/** Inspects the card that the page shows. */
export async function inspectCard(
  { page: { page }, template, refused }: Shown,
  { cutout, contrast }: { cutout: CutoutFile | null; contrast: boolean },
): Promise<Inspection> {
  if (!(await page.evaluate("globalThis.cardpressLook !== undefined")))
    // Wrapped in a block to keep its names out of the page's global scope.
    await page.evaluate(`{${SCRIPTS["look.ts"]}}`);
  const session = await page.createCDPSession();
  try {
    const look = (await page.evaluate("globalThis.cardpressLook.look()")) as PageLook;
    // When measuring contrast, hundreds of cards are inspected in a row and their fonts are not used.
    const used = contrast ? new Map<number, string[]>() : await usedFamilies(session);
    await page.evaluate("globalThis.cardpressLook.unmark()");
    const contrasts = contrast ? await measureContrasts(page, session, look.texts) : [];
    return {
      card: look.card,
      zones: look.zones,
      player: look.player,
      face: cutout && look.player ? realFace(cutout, look.player) : null,
      trim: look.trim,
      marks: look.marks,
      brokenPictures: look.brokenPictures,
      refusedAddresses: [...refused].map((address) => address.replace(PAGE_ORIGIN, "")),
      texts: look.texts.map(({ index, ...text }, i) => ({
        ...text,
        usedFamilies: used.get(index) ?? [],
        missing: missingCharacters(
          text.text,
          text.families,
          [...look.faces, ...libraryFaces()],
          template.files,
        ),
        contrast: contrasts[i] ?? null,
      })),
    };
  } finally {
    await session.detach();
  }
}

/** The families whose glyphs the browser actually used, by the number of the text. */
async function usedFamilies(session: CDPSession): Promise<Map<number, string[]>> {
  const used = new Map<number, string[]>();
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { root } = await session.send("DOM.getDocument", { depth: 0 });
  const selector = "[data-cardpress-look]";
  const { nodeIds } = await session.send("DOM.querySelectorAll", { nodeId: root.nodeId, selector });
  await Promise.all(
    nodeIds.map(async (nodeId) => {
      const { attributes } = await session.send("DOM.getAttributes", { nodeId });
      const { fonts } = await session.send("CSS.getPlatformFontsForNode", { nodeId });
      const index = Number(attributes[attributes.indexOf("data-cardpress-look") + 1]);
      used.set(index, [...new Set(fonts.map((font) => font.familyName))]);
    }),
  );
  await session.send("CSS.disable");
  await session.send("DOM.disable");
  return used;
}

/** What page/look.ts provides in the page. */
interface InPage {
  cardpressLook: {
    contrastsInCanvas(boxes: Box[]): Promise<(number | null)[] | null>;
    contrastsOfShots(withText: string, without: string, boxes: Box[]): Promise<(number | null)[]>;
  };
}

async function measureContrasts(
  page: Page,
  session: CDPSession,
  texts: PageText[],
): Promise<(number | null)[]> {
  const boxes = texts.map((text) => text.ink);
  const painted = await page.evaluate(
    (all) => (globalThis as unknown as InPage).cardpressLook.contrastsInCanvas(all),
    boxes,
  );
  if (painted) return painted;
  const capture = async () =>
    (
      await session.send("Page.captureScreenshot", {
        format: "png",
        optimizeForSpeed: true,
        captureBeyondViewport: false,
      })
    ).data;
  const withText = await capture();
  await page.evaluate("globalThis.cardpressLook.hideTexts()");
  try {
    const without = await capture();
    return await page.evaluate(
      (...given) => (globalThis as unknown as InPage).cardpressLook.contrastsOfShots(...given),
      withText,
      without,
      boxes,
    );
  } finally {
    await page.evaluate("globalThis.cardpressLook.showTexts()");
  }
}

/** Where the photo's face ended up, brow to chin. */
function realFace({ framing, width, height }: CutoutFile, player: Box): Box | null {
  if (!framing.face) return null;
  const [across, down] = [player.width / width, player.height / height];
  return {
    x: player.x + framing.face.x * across,
    y: player.y + framing.face.y * down,
    width: framing.face.width * across,
    height: framing.face.height * down,
  };
}
