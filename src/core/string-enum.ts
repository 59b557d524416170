import { Kind, type TSchema, Type, TypeRegistry } from "@sinclair/typebox/type";

const KIND = "StringEnum";

TypeRegistry.Set<TSchema>(KIND, (schema, value) => (schema.enum as unknown[]).includes(value));

/** One of `values`, published as `{type: "string", enum}` rather than TypeBox's `anyOf` of constants. */
export const StringEnum = <const T extends readonly string[]>(values: T, options: object = {}) =>
  Type.Unsafe<T[number]>({ ...options, [Kind]: KIND, type: "string", enum: [...values] });
