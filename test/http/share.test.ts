import { afterAll, beforeAll, expect, test } from "bun:test";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { sweep } from "../../src/app/operations/sweep.ts";
import { changeRetention } from "../../src/app/people/manage-retention.ts";
import { ImagePublishedEvent } from "../../src/http/openapi/webhook-schemas.ts";
import { ADDRESS_BUDGET } from "../../src/http/rate-limit.ts";
import { AcceptedImageResponse, ImageResponse } from "../../src/http/schemas.ts";
import { imageRequest, post, testAccount } from "../harness.ts";
import {
  expectError,
  expectShape,
  expectStandardHeaders,
  expectSuccess,
  finishAs,
  finishAsVideo,
  finishNext,
  type Json,
  send,
  type TestApi,
  testApi,
} from "./api.ts";

// What readers without a key are shown of a card: its page, its frame in another's page, and oEmbed.

const DAY_MS = 86_400_000;
const HOST = "https://cards.example.org";

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await testApi();
  key = (await testAccount(api)).testKey;
});
afterAll(() => api.close());

/** A finished card: its id, its result, and the path of its page. */
async function shared(name = "Maya Okafor", style: object = {}, more: object = {}) {
  const request = {
    ...imageRequest({
      player: { name, external_id: "secret-id" },
      style,
      metadata: { note: "secret-note" },
    }),
    ...more,
  };
  const { image_id } = await expectSuccess(await post(api.baseUrl, key, request), 202, AcceptedImageResponse);
  await renderNextTestImage(api, new AbortController().signal, () => {});
  const headers = { "X-API-Key": key };
  const { result } = await expectSuccess(
    await send(api, `/v1/images/${image_id}`, { headers }),
    200,
    ImageResponse,
  );
  return { id: image_id as string, result, path: new URL(result.share_url).pathname };
}

const oembed = (query: Record<string, string>) => send(api, `/oembed?${new URLSearchParams(query)}`);

/** What a page says of itself in `<meta>` and `<link>`. */
function headOf(html: string): Record<string, string> {
  const found: Record<string, string> = {};
  new HTMLRewriter()
    .on("meta[content]", {
      element: (meta) => {
        found[meta.getAttribute("name") ?? meta.getAttribute("property") ?? ""] =
          meta.getAttribute("content") ?? "";
      },
    })
    .on("link", {
      element: (link) => {
        found[link.getAttribute("type") ?? link.getAttribute("rel") ?? ""] = link.getAttribute("href") ?? "";
      },
    })
    .transform(html);
  return Object.fromEntries(
    Object.entries(found).map(([name, value]) => [name, value.replaceAll("&amp;", "&")]),
  );
}

test("a card's page previews it, is found by its own address alone, and says no more than the card", async () => {
  const { result, path } = await shared(`Zoë "Z" <b>`);
  const name = result.image_url
    .split("/")
    .at(-1)
    .replace(/\.\w+$/, "");
  expect(result.share_url).toBe(`${HOST}/share/${name}`);
  const response = await send(api, path);
  const html = await response.text();
  expect(response.status).toBe(200);
  expectStandardHeaders(response);
  expect(headOf(html)).toMatchObject({
    canonical: result.share_url,
    robots: "noindex",
    "og:url": result.share_url,
    "og:image": `${result.image_url}?w=512`,
    "og:image:width": "512",
    "og:image:height": "640",
    "twitter:card": "summary_large_image",
    "application/json+oembed": `${HOST}/oembed?${new URLSearchParams({ url: result.share_url, format: "json" })}`,
  });
  expect(html).toContain("<title>Zoë &quot;Z&quot; &lt;b></title>");
  expect(html).not.toContain("<b>");
  expect(html).toContain("tilts and shines.");
  for (const secret of ["secret-id", "secret-note", api.photo]) expect(html).not.toContain(secret);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "cache-control": "no-cache",
    "x-robots-tag": "noindex",
    "x-frame-options": "DENY",
  });
});

