import type { CDPSession } from "puppeteer-core";
import type { ImageFormat } from "../../core/card.ts";
import { withMetadata } from "./metadata.ts";
import { withTimeout } from "./within-time.ts";

/** High enough that gradients do not band, low enough for the web. */
const JPEG_QUALITY = 90;
const WEBP_QUALITY = 90;
const CAPTURE_TIMEOUT_MS = 12_000;

/** The picture of what a page shows, as a finished file: sized by the viewport, transparent where nothing is. */
export async function capture(session: CDPSession, format: ImageFormat): Promise<Uint8Array> {
  const quality =
    format === "jpeg" ? { quality: JPEG_QUALITY } : format === "webp" ? { quality: WEBP_QUALITY } : {};
  const shot = session.send("Page.captureScreenshot", {
    format,
    ...quality,
    optimizeForSpeed: true,
    captureBeyondViewport: false,
  });
  const { data } = await withTimeout(shot, CAPTURE_TIMEOUT_MS, "photographing the card");
  return withMetadata(Uint8Array.fromBase64(data), format);
}
