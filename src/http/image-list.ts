import type { AppContext } from "../app/context.ts";
import { imageListItem } from "../app/images/image-view.ts";
import type { ErrorDetail } from "../core/errors.ts";
import { PUBLIC_STATUSES } from "../core/image-state.ts";
import { MAX_METADATA_FILTER_KEY_CHARS } from "../core/limits.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import {
  type FilteredQuery,
  filteredImages,
  type ImageFilters,
  type ImagePage,
} from "../store/images/image-filters.ts";
import { isFilterKey } from "../store/images/image-metadata.ts";
import { type ListQuery, listImageRows } from "../store/images/image-reads.ts";
import type { Tx } from "../store/store.ts";
import type { Caller } from "./auth.ts";
import { encodeCursor, readCursor } from "./cursor.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { readLimit, readQuery, readSpan } from "./query.ts";

const PARAMETERS = [
  "status",
  "external_id",
  "batch_id",
  "current",
  "created_after",
  "created_before",
  "limit",
  "after",
] as const;

/** In front of a key of the metadata. */
const METADATA = "metadata.";

/** GET /v1/images */
export async function listImagesPage(
  { store }: Pick<AppContext, "store">,
  exchange: Exchange,
  caller: Caller,
): Promise<Response> {
  const { values, family, details } = readQuery(exchange.url, PARAMETERS, METADATA);
  const status = PUBLIC_STATUSES.find((known) => known === values.status);
  if (status !== values.status) {
    details.push({ field: "query status", message: `must be one of ${PUBLIC_STATUSES.join(", ")}.` });
  }
  if (values.current === "true" && status !== undefined && status !== "completed")
    details.push({ field: "query status", message: "must be completed or left out beside current=true." });
  const limit = readLimit(values.limit, details);
  const filters = readFilters(values, family, details);
  const scope = { accountId: caller.account.id, environment: caller.environment };
  const filter = { ...scope, status, ...filters };
  const after = readCursor(values.after, filter, details);
  if (details.length > 0) throw invalidRequest(details);
  const { images, next } = await pageOf(store.read, { ...filter, after, limit });
  return success(exchange, {
    images: images.map(imageListItem),
    has_more: next !== null,
    next_cursor: next && encodeCursor(next, filter),
  });
}

/** By the partner's own words or not, the same list. */
async function pageOf(tx: Tx, query: FilteredQuery): Promise<ImagePage> {
  const { externalId, batchId, metadata, current, ...plain } = query;
  if ([externalId, batchId, metadata, current].some((filter) => filter !== undefined))
    return filteredImages(tx, query);
  // One extra row tells whether there is a next page.
  const found = await listImageRows(tx, { ...plain, limit: query.limit + 1 });
  const images = found.slice(0, query.limit);
  return { images, next: found.length > query.limit ? (images.at(-1) ?? null) : null };
}

/** The filters of a query; what is wrong with them is added to `details`. */
function readFilters(
  values: Partial<Record<(typeof PARAMETERS)[number], string>>,
  family: readonly (readonly [key: string, value: string])[],
  details: ErrorDetail[],
): ImageFilters & Pick<ListQuery, "from" | "before"> {
  const { external_id: externalId, batch_id: batchId, current } = values;
  const refuse = (name: string, message: string) => details.push({ field: `query ${name}`, message });
  if (externalId !== undefined && (!/^.{1,255}$/su.test(externalId) || externalId.includes("\0")))
    refuse("external_id", "must be 1 to 255 characters, as in the create's player.external_id.");
  if (batchId !== undefined && !/^bat_[0-9A-Za-z]{1,64}$/.test(batchId))
    refuse("batch_id", "must be the batch_id of a batch, such as bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9.");
  if (current !== undefined && current !== "true" && current !== "false")
    refuse("current", "must be true or false.");
  for (const [key, value] of family) {
    const name = METADATA + key.slice(0, 100);
    if (key === "") refuse(name, "must name a key of the metadata, such as metadata.season=2026.");
    else if (!isFilterKey(key))
      refuse(name, `must name a key of at most ${MAX_METADATA_FILTER_KEY_CHARS} characters.`);
    if (`${key}${value}`.includes("\0")) refuse(name, "must not contain NUL characters.");
    else if ([...value].length > 256)
      refuse(name, "must be at most 256 characters, as values of metadata are.");
  }
  if (family.length > 10) refuse(`${METADATA}*`, "must be at most 10 keys, as metadata has.");
  // In one order, so that a cursor fits the same filters however they are arranged.
  const metadata = [...family].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    externalId,
    batchId,
    current: current === "true" || undefined,
    metadata: metadata.length > 0 ? metadata : undefined,
    ...readSpan(values, details),
  };
}
