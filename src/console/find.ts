import { ENVIRONMENTS } from "../core/account.ts";
import { foldedName } from "../core/name.ts";
import { listBatches } from "../store/images/batches.ts";
import { findImagesByExternalId } from "../store/images/image-search.ts";
import { listKits } from "../store/people/brand-kits.ts";
import { listSets } from "../store/sets/card-sets.ts";
import { ofBothEnvironments } from "./both-environments.ts";
import { historyPath } from "./cards/image.tsx";
import { playerName } from "./cards/image-parts.tsx";
import { privateJson } from "./respond.ts";
import { type MemberVisit, member } from "./visit.ts";

/** Something of the account that the palette goes to. */
interface Found {
  kind: "Player" | "Squad" | "Set" | "Brand kit";
  label: string;
  href: string;
}

/** Of each kind: a palette is for what somebody has in mind already. */
const MAX_FOUND = 5;
/** How many of the newest batches and sets are compared by name, and how many pictures are read. */
const COMPARED = 200;
/** No name is longer. */
const MAX_QUERY_CHARS = 200;

/** Players, batches, sets and kits by a part of their name, and players by the beginning of their id. */
async function find(visit: MemberVisit): Promise<Response> {
  const query = (visit.query.get("q") ?? "").trim().slice(0, MAX_QUERY_CHARS);
  const kinds = [foundPlayers, foundBatches, foundSets, foundKits];
  const found = query === "" ? [] : await Promise.all(kinds.map((kind) => kind(visit, query)));
  return privateJson(
    visit.exchange,
    found.flatMap((some) => some.slice(0, MAX_FOUND)),
  );
}

async function foundPlayers({ deps, account }: MemberVisit, search: string): Promise<Found[]> {
  const players = new Map<string, Found>();
  for (const environment of ENVIRONMENTS) {
    const scope = { accountId: account.id, environment, search, limit: COMPARED };
    for (const image of await findImagesByExternalId(deps.store.read, scope)) {
      if (players.has(image.externalId)) continue;
      const label = `${playerName(image)}, ${image.externalId}`;
      players.set(image.externalId, { kind: "Player", label, href: historyPath(image) });
    }
  }
  return [...players.values()];
}

async function foundBatches(visit: MemberVisit, query: string): Promise<Found[]> {
  const batches = await ofBothEnvironments(visit, COMPARED, (of) => listBatches(visit.deps.store.read, of));
  return batches
    .filter(({ id, name }) => id === query || isNamed(name ?? "", query))
    .map(({ id, name }) => ({ kind: "Squad", label: name ?? id, href: `/console/batches/${id}` }));
}

async function foundSets(visit: MemberVisit, query: string): Promise<Found[]> {
  const sets = await ofBothEnvironments(visit, COMPARED, (of) => listSets(visit.deps.store.read, of));
  return sets
    .filter(({ id, name, season }) => id === query || isNamed(`${name} ${season ?? ""}`, query))
    .map(({ id, name, season }) => ({
      kind: "Set",
      label: season ? `${name}, ${season}` : name,
      href: `/console/sets/${id}`,
    }));
}

async function foundKits({ deps, account }: MemberVisit, query: string): Promise<Found[]> {
  const kits = await listKits(deps.store.read, account.id);
  return kits
    .filter(({ name }) => isNamed(name, query))
    .map(({ id, name }) => ({ kind: "Brand kit", label: name, href: `/console/kits/${id}` }));
}

/** Whether a name has every word of the query, typed without its accents as well. */
function isNamed(name: string, query: string): boolean {
  const text = foldedName(name);
  return query.split(/\s+/).every((word) => text.includes(foldedName(word)));
}

export const findRoutes = [member.get("/console/find", find)];
