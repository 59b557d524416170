import { Column, type DriverValueDecoder, is, noopDecoder, SQL, Subquery } from "drizzle-orm";

/** What Drizzle makes of a query that is kept, with what it does not publish of it. */
export interface PreparedQuery<Values, Result> {
  execute(values: Values): PromiseLike<Result> & { sync?: () => Result };
  /** What it selects; absent where it returns no rows. */
  fields?: readonly SelectedField[] | undefined;
  /** Replaces Drizzle's own making of objects. */
  customResultMapper?: (rows: unknown[][]) => unknown;
}

/** `path` is the name in the result, or two where tables are told apart. */
interface SelectedField {
  path: readonly string[];
  field: unknown;
}

type Decode = (value: unknown) => unknown;
type Decoder = DriverValueDecoder<unknown, unknown>;

/**
 * Has a query's rows made into objects by what is known of its columns beforehand. Drizzle finds it out anew
 * for each value of each row, which takes as long as SQLite takes to read them. Leaves queries whose objects
 * have objects in them, as those of joined tables, to Drizzle.
 */
export function mapRowsDirectly(query: PreparedQuery<never, unknown>): void {
  const { fields } = query;
  if (!fields?.every(({ path }) => path.length === 1)) return;
  const names = fields.map(({ path }) => path[0] as string);
  const decoders = fields.map(({ field }) => decoderOf(field));
  const object = (row: unknown[]) => {
    const result: Record<string, unknown> = {};
    for (let place = 0; place < names.length; place++) {
      const value = row[place];
      const decode = decoders[place];
      result[names[place] as string] = decode && value !== null ? decode(value) : value;
    }
    return result;
  };
  query.customResultMapper = (rows) => rows.map(object);
}

/** Undefined for what stays as the driver returns it. */
function decoderOf(field: unknown): Decode | undefined {
  const decoder = decoderIn(field);
  const isPlain =
    decoder.mapFromDriverValue === Column.prototype.mapFromDriverValue ||
    decoder.mapFromDriverValue === noopDecoder.mapFromDriverValue;
  return isPlain ? undefined : (value) => decoder.mapFromDriverValue(value);
}

/** Where Drizzle itself looks for it. */
function decoderIn(field: unknown): Decoder {
  if (is(field, Column)) return field;
  if (is(field, SQL)) return (field as unknown as { decoder: Decoder }).decoder;
  const { sql } = is(field, Subquery) ? field._ : (field as { sql: SQL });
  return (sql as unknown as { decoder: Decoder }).decoder;
}
