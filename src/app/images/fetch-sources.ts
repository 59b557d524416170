import type { Environment } from "../../core/account.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { dailyBytesSpent } from "../../core/partner-refusals.ts";
import type { FetchedSource, SourceFetcher, SourceRequest } from "../../sources/fetch-source.ts";
import type { FieldPictures } from "../../store/images/image-pictures.ts";
import type { Account } from "../../store/people/accounts.ts";
import { imageFields } from "../../templates/fields.ts";
import type { TemplateManifest } from "../../templates/manifest.ts";
import type { AppContext } from "../context.ts";
import type { DailyBytes } from "./daily-bytes.ts";
import type { FetchGate } from "./fetch-gate.ts";
import type { SourceHold } from "./source-keeper.ts";

export interface FetchSourcesDeps extends AppContext {
  sources: SourceFetcher;
  gate: FetchGate;
  /** Daily budget for fetched photos and badges. */
  sourceBytes: DailyBytes;
}

export interface FetchedSources {
  photo: Pick<FetchedSource, "sha256"> | null;
  badge: Pick<FetchedSource, "sha256"> | null;
  /** Those of the template's own fields, by their names. */
  pictures: FieldPictures;
}

interface FetchFor {
  accountId: string;
  environment: Environment;
  request: CreateImageRequest;
  /** Of the template that the card is made with. */
  template: Pick<TemplateManifest, "fields">;
  /** Aborts the fetch, because nobody wants it any more. */
  signal?: AbortSignal;
}

/** Fetches all in parallel; when one is unusable the others are aborted. */
export async function fetchSources(
  deps: FetchSourcesDeps,
  { accountId, environment, request, template, signal }: FetchFor,
  hold: SourceHold,
): Promise<FetchedSources> {
  const giveUp = new AbortController();
  const ended = signal ? AbortSignal.any([signal, giveUp.signal]) : giveUp.signal;
  const fetchInSlot = async (fetch: (options: SourceRequest) => Promise<FetchedSource>) => {
    try {
      const source = await deps.gate.run(accountId, async () => {
        ended.throwIfAborted();
        const startedAt = deps.clock.elapsed();
        const fetched = fetch({ account: accountId, environment, signal: ended, watcher: hold });
        const note = (end: string) => () =>
          deps.meter.time(
            "cardpress_source_fetch_seconds",
            { end },
            (deps.clock.elapsed() - startedAt) / 1000,
          );
        fetched.then(note("fetched"), note("refused"));
        return fetched;
      });
      await deps.sourceBytes.spend(accountId, source.bytes);
      return source;
    } catch (error) {
      giveUp.abort(error);
      throw ended.reason;
    }
  };
  const badgeUrl = request.branding?.club_badge_url;
  const pictures = imageFields(template.fields).flatMap((field) => {
    const url = request.fields?.[field];
    if (typeof url !== "string") return [];
    const fetch = (options: SourceRequest) => deps.sources.fetchPicture(`fields.${field}`, url, options);
    return [fetchInSlot(fetch).then(({ sha256 }) => [field, sha256] as const)];
  });
  const [photo, badge, shown] = await Promise.allSettled([
    fetchInSlot((options) => deps.sources.fetchPhoto(request.player.source_image_url, options)),
    badgeUrl === undefined ? null : fetchInSlot((options) => deps.sources.fetchBadge(badgeUrl, options)),
    Promise.all(pictures),
  ]);
  // What else was begun ends too, before its sources are let go.
  await Promise.allSettled(pictures);
  // The first failure is the reason reported for all.
  if (photo.status === "rejected") throw photo.reason;
  if (badge.status === "rejected") throw badge.reason;
  if (shown.status === "rejected") throw shown.reason;
  return { photo: photo.value, badge: badge.value, pictures: Object.fromEntries(shown.value) };
}

/** Throws RATE_LIMIT_EXCEEDED when the account has used up today's bytes of `what`. */
export async function refuseWhenSpent(
  bytes: DailyBytes,
  account: Account,
  limit: number,
  what: string,
): Promise<void> {
  if ((await bytes.spent(account.id)) >= limit) throw dailyBytesSpent(limit, what, bytes.secondsLeft());
}
