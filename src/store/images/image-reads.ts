import { and, asc, count, desc, eq, inArray, isNull, type Placeholder, sql } from "drizzle-orm";
import type { Environment } from "../../core/account.ts";
import { readSetPlace, type SetPlace } from "../../core/card-set.ts";
import { IMAGE_STATES, type ImageState, type PublicStatus, publicStatus } from "../../core/image-state.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { type Parameters, prepared } from "../engine/prepared.ts";
import { pageBounds } from "../page-bounds.ts";
import type { Tx } from "../store.ts";
import type { Image } from "./images.ts";

// The frequent reads of partners.

interface Scope {
  accountId: string;
  environment: Environment;
}

/** Values that a statement names at most: SQLite accepts 32,766 in all. */
const IDS_AT_ONCE = 500;

export async function findImage({ db, t }: Tx, scope: Scope & { id: string }): Promise<Image | undefined> {
  const [image] = await db.select().from(t.images).where(eq(t.images.id, scope.id)).limit(1);
  return inScope(image, scope);
}

/** See findImage: all of these that there are, by id. */
export async function imagesById({ db, t }: Tx, scope: Scope, ids: string[]): Promise<Map<string, Image>> {
  const i = t.images;
  const found = new Map<string, Image>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const rows = await db
      .select()
      .from(i)
      .where(inArray(i.id, ids.slice(at, at + IDS_AT_ONCE)));
    for (const row of rows) if (inScope(row, scope)) found.set(row.id, row);
  }
  return found;
}

/** What these images show of their places in sets. */
export async function placesShown({ db, t }: Tx, ids: string[]): Promise<Map<string, SetPlace>> {
  const i = t.images;
  const found = new Map<string, SetPlace>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const rows = await db
      .select({ id: i.id, setPlace: i.setPlace })
      .from(i)
      .where(inArray(i.id, ids.slice(at, at + IDS_AT_ONCE)));
    for (const { id, setPlace } of rows) {
      const place = readSetPlace(setPlace);
      if (place) found.set(id, place);
    }
  }
  return found;
}

/** See findImage: until this transaction ends, it neither ends nor changes by another. */
export async function lockImage(tx: Tx, scope: Scope & { id: string }): Promise<Image | undefined> {
  const { images: i } = tx.t;
  const [image] = await tx.locked(tx.db.select().from(i).where(eq(i.id, scope.id)).limit(1));
  return inScope(image, scope);
}

/**
 * The scope is checked here rather than in the query, so that another account's id costs the same as an
 * unknown one, and a deleted one too.
 */
function inScope<Row extends Scope & Pick<Image, "forgottenAt">>(
  image: Row | undefined,
  scope: Scope,
): Row | undefined {
  const isOwn = image?.accountId === scope.accountId && image.environment === scope.environment;
  return isOwn && image.forgottenAt === null ? image : undefined;
}

/** The batch that an image was first requested in, as a column of a query of images; null for single ones. */
export function firstBatch({ db, t }: Pick<Tx, "db" | "t">) {
  const { batches: b, batchCards: c, images: i } = t;
  const first = db
    .select({ id: b.id })
    .from(c)
    .innerJoin(b, eq(b.id, c.batchId))
    .where(eq(c.imageId, i.id))
    .orderBy(asc(b.createdAt), asc(b.id))
    .limit(1);
  const any = db.select({ one: sql`1` }).from(c).where(eq(c.imageId, i.id));
  // Most have none: SQLite would make ready to sort its batches for each, which costs half of reading a list.
  return sql<string | null>`(case when exists ${any} then ${first} end)`;
}