test("a page and its frame run nothing inline but a style that the policy names; only the frame may be framed", async () => {
  const { path } = await shared();
  for (const [address, ancestors] of [
    [path, "'none'"],
    [`${path}/embed`, "*"],
  ] as const) {
    const response = await send(api, address);
    const html = await response.text();
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toEndWith(`frame-ancestors ${ancestors}`);
    expect(policy).not.toContain("unsafe");
    const styles = [...html.matchAll(/<style>(.*?)<\/style>/g)].map(([, style = ""]) => style);
    const hashes = styles.map(
      (style) => `'sha256-${new Bun.CryptoHasher("sha256").update(style).digest("base64")}'`,
    );
    expect(hashes).toHaveLength(1);
    expect(policy).toContain(`style-src 'self' ${hashes[0]};`);
    expect(html).not.toMatch(/<script(?![^>]* src=)|\son\w+=|\sstyle=/);
    for (const [, file = ""] of html.matchAll(/(?:src|href)="(\/(?:share\/assets|elements|assets)\/[^"]+)"/g))
      expect((await send(api, file)).headers.get("cache-control")).toContain("immutable");
  }
  expect((await send(api, "/share/assets/other.js")).status).toBe(404);
});

test("the page of a card with layers lets them move against each other, with foil where the card has it", async () => {
  const request = imageRequest({ style: { format: "webp", layers: true } });
  const { image_id } = await expectSuccess(await post(api.baseUrl, key, request), 202, AcceptedImageResponse);
  expect(await finishAs(api, new Uint8Array(9), "image/webp")).toBe(image_id);
  const response = await send(api, `/v1/images/${image_id}`, { headers: { "X-API-Key": key } });
  const { result } = await expectSuccess(response, 200, ImageResponse);
  const attributes: Record<string, string | null> = {};
  const reader = new HTMLRewriter().on("cardpress-card", {
    element: (card) => {
      for (const name of ["layers", "foil-mask"]) attributes[name] = card.getAttribute(name);
    },
  });
  await reader.transform(await send(api, new URL(result.share_url).pathname)).text();
  const path = (address: string) => address.replace(api.config.baseUrl, "");
  expect(attributes).toEqual({
    layers: result.layers.map(path).join(" "),
    "foil-mask": path(result.foil_mask),
  });
});

test("the page of a video plays it from wherever it is served, and offers networks it and its still", async () => {
  const request = imageRequest({ style: { format: "webm" } });
  const { image_id } = await expectSuccess(await post(api.baseUrl, key, request), 202, AcceptedImageResponse);
  expect(await finishAsVideo(api, new Uint8Array(9))).toBe(image_id);
  const response = await send(api, `/v1/images/${image_id}`, { headers: { "X-API-Key": key } });
  const { result } = await expectSuccess(response, 200, ImageResponse);
  const { pathname } = new URL(result.share_url);
  const html = await (await send(api, pathname)).text();
  expect(headOf(html)).toMatchObject({
    "og:type": "video.other",
    "og:image": `${result.image_url}?w=512`,
    "og:image:type": "image/webp",
    "og:image:width": "512",
    "og:image:height": "640",
    "og:video": result.image_url,
    "og:video:type": "video/webm",
    "og:video:width": "1080",
    "og:video:height": "1350",
  });
  const path = new URL(result.image_url).pathname;
  expect(html).toContain(
    `<video class="film" src="${path}" poster="${path}?w=512" width="1080" height="1350"`,
  );
  expect(html).not.toContain("<cardpress-card");
  expect(await (await oembed({ url: result.share_url })).json()).toMatchObject({
    thumbnail_url: `${result.image_url}?w=512`,
  });

  const mediaOf = async (page: string) =>
    /media-src [^;]+/.exec((await send(api, page)).headers.get("content-security-policy") ?? "")?.[0];
  expect(await mediaOf(pathname)).toBe("media-src 'self'");
  const { cdnBaseUrl } = api.config;
  try {
    Object.assign(api.config, { cdnBaseUrl: "https://cdn.example.net/cards" });
    for (const page of [pathname, `${pathname}/embed`])
      expect(await mediaOf(page)).toBe("media-src 'self' https://cdn.example.net");
  } finally {
    Object.assign(api.config, { cdnBaseUrl });
  }
  expect(await mediaOf((await shared()).path)).toBeUndefined();
});

