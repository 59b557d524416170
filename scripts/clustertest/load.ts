import { sha256 } from "../../src/core/sha256.ts";
import { imageRequest } from "../../test/harness.ts";
import type { Answer, Client } from "./client.ts";
import type { Figures } from "./figures.ts";
import type { Node } from "./node.ts";

export interface Partner {
  accountId: string;
  name: string;
  /** The credits it was given, when it is meant to use them up. */
  limit?: number;
  keys: { live: string; test: string };
}

/** A create, or a card of one, and what its partner was answered. */
export interface Promised {
  partner: Partner;
  environment: "live" | "test";
  key: string;
  body: string;
  imageId?: string;
  /** Refused for good: for want of credits. */
  refused?: number;
  ended?: string;
  /** Of its picture, without the host. */
  address?: string;
  /** What was fetched as its picture while there were faults. */
  picture?: Picture;
}

export interface Picture {
  name: string;
  sha256: string;
  /** The headers of that answer. */
  headers: string;
}

export interface LoadOptions {
  client: Client;
  nodes: readonly Node[];
  partners: readonly Partner[];
  figures: Figures;
  random: () => number;
  photo: (n: number, chance: number) => string;
  /** Creates per second, and how many of them are live. */
  rate: number;
  liveShare: number;
}

export interface Load {
  promised: Promised[];
  /** Ids of the images of batches. */
  batched: Set<string>;
  counts: Record<"repeated" | "otherBody" | "batches" | "withheld" | "fetched" | "notFetched", number>;
  /** Begins nothing new; resolves when everything begun has been answered. */
  stop(): Promise<void>;
}

/** Answers after which a partner asks again: suspended for a while, too many calls, something is away. */
const MAY_PASS = new Set([403, 429, 503]);
const REPEATED = 0.2;
const OTHER_BODY = 0.05;
const IN_BATCHES = 0.05;
const CARDS_PER_BATCH = 3;
const POLL_MS = 2_000;
/** What cannot be fetched for longer than storage is down is looked at by the last checks. */
const FETCH_TRIES = 40;
/** More unfinished live cards than the machine makes in a few seconds would only wait. */
const MAX_UNFINISHED = 12;
const MAX_PAUSE_MS = 2_000;