const imageAnswer = prepared("image answer", ({ db, t }, { id }: Parameters<{ id: string }>) => {
  const i = t.images;
  return db
    .select({
      id: i.id,
      accountId: i.accountId,
      environment: i.environment,
      state: i.state,
      failureCode: i.failureCode,
      failureMessage: i.failureMessage,
      failureReason: i.failureReason,
      outputName: i.outputName,
      backOutputName: i.backOutputName,
      outputWidth: i.outputWidth,
      outputHeight: i.outputHeight,
      outputContentType: i.outputContentType,
      outputComposition: i.outputComposition,
      createdAt: i.createdAt,
      updatedAt: i.updatedAt,
      completedAt: i.completedAt,
      expiresAt: i.expiresAt,
      publishAt: i.publishAt,
      forgottenAt: i.forgottenAt,
      request: i.request,
      setPlace: i.setPlace,
      exported: i.exported,
      batchId: firstBatch({ db, t }),
    })
    .from(i)
    .where(eq(i.id, id))
    .limit(1);
});

/** The columns of the status view. */
export type ImageAnswer = Awaited<ReturnType<typeof imageAnswer>>[number];

export async function findImageAnswer(
  tx: Tx,
  scope: Scope & { id: string },
): Promise<ImageAnswer | undefined> {
  const [image] = await imageAnswer(tx, { id: scope.id });
  return inScope(image, scope);
}

const imageByOutput = prepared(
  "image by output",
  ({ db, t: { images: i } }, { name }: Parameters<{ name: string }>) =>
    db.select().from(i).where(eq(i.outputName, name)).limit(1),
);

const imageByBack = prepared(
  "image by back",
  ({ db, t: { images: i } }, { name }: Parameters<{ name: string }>) =>
    db.select().from(i).where(eq(i.backOutputName, name)).limit(1),
);

/** The image of which a picture of this name shows one side or the other. */
export async function findImageByOutput(tx: Tx, outputName: string): Promise<Image | undefined> {
  // One after the other: each along its own index, and most pictures are fronts.
  const [image] = await imageByOutput(tx, { name: outputName });
  return image ?? (await imageByBack(tx, { name: outputName }))[0];
}

const imageById = prepared("image by id", ({ db, t: { images: i } }, { id }: Parameters<{ id: string }>) =>
  db.select().from(i).where(eq(i.id, id)).limit(1),
);

/** An image of any account, deleted or not. */
export async function findAnyImage(tx: Tx, id: string): Promise<Image | undefined> {
  const [image] = await imageById(tx, { id });
  return image;
}

/** Whether somebody is making its picture. */
export async function isRendering({ db, t }: Tx, id: string): Promise<boolean> {
  const rendering = and(eq(t.images.id, id), eq(t.images.state, "rendering"));
  return (await db.select({ id: t.images.id }).from(t.images).where(rendering)).length > 0;
}

export interface ListQuery extends Scope {
  status?: PublicStatus | undefined;
  after?: ListPosition | undefined;
  /** Created at or after this moment and before that one, epoch milliseconds. */
  from?: number | undefined;
  before?: number | undefined;
  limit: number;
}

/** More than this are shown as "and more": each one counted is a step in an index. */
export const MAX_COUNTED = 10_000;

/** How many images there are in each state, up to MAX_COUNTED. */
export async function countImages(
  tx: Tx,
  query: Pick<ListQuery, "accountId" | "environment" | "from" | "before">,
): Promise<Record<PublicStatus, number>> {
  const counts = { processing: 0, completed: 0, failed: 0 };
  for (const state of IMAGE_STATES) {
    const some = tx.db
      .select({ id: tx.t.images.id })
      .from(tx.t.images)
      .where(inList(tx, query, state))
      .limit(MAX_COUNTED)
      .as("some");
    const [row] = await tx.db.select({ n: count() }).from(some);
    counts[publicStatus(state)] += row?.n ?? 0;
  }
  return counts;
}

/** Newest first, after `position`. Walks one index whatever the table's size. */
export async function listImages(tx: Tx, query: ListQuery): Promise<Image[]> {
  return listImagesQuery(tx, query);
}

