import type { AskedComposition, Composition } from "../../core/card.ts";

/**
 * The composition a card is made in: the one that was asked for where the template supports it, otherwise the first it
 * supports. A request for another was refused, unless the template has changed since.
 */
export function compositionFor(
  asked: AskedComposition | undefined,
  supported: readonly Composition[],
): Composition {
  return supported.find((one) => one === asked) ?? supported[0] ?? "cutout";
}
