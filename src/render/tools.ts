import type { Browser } from "puppeteer-core";
import packageJson from "../../package.json" with { type: "json" };
import { sha256 } from "../core/sha256.ts";
import { BUILD } from "../version.ts";
import type { MatteModel } from "./photo/matte-model.ts";
import { VISION_VERSION } from "./photo/photo.ts";

/** The versions that determine a picture's bytes, for its receipt. */
export async function toolsOf(
  browser: Browser,
  matteModel: MatteModel | null = null,
): Promise<Record<string, string>> {
  return {
    cardpress: BUILD,
    chromium: await browser.version(),
    // The networks and rules of cutting out share one version number.
    vision: VISION_VERSION,
    ...(matteModel ? { matte_model_sha256: matteModel.sha256 } : {}),
    fonts: fontsDigest(),
  };
}

/** A short hash over the versions of all bundled fonts. */
function fontsDigest(): string {
  const fonts = Object.entries(packageJson.dependencies).filter(([name]) => name.startsWith("@fontsource"));
  return sha256(JSON.stringify(fonts.sort())).slice(0, 16);
}
