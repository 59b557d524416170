import { Type } from "@sinclair/typebox";
import type { ReadSquadList } from "../app/batches/list-reader.ts";
import {
  cardsOfList,
  faultsInList,
  guessMapping,
  type Mapping,
  TARGETS,
  type Target,
  targetsFor,
} from "../app/batches/squad-cards.ts";
import { columnName, type SquadList } from "../app/batches/squad-list.ts";
import { API_PATHS, fillPath } from "../core/api-paths.ts";
import { createImageSchema } from "../core/image-request.ts";
import { MAX_BATCH_CARDS } from "../core/limits.ts";
import { MAX_LIST_BYTES } from "../core/list-limits.ts";
import { ApiRefusal, type CallApi, type Data, dataOf, text } from "./call.ts";
import { idempotencyKeyArgument } from "./card-tools.ts";
import { CREATES, defineTool, failed, READS, strict, type Tool } from "./tool.ts";

const { width, height, format } = createImageSchema(["any"]).properties.style.properties;

const batchIdArgument = Type.String({
  pattern: "^bat_[0-9A-Za-z]{1,64}$",
  description: "The batch_id of a batch.",
});

const texts = (description: string) =>
  Type.Unsafe<Record<string, string>>(
    Type.Object(
      {},
      { additionalProperties: Type.String({ maxLength: 2048 }), maxProperties: 60, description },
    ),
  );

const named = (targets: readonly Target[]) => targets.map(({ key }) => key).join(", ");

/** Failures are read one by one, each with a call of its own. */
const MAX_FAILURES = 20;

export interface BatchToolDeps {
  call: CallApi;
  /** Parses a table, away from this process. */
  readTable: (bytes: Uint8Array) => ReturnType<ReadSquadList>;
}

/** The tools around many cards. */
export const batchTools = (deps: BatchToolDeps): Tool[] => [
  makeBatch(deps),
  getBatch(deps.call),
  readFailures(deps.call),
];

const makeBatch = ({ call, readTable }: BatchToolDeps) =>
  defineTool({
    name: "make_batch",
    title: "Make the cards of a table",
    description:
      "Makes a card of every row of a table: CSV, or whatever a spreadsheet copies. The first row has the headings, which are recognised in several languages. All rows are accepted or none, and what is wrong is named by row and column. Each finished card costs one credit; photos are fetched and cards made afterwards: follow them with get_batch.",
    inputSchema: Type.Object(
      {
        table: Type.String({
          maxLength: MAX_LIST_BYTES,
          description: `The table with its headings, at most ${MAX_BATCH_CARDS} rows below them. Each row needs an id of the player, name, position, shirt number, rating and the address of a photo.`,
        }),
        preset: Type.String({ description: "A name that list_presets gives." }),
        name: Type.Optional(Type.String({ description: "What to call the batch." })),
        columns: Type.Optional(
          texts(
            `Headings by field, where they are not recognised, such as {"number": "Trikot"}. Fields: ${named(TARGETS)}; field_NAME for the preset's own.`,
          ),
        ),
        for_all: Type.Optional(
          texts(
            `Values for all rows, or for empty cells, such as {"background_theme": "ice"}. Fields: ${named(TARGETS.filter(({ forAll }) => forAll))}; field_NAME for the preset's own.`,
          ),
        ),
        width,
        height,
        format,
        idempotency_key: idempotencyKeyArgument,
      },
      strict,
    ),
    annotations: CREATES,
    run: async ({ table, preset, name, columns, for_all, idempotency_key, ...size }) => {
      const list = await readTable(new TextEncoder().encode(table));
      const { fields, has } = await presetNamed(call, preset);
      const targets = targetsFor(fields, has);
      const mapping = guessMapping(list, targets);
      const problem = settle(list, targets, mapping, { columns, forAll: for_all });
      if (problem !== undefined) return failed(problem);
      const cards = cardsOfList(list, targets, mapping, { preset, ...size });
      const response = await call(API_PATHS.batches, {
        method: "POST",
        body: { ...(name === undefined ? {} : { name }), cards },
        headers: idempotency_key === undefined ? {} : { "Idempotency-Key": idempotency_key },
      });
      try {
        const { images, ...batch } = await dataOf(response);
        return text(batch, `${images.length} cards are accepted: follow them with get_batch.`);
      } catch (error) {
        if (error instanceof ApiRefusal) throw byRow(error, list, targets, mapping);
        throw error;
      }
    },
  });