/** What partners do until they are stopped. */
export function startLoad(options: LoadOptions): Load {
  const { partners, random, rate, liveShare } = options;
  const load: Load = {
    promised: [],
    batched: new Set(),
    counts: { repeated: 0, otherBody: 0, batches: 0, withheld: 0, fetched: 0, notFetched: 0 },
    stop: async () => {
      clearInterval(timer);
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
  const inFlight = new Set<Promise<void>>();
  let n = 0;
  const follow = (work: Promise<void>) => {
    const done = work.finally(() => inFlight.delete(done));
    inFlight.add(done);
  };
  const timer = setInterval(() => {
    n += 1;
    const partner = partners[n % partners.length];
    if (!partner) return;
    const environment = random() < liveShare ? "live" : "test";
    const unfinished = load.promised.filter(
      (each) => each.environment === "live" && !each.ended && !each.refused,
    );
    if (environment === "live" && unfinished.length >= MAX_UNFINISHED) {
      load.counts.withheld += 1;
      return;
    }
    if (random() < IN_BATCHES) return follow(orderBatch(options, load, partner, environment, n));
    const card = newCard(options, partner, environment, n);
    load.promised.push(card);
    follow(order(options, load, card));
  }, 1000 / rate);
  return load;
}

const SIZES = [512, 600] as const;

function bodyOf({ random, photo }: LoadOptions, n: number) {
  return imageRequest({
    player: {
      external_id: `player-${n}`,
      name: `Player ${n}`,
      number: 1 + (n % 99),
      source_image_url: photo(n, random()),
    },
    style: {
      ...{ width: 512, height: SIZES[n % SIZES.length] ?? 512, format: n % 2 === 0 ? "png" : "webp" },
      back: n % 4 === 0,
    },
  });
}

function newCard(options: LoadOptions, partner: Partner, environment: "live" | "test", n: number): Promised {
  return { partner, environment, key: `card-${n}`, body: JSON.stringify(bodyOf(options, n)) };
}

async function order(options: LoadOptions, load: Load, card: Promised): Promise<void> {
  const { random, nodes } = options;
  if (random() < REPEATED) {
    load.counts.repeated += 1;
    const some = nodes.toSorted(() => random() - 0.5).slice(0, 2);
    await Promise.all([some[0], some[1] ?? some[0]].map((to) => create(options, card, to)));
  }
  await untilAnswered(
    () => create(options, card),
    () => card.imageId !== undefined || card.refused !== undefined,
  );
  if (card.imageId === undefined) return;
  if (random() < OTHER_BODY) await sendOtherBody(options, load, card);
  await untilEnded(options, card);
  await fetchPicture(options, load, card);
}

/** Sends the create, and holds what was answered to what was answered before. */
export async function create({ client, figures }: LoadOptions, card: Promised, to?: Node): Promise<void> {
  const answer = await client("/v1/images", {
    key: card.partner.keys[card.environment],
    method: "POST",
    body: card.body,
    idempotencyKey: card.key,
    ...(to && { to }),
  });
  if (!answer) return;
  if (answer.status === 202) {
    const { image_id } = dataOf(answer);
    figures.check(
      "keys",
      card.imageId === undefined || card.imageId === image_id,
      () => `${card.key} is ${card.imageId} and ${image_id}`,
    );
    card.imageId ??= image_id;
    delete card.refused;
  } else if (answer.status === 402) {
    const isAtLimit = card.partner.limit !== undefined;
    figures.check(
      "keys",
      isAtLimit,
      () => `${card.key} of ${card.partner.name} was answered 402: ${answer.text}`,
    );
    if (card.imageId === undefined) card.refused = 402;
  } else if (!MAY_PASS.has(answer.status))
    figures.problem("keys", `${card.key} was answered ${answer.status}: ${answer.text.slice(0, 300)}`);
}

async function sendOtherBody({ client, figures }: LoadOptions, load: Load, card: Promised): Promise<void> {
  const body = JSON.stringify({ ...JSON.parse(card.body), metadata: { other: "yes" } });
  const { partner, environment, key } = card;
  const answer = await client("/v1/images", {
    key: partner.keys[environment],
    method: "POST",
    body,
    idempotencyKey: key,
  });
  if (!answer || MAY_PASS.has(answer.status)) return;
  load.counts.otherBody += 1;
  figures.check(
    "keys",
    answer.status === 409,
    () => `${key} with another body was answered ${answer.status}: ${answer.text}`,
  );
}

async function orderBatch(
  options: LoadOptions,
  load: Load,
  partner: Partner,
  environment: "live" | "test",
  n: number,
): Promise<void> {
  const cards = Array.from({ length: CARDS_PER_BATCH }, (_, i) => {
    const body = bodyOf(options, n);
    return { ...body, player: { ...body.player, external_id: `player-${n}-${i}` } };
  });
  const { client, figures } = options;
  const key = partner.keys[environment];
  const send = {
    key,
    method: "POST",
    body: JSON.stringify({ name: `Batch ${n}`, cards }),
    idempotencyKey: `batch-${n}`,
  };
  let answer: Answer | undefined;
  await untilAnswered(
    async () => {
      answer = await client("/v1/batches", send);
    },
    () => answer !== undefined && !MAY_PASS.has(answer.status),
  );
  if (answer?.status === 402 && partner.limit !== undefined) return;
  figures.check(
    "keys",
    answer?.status === 202,
    () => `batch-${n} was answered ${answer?.status}: ${answer?.text}`,
  );
  if (answer?.status !== 202) return;
  load.counts.batches += 1;
  const { images } = dataOf(answer) as { images: { image_id: string }[] };
  for (const { image_id } of images) load.batched.add(image_id);
}

/** Polls as partners do; what has ended once must not be seen otherwise again. */
async function untilEnded({ client, figures }: LoadOptions, card: Promised): Promise<void> {
  // What outlives the load is looked at by the last checks.
  for (let asked = 0; asked < 60; asked++) {
    const answer = await client(`/v1/images/${card.imageId}`, { key: card.partner.keys[card.environment] });
    if (answer?.status === 200) {
      const { status, result } = dataOf(answer);
      figures.check(
        "ends",
        card.ended === undefined || card.ended === status,
        () => `${card.imageId} was ${card.ended} and is ${status}`,
      );
      if (status !== "processing") {
        if (card.ended !== undefined) return;
        // Once more, so that another node is asked.
        card.ended = status;
        if (status === "completed") card.address = new URL(result.image_url).pathname;
        continue;
      }
    } else if (answer)
      figures.check(
        "ends",
        MAY_PASS.has(answer.status),
        () => `${card.imageId} was answered ${answer.status}`,
      );
    await Bun.sleep(POLL_MS);
  }
}

/** Fetches the picture until it comes whole: one that was broken off on its way must not look like one. */
async function fetchPicture({ client }: LoadOptions, load: Load, card: Promised): Promise<void> {
  const { address } = card;
  if (address === undefined) return;
  for (let tried = 1; tried <= FETCH_TRIES; tried++) {
    const answer = await client(address, {});
    if (answer?.status === 200) {
      load.counts.fetched += 1;
      const headers = JSON.stringify(Object.fromEntries(answer.headers));
      card.picture = {
        name: address.slice(address.lastIndexOf("/") + 1),
        sha256: sha256(answer.bytes),
        headers,
      };
      return;
    }
    load.counts.notFetched += 1;
    await Bun.sleep(POLL_MS);
  }
}

/** Asks again as a partner would, for as long as it takes. */
async function untilAnswered(ask: () => Promise<void>, isDone: () => boolean): Promise<void> {
  for (let tried = 1; !isDone(); tried++) {
    await ask();
    if (!isDone()) await Bun.sleep(Math.min(MAX_PAUSE_MS, 250 * tried));
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the load reads answers as a client in any language would.
function dataOf(answer: Answer): any {
  return JSON.parse(answer.text).data;
}