/** The builder behind listImages, so that a test can ask SQLite for its plan. */
export function listImagesQuery(tx: Tx, query: ListQuery) {
  const rows = (state?: ImageState) =>
    tx.db
      .select()
      .from(tx.t.images)
      .where(inList(tx, query, state))
      .orderBy(...newestFirst(tx))
      .limit(query.limit);
  if (query.status !== "processing") return rows(query.status);
  const own = (state: ImageState) => tx.db.select().from(rows(state).as(state));
  const all = own("waiting").unionAll(own("queued")).unionAll(own("rendering"));
  return all.orderBy(...newestFirst(tx)).limit(query.limit);
}

export type ImageListing = Pick<
  Image,
  "id" | "state" | "type" | "createdAt" | "completedAt" | "request" | "setPlace"
> & {
  batchId: string | null;
};

/** Like listImages, with only the columns a list shows. */
export function listImageRows(tx: Tx, query: ListQuery): Promise<ImageListing[]> {
  const { status, after, from, before, ...values } = query;
  if (from !== undefined || before !== undefined) return listingQuery(tx, query).execute();
  return listingOf(status, after !== undefined)(tx, { ...values, ...place(after) });
}

const place = (after: ListPosition = { createdAt: 0, id: "" }) => ({
  afterCreatedAt: after.createdAt,
  afterId: after.id,
});

type ListingValues = Omit<ListQuery, "status" | "after" | "from" | "before"> & ReturnType<typeof place>;
type Listing = (tx: Tx, values: ListingValues) => Promise<ImageListing[]>;
const listings = new Map<string, Listing>();

function listingOf(status: PublicStatus | undefined, goesOn: boolean): Listing {
  const name = `listing of ${status ?? "any"}, ${goesOn ? "going on" : "first"}`;
  const known = listings.get(name) ?? prepareListing(name, status, goesOn);
  listings.set(name, known);
  return known;
}

function prepareListing(name: string, status: PublicStatus | undefined, goesOn: boolean): Listing {
  return prepared(name, (tx, values: Parameters<ListingValues>) => {
    const { accountId, environment, limit } = values;
    const after = goesOn ? { createdAt: values.afterCreatedAt, id: values.afterId } : undefined;
    return listingQuery(tx, { accountId, environment, status, after, limit });
  });
}

function listingQuery(
  tx: Tx,
  { status, limit, ...scope }: ListScope & { status?: PublicStatus | undefined; limit: ValueOr<number> },
) {
  const { id, state, type, createdAt, completedAt, request, setPlace } = tx.t.images;
  const columns = {
    id,
    state,
    type,
    createdAt,
    completedAt,
    request,
    setPlace,
    batchId: firstBatch(tx).as("batch_id"),
  };
  const rows = (one?: ImageState) =>
    tx.db
      .select(columns)
      .from(tx.t.images)
      .where(inList(tx, scope, one))
      .orderBy(...newestFirst(tx))
      .limit(limit);
  if (status !== "processing") return rows(status);
  const own = (one: ImageState) => tx.db.select().from(rows(one).as(one));
  const all = own("waiting").unionAll(own("queued")).unionAll(own("rendering"));
  return all.orderBy(...newestFirst(tx)).limit(limit);
}

/** A query value, or its placeholder in a prepared query. */
type ValueOr<T> = T | Placeholder;

interface ListScope {
  accountId: ValueOr<string>;
  environment: ValueOr<Environment>;
  after?: { createdAt: ValueOr<number>; id: ValueOr<string> } | undefined;
  from?: number | undefined;
  before?: number | undefined;
}

/**
 * The rows of a list. Three states in one condition would make SQLite read past everything finished to find
 * the few that are not; a union walks each along the index of states and merges them. Each brings no more
 * than the list has: PostgreSQL would read all of them to sort them.
 */
function inList(
  { t: { images: i } }: Tx,
  { accountId, environment, after, from, before }: ListScope,
  state?: ImageState,
) {
  return and(
    eq(i.accountId, accountId),
    eq(i.environment, environment),
    isNull(i.forgottenAt),
    state && eq(i.state, state),
    pageBounds(i.createdAt, i.id, { from, before, after }),
  );
}

function newestFirst({ t: { images: i } }: Tx) {
  return [desc(i.createdAt), desc(i.id)] as const;
}
