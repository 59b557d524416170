import type { ErrorDetail } from "../core/errors.ts";
import { MAX_IDEMPOTENCY_KEY_CHARS } from "../core/limits.ts";

const VISIBLE_ASCII = new RegExp(`^[\\x21-\\x7e]{1,${MAX_IDEMPOTENCY_KEY_CHARS}}$`);

/**
 * What is wrong with a request's key. `isOptional`: the request may leave the key out, and the message says
 * so, also about an empty one.
 */
export function checkIdempotencyKey(
  key: string | null,
  { isOptional = false }: { isOptional?: boolean } = {},
): ErrorDetail[] {
  if (key !== null && VISIBLE_ASCII.test(key)) return [];
  const field = "header Idempotency-Key";
  if (!isOptional && (key === null || key === "")) {
    return [{ field, message: "is required: a unique value for each image you want, such as a UUID." }];
  }
  const remedy = isOptional ? ", or left out" : "";
  return [
    {
      field,
      message: `must be 1 to ${MAX_IDEMPOTENCY_KEY_CHARS} visible ASCII characters without spaces${remedy}.`,
    },
  ];
}
