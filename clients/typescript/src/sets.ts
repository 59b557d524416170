import { type CreateOptions, idempotencyHeader } from "./options.ts";
import type { components, operations } from "./schema.d.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { walk } from "./walk.ts";

type Schemas = components["schemas"];

export type SetRequest = Schemas["CreateSetRequest"];
export type SetChanges = Schemas["ChangeSetRequest"];
export type CardSet = Schemas["CardSet"];
export type Checklist = Schemas["Checklist"];
export type Packs = Schemas["Packs"];
export type PackQuery = NonNullable<operations["getPacks"]["parameters"]["query"]>;

export type PagesQuery<Call extends "printChecklist" | "printAlbum"> = NonNullable<
  operations[Call]["parameters"]["query"]
>;

/** The calls of sets, whose cards have numbers that are never given twice. */
export function sets(calls: Transport) {
  const one = (setId: string) => ({ params: { set_id: setId } });
  return {
    /** Makes a set of a checklist and its parallels; it never changes. */
    create: (request: SetRequest, { idempotencyKey, ...call }: CreateOptions = {}): Promise<CardSet> =>
      calls.call({
        method: "POST",
        path: "/v1/sets",
        headers: idempotencyHeader(idempotencyKey),
        body: request,
        ...call,
      }),
    /** Every set, newest first, page by page as you walk. */
    list: (call: CallOptions = {}) =>
      walk(calls, { path: "/v1/sets", ...call }, (page: Schemas["SetList"]): CardSet[] => page.sets),
    get: (setId: string, call: CallOptions = {}): Promise<CardSet> =>
      calls.call({ method: "GET", path: "/v1/sets/{set_id}", ...one(setId), ...call }),
    /** Opens its public gallery, at `gallery_url`, or withdraws it. */
    change: (setId: string, changes: SetChanges, call: CallOptions = {}): Promise<CardSet> =>
      calls.call({ method: "PATCH", path: "/v1/sets/{set_id}", body: changes, ...one(setId), ...call }),
    /** Deletes a set of which no card was made. */
    delete: (setId: string, call: CallOptions = {}): Promise<CardSet> =>
      calls.call({ method: "DELETE", path: "/v1/sets/{set_id}", ...one(setId), ...call }),
    /** Its players, with how many cards there are of each in each parallel. */
    checklist: (setId: string, call: CallOptions = {}): Promise<Checklist> =>
      calls.call({ method: "GET", path: "/v1/sets/{set_id}/checklist", ...one(setId), ...call }),
    /** Its checklist for collectors, as a PDF. */
    printChecklist: (setId: string, query: PagesQuery<"printChecklist"> = {}, call: CallOptions = {}) =>
      calls.stream({
        method: "GET",
        path: "/v1/sets/{set_id}/checklist.pdf",
        query: { ...query },
        ...one(setId),
        ...call,
      }),
    /** Pages of an album, as a PDF: a numbered place for each player. */
    printAlbum: (setId: string, query: PagesQuery<"printAlbum"> = {}, call: CallOptions = {}) =>
      calls.stream({
        method: "GET",
        path: "/v1/sets/{set_id}/album.pdf",
        query: { ...query },
        ...one(setId),
        ...call,
      }),
    /** All finished cards as a printer's table, the bytes of a CSV file as the service writes it. */
    manifest: (setId: string, call: CallOptions = {}) =>
      calls.stream({ method: "GET", path: "/v1/sets/{set_id}/manifest", ...one(setId), ...call }),
    /** Which cards lie in which pack, drawn from a seed; the same seed draws the same packs. */
    packs: (setId: string, query: PackQuery, call: CallOptions = {}): Promise<Packs> =>
      calls.call({
        method: "GET",
        path: "/v1/sets/{set_id}/packs",
        query: { ...query },
        ...one(setId),
        ...call,
      }),
  };
}
