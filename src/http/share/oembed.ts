import type { AppContext } from "../../app/context.ts";
import { SHARED_PATHS } from "../../core/api-paths.ts";
import { basePathOf, withoutBasePath } from "../../core/base-path.ts";
import { type ErrorDetail, Refusal } from "../../core/errors.ts";
import { invalidRequest, rateLimitExceeded } from "../../core/partner-refusals.ts";
import { standardHeaders } from "../envelope.ts";
import type { Exchange } from "../exchange.ts";
import { type RateLimiter, secondsLeft } from "../rate-limit.ts";
import { countMiss } from "./misses.ts";
import { findSharedCard, type SharedCard, thumbnail } from "./shared-card.ts";

/** How wide a card is shown where nothing is asked for: as phones are, with a margin. */
const FRAME_WIDTH = 360;
/** Pixels across which a page may ask for: no screen has more. */
const MAX_FRAME_PX = 10_000;
/** Seconds for which a page may keep an answer: the frame it names shows by itself when the card ends. */
const MAX_CACHE_S = 3_600;

/** GET /oembed, by oembed.com: how another's page embeds the card whose page is at `url`. */
export async function answerOembed(
  deps: AppContext & { limiter: RateLimiter },
  exchange: Exchange,
): Promise<Response> {
  const { store, config, clock } = deps;
  const { searchParams } = exchange.url;
  // 501 is what oEmbed asks for here.
  if ((searchParams.get("format") ?? "json") !== "json")
    return plain(exchange, 501, "This service answers oEmbed in JSON alone. Ask with format=json.");
  const details: ErrorDetail[] = [];
  const bound = (name: string) => {
    const text = searchParams.get(name);
    if (text === null) return Infinity;
    if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_FRAME_PX) return Number(text);
    details.push({ field: `query ${name}`, message: `must be a whole number from 1 to ${MAX_FRAME_PX}.` });
    return Infinity;
  };
  const bounds = { width: bound("maxwidth"), height: bound("maxheight") };
  const url = searchParams.get("url");
  if (url === null)
    details.push({
      field: "query url",
      message: "is required: the address of a card's page, as in share_url.",
    });
  if (details.length > 0) throw invalidRequest(details);
  const name = cardIn(url ?? "", config.baseUrl);
  const card = await findSharedCard(store.read, name, { config, now: clock.now() });
  if (typeof card === "object") return embedding(exchange, card, { bounds, now: clock.now(), config });
  const rate = card === "unknown" ? await countMiss(deps, exchange) : exchange.rate;
  if (rate.exceeded) throw rateLimitExceeded(rate.limit, secondsLeft(rate, clock.now()));
  throw new Refusal(
    "NOT_FOUND",
    card === "gone"
      ? "The card of this page is no longer shown: it expired or was deleted."
      : card === "early"
        ? "The card of this page is not published yet. Ask again later."
        : `There is no card page at this address. Give the share_url of a completed image, such as ${config.baseUrl}/share/img_….`,
  );
}

/** The card's name in its page's address; empty text, which no card is called, in any other. */
function cardIn(text: string, baseUrl: string): string {
  const url = URL.parse(text);
  const path = withoutBasePath(url?.pathname ?? "", basePathOf(baseUrl)) ?? "";
  const [, name = ""] = new RegExp(`^${SHARED_PATHS.card.replace("{card}", "([^/]+)")}/?$`).exec(path) ?? [];
  const isOurs = url?.host === new URL(baseUrl).host && /^https?:$/.test(url.protocol);
  return isOurs ? name : "";
}

interface Bounds {
  width: number;
  height: number;
}

function embedding(
  exchange: Exchange,
  card: SharedCard,
  { bounds, now, config }: { bounds: Bounds; now: number; config: { baseUrl: string } },
): Response {
  const small = thumbnail(card, bounds);
  const body = {
    version: "1.0",
    type: "rich",
    title: card.name,
    provider_name: new URL(config.baseUrl).hostname,
    provider_url: config.baseUrl,
    cache_age: Math.min(MAX_CACHE_S, Math.floor((card.expiresAt - now) / 1000)),
    ...(small && { thumbnail_url: small.url, thumbnail_width: small.width, thumbnail_height: small.height }),
    ...embedOf(card, bounds),
  };
  return new Response(JSON.stringify(body), {
    headers: {
      ...PUBLIC_HEADERS,
      ...standardHeaders(exchange),
      "Content-Type": "application/json; charset=utf-8",
    },
  });
}

/** What another's page writes to show the card: a frame in its shape, which may ask how the phone is held. */
export function embedOf(
  { name, frameUrl, width: ownWidth, height: ownHeight }: SharedCard,
  bounds: Bounds = { width: Infinity, height: Infinity },
) {
  const ratio = ownWidth / ownHeight;
  const width = Math.max(1, Math.floor(Math.min(FRAME_WIDTH, bounds.width, bounds.height * ratio)));
  const height = Math.max(1, Math.min(bounds.height, Math.round(width / ratio)));
  const title = Bun.escapeHTML(`The card of ${name}`);
  const html = `<iframe src="${Bun.escapeHTML(frameUrl)}" width="${width}" height="${height}" title="${title}" frameborder="0" scrolling="no" loading="lazy" allow="accelerometer; gyroscope"></iframe>`;
  return { html, width, height };
}

/** Pages ask from anywhere, also by script. */
const PUBLIC_HEADERS = {
  "Access-Control-Allow-Origin": "*",
  "Cache-Control": "no-cache",
  "X-Content-Type-Options": "nosniff",
  "X-Robots-Tag": "noindex",
};

function plain(exchange: Exchange, status: number, text: string): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { ...PUBLIC_HEADERS, ...standardHeaders(exchange), "Content-Type": "text/plain; charset=utf-8" },
  });
}
