import type { AppContext } from "../../app/context.ts";
import { nothingAt } from "../../core/partner-refusals.ts";
import { standardHeaders } from "../envelope.ts";
import type { Exchange } from "../exchange.ts";
import { type RateLimiter, secondsLeft } from "../rate-limit.ts";
import { SHARE_ASSETS } from "./assets.ts";
import { readGallery } from "./gallery.ts";
import { galleryPage } from "./gallery-page.tsx";
import { countMiss } from "./misses.ts";
import { answerOembed } from "./oembed.ts";
import { publicPage } from "./public-page.ts";
import { frameOfCard, missingPage, sharePage } from "./share-page.tsx";
import { findSharedCard, ratioStyle } from "./shared-card.ts";

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
    gallery: (exchange: Exchange, { gallery = "" }: Params) => answerGallery(deps, exchange, gallery),
    oembed: (exchange: Exchange) => answerOembed(deps, exchange),
  };
}

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
    return publicPage(exchange, isFrame ? frameOfCard(card) : sharePage(card), {
      isFrame,
      style: ratioStyle(card),
      picture: card.picture,
      hasVideo: card.isVideo,
    });
  return card === "unknown"
    ? unknownPage(deps, exchange, { isFrame })
    : publicPage(exchange, missingPage(card, isFrame), { status: card === "gone" ? 410 : 404, isFrame });
}

/** For a name that nobody was given; such a request counts. */
async function unknownPage(deps: ShareDeps, exchange: Exchange, { isFrame }: { isFrame: boolean }) {
  const rate = await countMiss(deps, exchange);
  const why = rate.exceeded ? "busy" : "unknown";
  const status = rate.exceeded ? 429 : 404;
  const response = publicPage({ ...exchange, rate }, missingPage(why, isFrame), { status, isFrame });
  if (rate.exceeded) response.headers.set("Retry-After", String(secondsLeft(rate, deps.clock.now())));
  return response;
}

/** GET /gallery/{gallery}: the cards of a set whose account opened it to the public. */
async function answerGallery(deps: ShareDeps, exchange: Exchange, name: string): Promise<Response> {
  const { store, config, clock } = deps;
  const from = exchange.url.searchParams.get("from") ?? "";
  const gallery = await readGallery(store.read, name, {
    config,
    now: clock.now(),
    from: /^\d{1,4}$/.test(from) ? Number(from) : 0,
  });
  if (!gallery) return unknownPage(deps, exchange, { isFrame: true });
  const picture = gallery.cards[0]?.picture;
  return publicPage(exchange, galleryPage(gallery), { isFrame: true, picture });
}
