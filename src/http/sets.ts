import type { Static } from "@sinclair/typebox";
import type { AppContext } from "../app/context.ts";
import { SHEET_NAMES, type Sheet } from "../app/print/imposition.ts";
import {
  changeGallery,
  checklistOf,
  makeSet,
  type NewSet,
  removeSet,
  setView,
} from "../app/sets/manage-sets.ts";
import { manifestOf, type PackWish, packsOf } from "../app/sets/set-files.ts";
import { albumPages, checklistPages, type SetPagesDeps } from "../app/sets/set-pages.ts";
import { API_PATHS, fillPath } from "../core/api-paths.ts";
import { setAttachment } from "../core/card-set.ts";
import { streamOfLines } from "../core/csv.ts";
import {
  MAX_PACK_CARDS,
  MAX_PACK_POOL,
  MAX_PACK_SIZE,
  MAX_SEED_CHARS,
  MAX_SET_BODY_BYTES,
} from "../core/limits.ts";
import { invalidRequest, setNotFound } from "../core/partner-refusals.ts";
import { PRINT_SIZE_NAMES, type PrintSizeName } from "../core/print-sizes.ts";
import { parseTime } from "../core/time.ts";
import { compileValidator } from "../core/validate.ts";
import { type CardSet, findSet, listSets } from "../store/sets/card-sets.ts";
import type { Caller, PartnerHandler } from "./auth.ts";
import type { BatchRoutesDeps } from "./batches.ts";
import { readJson, requireJsonType } from "./body.ts";
import { encodeCursor, pageOf, readCursor } from "./cursor.ts";
import { standardHeaders, success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { fillSet } from "./fill-set.ts";
import { checkIdempotencyKey } from "./idempotency-key.ts";
import { readLimit, readQuery } from "./query.ts";
import { ChangeSetRequest, CreateSetRequest } from "./set-schemas.ts";
import { writtenFile } from "./written-file.ts";

const validator = compileValidator(CreateSetRequest, "body");
const changeValidator = compileValidator(ChangeSetRequest, "body");

/** The handlers of the routes of sets. */
export function setHandlers<Open>(
  deps: BatchRoutesDeps & SetPagesDeps,
  partner: (handler: PartnerHandler) => Open,
) {
  const ofSet = (
    handler: (deps: AppContext & SetPagesDeps, exchange: Exchange, set: CardSet) => Promise<Response>,
  ) =>
    partner(async (exchange, { account, environment }, { set_id: id = "" }) => {
      const set = await findSet(deps.store.read, { accountId: account.id, environment, id });
      if (!set) throw setNotFound();
      return handler(deps, exchange, set);
    });
  return {
    createSet: partner((exchange, caller) => createSet(deps, exchange, caller)),
    listSets: partner((exchange, caller) => listSetsPage(deps, exchange, caller)),
    getSet: ofSet(async (_, exchange, set) => success(exchange, await setView(deps, set))),
    deleteSet: partner(async (exchange, { account, environment }, { set_id: id = "" }) =>
      success(
        exchange,
        await setView(deps, await removeSet(deps, { accountId: account.id, environment, id })),
      ),
    ),
    fillSet: partner((exchange, caller, { set_id = "" }) => fillSet(deps, exchange, caller, set_id)),
    changeSet: partner((exchange, caller, { set_id: id = "" }) => changeSet(deps, exchange, caller, id)),
    getChecklist: ofSet(async (_, exchange, set) =>
      success(exchange, { ...(await setView(deps, set)), players: await checklistOf(deps, set) }),
    ),
    printChecklist: ofSet(async (deps, exchange, set) =>
      pdf(
        exchange,
        await checklistPages(deps, set, readPagesWish(exchange.url, ["sheet"])),
        setAttachment(set, "checklist", "pdf"),
      ),
    ),
    printAlbum: ofSet(async (deps, exchange, set) =>
      pdf(
        exchange,
        await albumPages(deps, set, readPagesWish(exchange.url, ["sheet", "size"])),
        setAttachment(set, "album", "pdf"),
      ),
    ),
    getManifest: ofSet(async (_, exchange, set) => manifest(deps, exchange, set)),
    getPacks: ofSet(async (_, exchange, set) => {
      const wish = readPackWish(exchange.url);
      const { pool, packs } = await packsOf(deps, set, wish);
      return success(exchange, { set_id: set.id, seed: wish.seed, cards_in_pool: pool, packs });
    }),
  };
}

/** POST /v1/sets */
async function createSet(
  deps: AppContext,
  exchange: Exchange,
  { account, environment }: Caller,
): Promise<Response> {
  requireJsonType(exchange.request);
  const key = exchange.request.headers.get("idempotency-key");
  const details = key === null ? [] : checkIdempotencyKey(key, { isOptional: true });
  const checked = validator.check(await readJson(exchange.request, MAX_SET_BODY_BYTES));
  if (!checked.ok) throw invalidRequest([...details, ...checked.details]);
  if (details.length > 0) throw invalidRequest(details);
  const scope = { accountId: account.id, environment };
  const { set, replayed } = await makeSet(deps, scope, newSet(checked.value), { idempotencyKey: key });
  const location = fillPath(API_PATHS.set, { set_id: set.id });
  return success(exchange, await setView(deps, set), {
    status: 201,
    headers: { Location: location, ...(replayed ? { "Idempotent-Replayed": "true" } : {}) },
  });
}

/** A set as a body asks for it. */
export function newSet({ name, season = "", parallels, players }: Static<typeof CreateSetRequest>): NewSet {
  return {
    name,
    season,
    parallels: parallels.map(({ closes_at: closesAt, ...parallel }) => ({
      ...parallel,
      ...(closesAt === undefined ? {} : { closesAt: parseTime(closesAt) ?? Number.NaN }),
    })),
    players: players.map((player) => ({
      externalId: player.external_id,
      name: player.name ?? "",
      number: player.number ?? null,
    })),
  };
}

/** PATCH /v1/sets/{set_id} */
async function changeSet(
  deps: AppContext,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  requireJsonType(exchange.request);
  const checked = changeValidator.check(await readJson(exchange.request));
  if (!checked.ok) throw invalidRequest(checked.details);
  const { gallery: isOpen }: Static<typeof ChangeSetRequest> = checked.value;
  const set = await changeGallery(deps, { accountId: account.id, environment, id, isOpen });
  return success(exchange, await setView(deps, set));
}

/** GET /v1/sets/{set_id}/manifest */
function manifest(deps: AppContext, exchange: Exchange, set: CardSet): Response {
  return new Response(streamOfLines(manifestOf(deps, set)), {
    headers: {
      ...standardHeaders(exchange),
      "Content-Type": "text/csv; charset=utf-8",
      "Content-Disposition": setAttachment(set, "manifest", "csv"),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    },
  });
}

function pdf(exchange: Exchange, bytes: Uint8Array<ArrayBuffer>, disposition: string): Response {
  return writtenFile(exchange, bytes, disposition, "application/pdf");
}

/** Which pages a query asks for. Throws INVALID_REQUEST. */
export function readPagesWish(url: URL, known: ("sheet" | "size")[]): { sheet: Sheet; size: PrintSizeName } {
  const { values, details } = readQuery(url, known);
  const one = <T extends string>(name: "sheet" | "size", all: readonly T[], usual: T): T => {
    const wished = values[name] ?? usual;
    const found = all.find((each) => each === wished);
    if (!found) details.push({ field: `query ${name}`, message: `must be one of ${all.join(", ")}.` });
    return found ?? usual;
  };
  const wish = {
    sheet: one("sheet", SHEET_NAMES, "a4"),
    size: one("size", PRINT_SIZE_NAMES, "63x88"),
  };
  if (details.length > 0) throw invalidRequest(details);
  return wish;
}

/** What a query asks to be drawn. Throws INVALID_REQUEST. */
export function readPackWish(url: URL): PackWish {
  const { values, details } = readQuery(url, ["seed", "packs", "cards", "copies"]);
  const { seed = "" } = values;
  if (seed === "" || [...seed].length > MAX_SEED_CHARS || !seed.isWellFormed())
    details.push({ field: "query seed", message: `must be text of 1 to ${MAX_SEED_CHARS} characters.` });
  const whole = (name: "packs" | "cards" | "copies", text: string | undefined, most: number) => {
    const number = Number(text ?? "");
    if (/^\d{1,6}$/.test(text ?? "") && number >= 1 && number <= most) return number;
    details.push({ field: `query ${name}`, message: `must be a whole number from 1 to ${most}.` });
    return 1;
  };
  const packs = whole("packs", values.packs, MAX_PACK_CARDS);
  const cards = whole("cards", values.cards, MAX_PACK_SIZE);
  const copies = whole("copies", values.copies ?? "1", MAX_PACK_POOL);
  if (packs * cards > MAX_PACK_CARDS)
    details.push({
      field: "query packs",
      message: `must be fewer: one draw has at most ${MAX_PACK_CARDS} cards. Draw with several seeds.`,
    });
  if (details.length > 0) throw invalidRequest(details);
  return { seed, packs, cards, copies };
}

/** GET /v1/sets */
async function listSetsPage(deps: AppContext, exchange: Exchange, caller: Caller): Promise<Response> {
  const { values, details } = readQuery(exchange.url, ["limit", "after"]);
  const limit = readLimit(values.limit, details);
  const scope = { accountId: caller.account.id, environment: caller.environment };
  const after = readCursor(values.after, scope, details, "key environment");
  if (details.length > 0) throw invalidRequest(details);
  const found = await listSets(deps.store.read, { ...scope, after, limit: limit + 1 });
  const { items, ...page } = pageOf(found, limit, (last) => encodeCursor(last, scope));
  return success(exchange, {
    sets: await Promise.all(items.map((set) => setView(deps, set))),
    ...page,
  });
}
