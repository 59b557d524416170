import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import os from "node:os";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import type {
  AskedComposition,
  CardInput,
  CutoutFile,
  ImageFormat,
  Position,
} from "../../../src/core/card.ts";
import { launchBrowser } from "../../../src/render/browser/browser.ts";
import { findChromium } from "../../../src/render/browser/chromium.ts";
import { sharedBrowser } from "../../shared-browser.ts";

/** What a test says about a card; the rest is ordinary. */
export interface CardSpec {
  name?: string;
  position?: Position;
  number?: number;
  skill?: number;
  width?: number;
  height?: number;
  format?: ImageFormat;
  theme?: string;
  primary?: string;
  secondary?: string;
  composition?: AskedComposition;
}

export function cardInput(spec: CardSpec = {}): CardInput {
  return {
    player: {
      name: spec.name ?? "Eileen Collins",
      position: spec.position ?? "ST",
      number: spec.number ?? 10,
      skillLevel: spec.skill ?? 88,
    },
    style: {
      preset: "club_card",
      width: spec.width ?? 512,
      height: spec.height ?? 640,
      format: spec.format ?? "png",
      ...(spec.composition === undefined ? {} : { composition: spec.composition }),
      ...(spec.theme === undefined ? {} : { backgroundTheme: spec.theme }),
    },
    branding: {
      ...(spec.primary ? { primaryColor: spec.primary } : {}),
      ...(spec.secondary ? { secondaryColor: spec.secondary } : {}),
    },
  };
}

const CUTOUTS = join(import.meta.dir, "../../fixtures/cutouts");
export const CUTOUT_NAMES = ["astronaut", "man", "yoga", "skier"] as const;

export async function cutout(name: (typeof CUTOUT_NAMES)[number]): Promise<CutoutFile> {
  const description = await readFile(join(CUTOUTS, `${name}.json`), "utf8");
  return { path: join(CUTOUTS, `${name}.webp`), ...JSON.parse(description) };
}

/** The Chromium that the files of a process share; what one opened in it is closed by `closePages`. */
export const openBrowser = (): Promise<Browser> => sharedBrowser(launchCardBrowser);

export async function closePages(): Promise<void> {
  const browser = await openBrowser();
  await Promise.allSettled((await browser.pages()).map((page) => page.close()));
}

/** A Chromium of its own for tests and tools, which run as root here and there. */
export async function launchCardBrowser(): Promise<Browser> {
  const cacheDir = join(os.tmpdir(), "cardpress-test-cache");
  mkdirSync(cacheDir, { recursive: true });
  const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
  return launchBrowser({ chromium, profilesDir: os.tmpdir(), noSandbox: process.getuid?.() === 0 });
}

/** Names that have broken cards before, or will. */
export const NAMES: Record<string, string> = {
  short: "Xi",
  one: "Ø",
  plain: "Marcus Rashford",
  long: "Pierre-Emerick Emiliano François Aubameyang",
  longest: `Maximiliano ${"Wolfeschlegelsteinhausen ".repeat(4)}`.slice(0, 100),
  unbroken: "A".repeat(100),
  german: "Jürgen Groß-Weiß",
  turkish: "İlkay Gündoğan Işık",
  dotted: "İlkay",
  ring: "Åse Ñíguez",
  icelandic: "Þórður Guðjónsson",
  vietnamese: "Nguyễn Quang Hải",
  polish: "Wojciech Szczęsny Żółć",
  greek: "Γιώργος Καραγκούνης",
  cyrillic: "Андрей Шевченко",
  arabic: "محمد صلاح حامد",
  hebrew: "ערן זהבי",
  persian: "علی دایی",
  hindi: "सुनील छेत्री",
  thai: "ชนาธิป สรงกระสินธ์",
  bengali: "জামাল ভূঁইয়া",
  tamil: "மைக்கேல் சூசைராஜ்",
  georgian: "ხვიჩა კვარაცხელია",
  armenian: "Հենրիխ Մխիթարյան",
  amharic: "ጌታነህ ከበደ",
  burmese: "အောင်သူ",
  burmeseLong: "အောင်ဆန်းစုကြည် ကျော်ကိုကို အောင်သူ မောင်မောင်",
  accentsCut:
    "Maximilian Alexander Ferdinand von Hohenzollern-Sigmaringen und Württemberg-Öttingen der Übernächste",
  khmer: "ច័ន្ទ វឌ្ឍនាកា",
  chinese: "孙兴慜",
  chineseLong: "武磊与张琳芃和郑智",
  traditional: "陳肇麒",
  japanese: "三笘 薫",
  kana: "みとま カオル",
  korean: "손흥민",
  emoji: "Neymar 👑🔥 Jr",
  mixed: "José 大坂 Ахмед",
  zalgo: `Z${"\u0301".repeat(100)}lgo`,
  html: "<b onload=x>Tom</b> & <script>",
};
