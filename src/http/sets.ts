import type { Static } from "@sinclair/typebox";
import type { AppContext } from "../app/context.ts";
import { checklistOf, makeSet, removeSet, setView } from "../app/sets/manage-sets.ts";
import { API_PATHS, fillPath } from "../core/api-paths.ts";
import { MAX_SET_BODY_BYTES } from "../core/limits.ts";
import { invalidRequest, setNotFound } from "../core/partner-refusals.ts";
import { compileValidator } from "../core/validate.ts";
import { type CardSet, findSet, listSets } from "../store/sets/card-sets.ts";
import type { Caller } from "./auth.ts";
import { readJson, requireJsonType } from "./body.ts";
import { encodeCursor, readCursor } from "./cursor.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { readLimit, readQuery } from "./query.ts";
import { CreateSetRequest } from "./set-schemas.ts";

const validator = compileValidator(CreateSetRequest, "body");

type Handler = (exchange: Exchange, caller: Caller, params: Record<string, string>) => Promise<Response>;

/** The handlers of the routes of sets. */
export function setHandlers<Open>(deps: AppContext, partner: (handler: Handler) => Open) {
  const ofSet = (handler: (deps: AppContext, exchange: Exchange, set: CardSet) => Promise<Response>) =>
    partner(async (exchange, { account, environment }, { set_id: id = "" }) => {
      const set = await findSet(deps.store.read, { accountId: account.id, environment, id });
      if (!set) throw setNotFound();
      return handler(deps, exchange, set);
    });
  return {
    createSet: partner((exchange, caller) => createSet(deps, exchange, caller)),
    listSets: partner((exchange, caller) => listSetsPage(deps, exchange, caller)),
    getSet: ofSet(async (_, exchange, set) => success(exchange, setView(set))),
    deleteSet: partner(async (exchange, { account, environment }, { set_id: id = "" }) =>
      success(exchange, setView(await removeSet(deps, { accountId: account.id, environment, id }))),
    ),
    getChecklist: ofSet(async (_, exchange, set) =>
      success(exchange, { ...setView(set), players: await checklistOf(deps, set) }),
    ),
  };
}

/** POST /v1/sets */
async function createSet(
  deps: AppContext,
  exchange: Exchange,
  { account, environment }: Caller,
): Promise<Response> {
  requireJsonType(exchange.request);
  const checked = validator.check(await readJson(exchange.request, MAX_SET_BODY_BYTES));
  if (!checked.ok) throw invalidRequest(checked.details);
  const { name, season = "", parallels, players }: Static<typeof CreateSetRequest> = checked.value;
  const listed = players.map((player) => ({
    externalId: player.external_id,
    name: player.name ?? "",
    number: player.number ?? null,
  }));
  const scope = { accountId: account.id, environment };
  const set = await makeSet(deps, scope, { name, season, parallels, players: listed });
  const location = fillPath(API_PATHS.set, { set_id: set.id });
  return success(exchange, setView(set), { status: 201, headers: { Location: location } });
}

/** GET /v1/sets */
async function listSetsPage(deps: AppContext, exchange: Exchange, caller: Caller): Promise<Response> {
  const { values, details } = readQuery(exchange.url, ["limit", "after"]);
  const limit = readLimit(values.limit, details);
  const scope = { accountId: caller.account.id, environment: caller.environment };
  const after = readCursor(values.after, scope, details, "key environment");
  if (details.length > 0) throw invalidRequest(details);
  const found = await listSets(deps.store.read, { ...scope, after, limit: limit + 1 });
  const sets = found.slice(0, limit);
  const last = sets.at(-1);
  const hasMore = found.length > limit;
  return success(exchange, {
    sets: sets.map(setView),
    has_more: hasMore,
    next_cursor: hasMore && last ? encodeCursor(last, scope) : null,
  });
}