test("a page is gone at the second its card expires, and as soon as it is deleted", async () => {
  const expiring = await shared();
  const deleted = await shared();
  const whole = await (await send(api, expiring.path)).text();
  expect(whole).toContain("Maya Okafor");
  await send(api, `/v1/images/${deleted.id}`, { method: "DELETE", headers: { "X-API-Key": key } });
  const expectGone = async ({ path, result }: typeof expiring) => {
    for (const address of [path, `${path}/embed`]) {
      const response = await send(api, address);
      const html = await response.text();
      expect([response.status, response.headers.get("content-type")]).toEqual([
        410,
        "text/html; charset=utf-8",
      ]);
      expect(html).toContain("This card is no longer shown");
      expect(html).not.toContain("Maya");
      expectStandardHeaders(response);
    }
    const refused = await expectError(await oembed({ url: result.share_url }), "NOT_FOUND");
    expect(refused.message).toContain("no longer shown");
  };
  await expectGone(deleted);
  api.clock.advance(30 * DAY_MS - 1_000);
  expect((await send(api, expiring.path)).status).toBe(200);
  api.clock.advance(1_000);
  await expectGone(expiring);
});

test("a card with a time to be published is its owner's alone until then, and has one event", async () => {
  const publishAt = api.clock.now() + DAY_MS;
  const early = await shared("Maya Okafor", {}, { publish_at: new Date(publishAt).toISOString() });
  const view = async () => {
    const response = await send(api, `/v1/images/${early.id}`, { headers: { "X-API-Key": key } });
    return expectSuccess(response, 200, ImageResponse);
  };
  expect((await view()).publish_at).toBe(new Date(publishAt).toISOString());
  // Kept as long as others once it is out.
  expect(early.result.expires_at).toBe(new Date(publishAt + 30 * DAY_MS).toISOString());
  const publishedEvents = async () => {
    const { db, t } = api.store.read;
    const events = await db.select().from(t.webhookEvents);
    return events.filter(({ type, subject }) => type === "image.published" && subject === early.id);
  };
  const expectEarly = async () => {
    await sweep(api);
    for (const address of [early.path, `${early.path}/embed`]) {
      const response = await send(api, address);
      const html = await response.text();
      expect(response.status).toBe(404);
      expect(html).toContain("This card is still to come");
      expect(html).not.toContain("Maya");
    }
    const refused = await expectError(await oembed({ url: early.result.share_url }), "NOT_FOUND");
    expect(refused.message).toContain("not published yet");
    expect(await publishedEvents()).toEqual([]);
  };
  await expectEarly();
  api.clock.advance(DAY_MS - 1);
  await expectEarly();
  api.clock.advance(1);
  expect((await send(api, early.path)).status).toBe(200);
  expect((await oembed({ url: early.result.share_url })).status).toBe(200);
  await Promise.all([sweep(api), sweep(api)]);
  await sweep(api);
  const [event, ...more] = await publishedEvents();
  expect(more).toEqual([]);
  const body = JSON.parse(event?.body ?? "");
  expectShape(ImagePublishedEvent, body);
  expect(body.data.image_id).toBe(early.id);
  expect(await view()).not.toHaveProperty("publish_at");
  const { findings } = await audit(api.store, api.clock.now());
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
});

test("a time to be published that is none, or too far ahead, is refused, and one that has passed holds nothing back", async () => {
  const ask = (publish_at: string, of = key) =>
    post(api.baseUrl, of, { ...imageRequest({}), publish_at } as ReturnType<typeof imageRequest>);
  const faults = async (text: string) => (await expectError(await ask(text), "INVALID_REQUEST")).details;
  expect(await faults("tomorrow")).toEqual([
    { field: "publish_at", message: "must be a time such as 2026-12-06T18:00:00Z." },
  ]);
  expect(await faults(new Date(api.clock.now() + 91 * DAY_MS).toISOString())).toEqual([
    { field: "publish_at", message: "must lie at most 90 days ahead." },
  ]);
  const own = await testAccount(api);
  await changeRetention(api, own.account.id, { retentionDays: 3, forgetAfterDays: 10 }, null);
  const after = (days: number) => new Date(api.clock.now() + days * DAY_MS).toISOString();
  const lost = await expectError(await ask(after(11), own.testKey), "INVALID_REQUEST");
  const why = "the account has its cards deleted 10 days after they are made";
  const message = `must be ${after(10)} at the latest: ${why}.`;
  expect(lost.details).toEqual([{ field: "publish_at", message }]);
  // The days count from when the card was made, also where the time is changed later.
  const kept = await expectSuccess(await ask(after(9), own.testKey), 202, AcceptedImageResponse);
  await renderNextTestImage(api, new AbortController().signal, () => {});
  api.clock.advance(4 * DAY_MS);
  const moved = await expectError(await change(kept.image_id, after(7), own.testKey), "INVALID_REQUEST");
  expect(moved.details).toEqual([{ field: "publish_at", message }]);
  expect((await changed(kept.image_id, after(6), own.testKey)).publish_at).toBe(after(6));
  const past = await shared("Maya Okafor", {}, { publish_at: new Date(api.clock.now()).toISOString() });
  expect((await send(api, past.path)).status).toBe(200);
});

