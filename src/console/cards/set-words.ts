import type { Parallel } from "../../core/card-set.ts";
import type { Refusal } from "../../core/errors.ts";
import { isoTime } from "../../core/time.ts";
import type { CardSet } from "../../store/sets/card-sets.ts";
import { count } from "../elements.tsx";

/** The sizes of a set's parallels in one line. */
export const parallelsOf = ({ parallels }: Pick<CardSet, "parallels">) =>
  parallels
    .map(({ name, size, closesAt }) => {
      if (closesAt !== undefined)
        return `${name} until ${isoTime(closesAt).slice(0, 16).replace("T", " ")} UTC`;
      return size === null ? name : `${name} of ${count(size)}`;
    })
    .join(", ");

/** A parallel as people say it. */
export const parallelText = (parallel: Parallel) =>
  parallel.size === null
    ? parallelsOf({ parallels: [parallel] })
    : `${parallel.name}, ${count(parallel.size)} of each`;

/** The page that makes the cards of a parallel, of those of a batch where one is named. */
export const fillPath = (set: CardSet, parallel: string, from = "") =>
  `/console/sets/${set.id}/fill?${new URLSearchParams({ parallel, ...(from && { from }) })}`;

/** Why a set or its packs were refused. */
export const problemOf = ({ message, details = [] }: Refusal) =>
  details.length > 0 ? details.map((one) => `${one.field} ${one.message}`).join(" ") : message;
