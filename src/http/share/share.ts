import type { AppContext } from "../../app/context.ts";
import { nothingAt } from "../../core/partner-refusals.ts";
import { PAGE_HEADERS } from "../../web/policy.ts";
import { standardHeaders } from "../envelope.ts";
import type { Exchange } from "../exchange.ts";
import { type RateLimiter, secondsLeft } from "../rate-limit.ts";
import { SHARE_ASSETS } from "./assets.ts";
import { countMiss } from "./misses.ts";
import { answerOembed } from "./oembed.ts";
import { frameOfCard, missingPage, sharePage } from "./share-page.tsx";
import { findSharedCard, ratioStyle, type SharedCard } from "./shared-card.ts";

export interface ShareDeps extends AppContext {
  limiter: RateLimiter;
}

type Params = Record<string, string>;

/** The handlers of what readers without a key are shown of a card. */
export function shareHandlers(deps: ShareDeps) {
  return {
    shareCard: (exchange: Exchange, { card = "" }: Params) => answerPage(deps, exchange, card, false),
    shareCardFrame: (exchange: Exchange, { card = "" }: Params) => answerPage(deps, exchange, card, true),
    shareAsset: (exchange: Exchange) => {
      const file = SHARE_ASSETS.answer(exchange.request, exchange.url, standardHeaders(exchange));
      if (!file) throw nothingAt(exchange.url.pathname);
      return file;
    },
    oembed: (exchange: Exchange) => answerOembed(deps, exchange),
  };
}

const STATUS = { gone: 410, unknown: 404, busy: 429 } as const;

/** GET /share/{card}: the page of a card, or the card alone for a frame. */
async function answerPage(
  deps: ShareDeps,
  exchange: Exchange,
  name: string,
  isFrame: boolean,
): Promise<Response> {
  const { store, config, clock } = deps;
  const card = await findSharedCard(store.read, name, { config, now: clock.now() });
  if (typeof card === "object")
    return page(exchange, isFrame ? frameOfCard(card) : sharePage(card), { card, isFrame });
  const rate = card === "unknown" ? await countMiss(deps, exchange) : exchange.rate;
  const why = rate.exceeded ? "busy" : card;
  const response = page({ ...exchange, rate }, missingPage(why, isFrame), { status: STATUS[why], isFrame });
  if (why === "busy") response.headers.set("Retry-After", String(secondsLeft(rate, clock.now())));
  return response;
}

function page(
  exchange: Exchange,
  body: string,
  options: { card?: SharedCard; isFrame: boolean; status?: number },
): Response {
  const headers = new Headers({ ...standardHeaders(exchange), ...PAGE_HEADERS });
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", policy(options));
  headers.set("X-Robots-Tag", "noindex");
  // What is deleted is gone at the next look.
  headers.set("Cache-Control", "no-cache");
  if (options.isFrame) headers.delete("X-Frame-Options");
  return new Response(body, { status: options.status ?? 200, headers });
}

/** The page's own files, and the pictures from wherever they are served; nothing inline but its one style. */
function policy({ card, isFrame }: { card?: SharedCard; isFrame: boolean }): string {
  const pictures = card?.picture.startsWith("/") === false ? ` ${new URL(card.picture).origin}` : "";
  const style = card
    ? ` 'sha256-${new Bun.CryptoHasher("sha256").update(ratioStyle(card)).digest("base64")}'`
    : "";
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${style}`,
    `img-src 'self'${pictures}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    `frame-ancestors ${isFrame ? "*" : "'none'"}`,
  ].join("; ");
}