const change = (id: string, publish_at: unknown, by = key) =>
  send(api, `/v1/images/${id}`, {
    method: "PATCH",
    headers: { "X-API-Key": by, "Content-Type": "application/json" },
    body: JSON.stringify({ publish_at }),
  });
const changed = async (...asked: Parameters<typeof change>): Promise<Json> =>
  expectSuccess(await change(...asked), 200, ImageResponse);
const publications = async (id: string) => {
  const { db, t } = api.store.read;
  const events = await db.select().from(t.webhookEvents);
  return events.filter(({ type, subject }) => type === "image.published" && subject === id).length;
};
const iso = (time: number) => new Date(time).toISOString();

test("a time to be published is moved and lifted until it has come, and is announced once all the same", async () => {
  const first = api.clock.now() + DAY_MS;
  const card = await shared("Maya Okafor", {}, { publish_at: iso(first) });
  const later = first + DAY_MS;
  for (let n = 0; n < 2; n++) {
    const { publish_at, result } = await changed(card.id, iso(later));
    expect([publish_at, result.expires_at]).toEqual([iso(later), iso(later + 30 * DAY_MS)]);
  }
  api.clock.advance(DAY_MS);
  await sweep(api);
  expect([(await send(api, card.path)).status, await publications(card.id)]).toEqual([404, 0]);
  // Made again it has the new time too, and not the one that has passed.
  const remake = await send(api, `/v1/images/${card.id}/remake`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json", "Idempotency-Key": "put-off" },
    body: "{}",
  });
  const { image_id } = await expectSuccess(remake, 202, AcceptedImageResponse);
  const again = await send(api, `/v1/images/${image_id}`, { headers: { "X-API-Key": key } });
  expect((await expectSuccess(again, 200, ImageResponse)).publish_at).toBe(iso(later));
  await renderNextTestImage(api, new AbortController().signal, () => {});
  expect((await expectError(await change(card.id, "soon"), "INVALID_REQUEST")).details).toEqual([
    { field: "publish_at", message: "must be a time such as 2026-12-06T18:00:00Z." },
  ]);
  const far = await expectError(await change(card.id, iso(api.clock.now() + 91 * DAY_MS)), "INVALID_REQUEST");
  expect(far.details?.[0]?.message).toBe("must lie at most 90 days ahead.");
  await expectError(await change(card.id, undefined), "INVALID_REQUEST");
  const stranger = await testAccount(api);
  for (const other of [stranger.testKey, stranger.liveKey])
    await expectError(await change(card.id, null, other), "IMAGE_NOT_FOUND");
  const [lifted] = await Promise.all([changed(card.id, null), changed(card.id, null), sweep(api)]);
  expect(lifted).not.toHaveProperty("publish_at");
  expect(lifted.result.expires_at).toBe(iso(api.clock.now() + 30 * DAY_MS));
  expect((await send(api, card.path)).status).toBe(200);
  expect(await changed(card.id, null)).toEqual(lifted);
  const refused = await expectError(await change(card.id, iso(later)), "INVALID_REQUEST");
  expect(refused.details).toEqual([
    {
      field: "publish_at",
      code: "already_published",
      message: "cannot be changed: the card is published. Delete it to take it down.",
    },
  ]);
  // At its own time, which the sweep has not looked at yet, it is published as well.
  api.clock.advance(DAY_MS);
  await expectError(await change(image_id, iso(later + DAY_MS)), "INVALID_REQUEST");
  await sweep(api);
  expect([await publications(card.id), await publications(image_id)]).toEqual([1, 1]);
  const { findings } = await audit(api.store, api.clock.now());
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
});