const getBatch = (call: CallApi) =>
  defineTool({
    name: "get_batch",
    title: "Get a batch",
    description:
      "How far a batch is, with the addresses of its finished pictures and the reasons of its failures.",
    inputSchema: Type.Object({ batch_id: batchIdArgument }, strict),
    annotations: READS,
    run: async ({ batch_id }) => text(await batchOf(call, batch_id)),
  });

const readFailures = (call: CallApi) =>
  defineTool({
    name: "read_failures",
    title: "Read failures",
    description:
      "The cards that failed, newest first, each with the reason and what helps: of one batch, or of all cards.",
    inputSchema: Type.Object(
      {
        batch_id: Type.Optional(batchIdArgument),
        limit: Type.Optional(
          Type.Integer({
            minimum: 1,
            maximum: MAX_FAILURES,
            default: MAX_FAILURES,
            description: "How many, without a batch.",
          }),
        ),
      },
      strict,
    ),
    annotations: READS,
    run: async ({ batch_id, limit = MAX_FAILURES }) => {
      if (batch_id !== undefined) {
        const { images } = await batchOf(call, batch_id);
        return text(images.filter(({ failure }: Data) => failure !== null));
      }
      const { images } = await dataOf(await call(`${API_PATHS.images}?status=failed&limit=${limit}`));
      const failures = images.map(async ({ image_id, external_id, name }: Data) => {
        const { failure } = await dataOf(await call(fillPath(API_PATHS.image, { image_id })));
        return { image_id, external_id, name, failure };
      });
      return text(await Promise.all(failures));
    },
  });

const batchOf = async (call: CallApi, id: string) =>
  dataOf(await call(fillPath(API_PATHS.batch, { batch_id: id })));

/** The fields of a preset that a cell can hold, from their JSON Schema. */
async function presetNamed(call: CallApi, preset: string) {
  const { presets } = await dataOf(await call(API_PATHS.presets));
  const found = presets.find(({ name }: Data) => name === preset);
  const { properties = {}, required = [] } = found?.fields ?? {};
  const fields = Object.fromEntries(
    Object.entries<Data>(properties).map(([name, { type, title, pattern }]) => [
      name,
      {
        type: type !== "string" ? type : pattern === undefined ? "text" : "color",
        ...(title === undefined ? {} : { title }),
        required: required.includes(name),
      },
    ]),
  );
  return { fields, has: { back: found?.back === true, foil: found?.foil === true } };
}

interface Wanted {
  columns: Record<string, string> | undefined;
  forAll: Record<string, string> | undefined;
}

/** Puts what was asked for in the place of what was guessed; returns what cannot be done, in words. */
function settle(
  list: SquadList,
  targets: readonly Target[],
  mapping: Mapping,
  { columns = {}, forAll = {} }: Wanted,
): string | undefined {
  for (const [key, heading] of Object.entries(columns)) {
    const at = list.columns.indexOf(heading);
    if (!targets.some((target) => target.key === key))
      return `columns: there is no field ${key}. There are ${named(targets)}.`;
    if (at < 0)
      return `columns.${key}: the table has no heading "${heading}". It has ${list.columns.map((_, place) => columnName(list.columns, place)).join(", ")}.`;
    mapping.columns[key] = at;
  }
  const common = targets.filter((target) => target.forAll);
  for (const [key, value] of Object.entries(forAll)) {
    if (!common.some((target) => target.key === key))
      return `for_all: ${key} cannot be the same for all. These can: ${named(common)}.`;
    mapping.all[key] = value;
  }
  return undefined;
}

/** The same refusal with the table's rows and columns in the place of the request's fields. */
function byRow(
  refusal: ApiRefusal,
  list: SquadList,
  targets: readonly Target[],
  mapping: Mapping,
): ApiRefusal {
  const { details = [], ...error } = refusal.error;
  const { faults } = faultsInList(list, targets, mapping, details);
  const others = details.filter(({ field }) => !field.startsWith("cards["));
  const byRow = faults.map(({ lines, column, message }) => ({
    field: `row ${lines.join(", ")}, ${column}:`,
    message,
  }));
  return new ApiRefusal({ ...error, details: [...others, ...byRow] }, refusal.retryAfter);
}
