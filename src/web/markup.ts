import type { VNode } from "preact";
import { jsxTemplate } from "preact/jsx-runtime";

/** Markup that was made elsewhere, escaped where it must be, and stands in a page as it is. */
export function Markup({ text }: { text: string }): VNode {
  return jsxTemplate([text]);
}