test("a card that fails is never published, whatever its time was moved to while it was made", async () => {
  const { liveKey } = await testAccount(api);
  const made = await post(api.baseUrl, liveKey, imageRequest({ player: { source_image_url: api.photo } }));
  const { image_id: id } = await expectSuccess(made, 202, AcceptedImageResponse);
  const at = iso(api.clock.now() + DAY_MS);
  expect((await changed(id, at, liveKey)).publish_at).toBe(at);
  expect(await changed(id, null, liveKey)).not.toHaveProperty("publish_at");
  expect((await changed(id, at, liveKey)).publish_at).toBe(at);
  await finishNext(api, "refused");
  const refused = await expectError(await change(id, null, liveKey), "INVALID_REQUEST");
  expect(refused.details?.[0]?.message).toBe(
    "cannot be set: the image failed, and is never published. Make it again.",
  );
  api.clock.advance(DAY_MS);
  await sweep(api);
  expect(await publications(id)).toBe(0);
  const failed = await send(api, `/v1/images/${id}`, { headers: { "X-API-Key": liveKey } });
  const view = await expectSuccess(failed, 200, ImageResponse);
  expect(view.status).toBe("failed");
  expect(view).not.toHaveProperty("publish_at");
});

test("a name that is not whole, or of another card, opens nothing, and guesses are limited by address", async () => {
  const { path, id } = await shared();
  const other = await shared();
  const guess = `/share/${id}-${other.path.split("-").at(-1)}`;
  for (const wrong of [`/share/${id}`, `${path}.png`, path.slice(0, -1), `${path}0`, guess, "/share/%00"]) {
    const response = await send(api, wrong);
    expect([wrong, response.status]).toEqual([wrong, 404]);
    expect(await response.text()).toContain("There is nothing here");
  }
  const ask = () => send(api, guess, { headers: { "X-Forwarded-For": "203.0.113.7" } });
  for (let n = 0; n < ADDRESS_BUDGET && (await ask()).status === 404; n++);
  const limited = await ask();
  expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  expect(await limited.text()).toContain("Wait a minute");
  // Cards that are there are shown all the same: a stadium may share one address.
  expect((await send(api, path)).status).toBe(200);
  api.clock.advance(60_000);
});

test("oEmbed gives a frame within the bounds asked for, in the card's shape", async () => {
  const { result } = await shared("Maya Okafor", { width: 1024, height: 1280 });
  const ask = async (query: Record<string, string> = {}): Promise<Json> => {
    const response = await oembed({ url: result.share_url, ...query });
    expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
    return response.json();
  };
  const whole = await ask({ format: "json" });
  expect(whole).toEqual({
    version: "1.0",
    type: "rich",
    title: "Maya Okafor",
    provider_name: "cards.example.org",
    provider_url: HOST,
    cache_age: 3_600,
    thumbnail_url: `${result.image_url}?w=512`,
    thumbnail_width: 512,
    thumbnail_height: 640,
    html: expect.stringContaining(`<iframe src="${result.share_url}/embed" width="360" height="450"`),
    width: 360,
    height: 450,
  });
  expect(await ask({ maxwidth: "200" })).toMatchObject({ width: 200, height: 250 });
  expect(await ask({ maxwidth: "300", maxheight: "200" })).toMatchObject({ width: 160, height: 200 });
  const narrow = await ask({ maxwidth: "300" });
  expect([narrow.thumbnail_url, narrow.thumbnail_width]).toEqual([`${result.image_url}?w=256`, 256]);
  expect(await ask({ maxwidth: "100" })).not.toHaveProperty("thumbnail_url");
  api.clock.advance(29.99 * DAY_MS);
  expect((await ask()).cache_age).toBe(864);
});

test("oEmbed refuses XML with 501, and says what is wrong with an address or a bound", async () => {
  const { result } = await shared();
  const xml = await oembed({ url: result.share_url, format: "xml" });
  expect([xml.status, await xml.text()]).toEqual([501, expect.stringContaining("format=json")]);
  const refused = await expectError(await oembed({ maxwidth: "0", maxheight: "1e3" }), "INVALID_REQUEST");
  expect(refused.details.map(({ field }: Json) => field)).toEqual([
    "query maxwidth",
    "query maxheight",
    "query url",
  ]);
  for (const url of [
    "https://elsewhere.example/share/x",
    result.share_url.replace(HOST, "https://elsewhere.example"),
    `${HOST}/docs`,
    "no address",
    result.image_url,
  ])
    expect((await expectError(await oembed({ url }), "NOT_FOUND")).message).toContain("share_url");
});
