/** @jsxImportSource preact */
import type { ErrorDetail } from "../core/errors.ts";
import type { PartnerRefusal } from "../http/http-refusal.ts";
import { ERROR_STATUS } from "../http/http-refusal.ts";
import { labelOf } from "./card-words.ts";
import { Notice } from "./elements.tsx";

/** The rules that a card breaks, each with the label of its input. */
export function Rules({ details }: { details: readonly ErrorDetail[] }) {
  return (
    <ul>
      {details.map(({ field, message: rule }) => (
        <li key={field}>
          <strong title={field}>{labelOf(field)}</strong>
          {/^\p{Lu}/u.test(rule) ? ": " : " "}
          {rule}
        </li>
      ))}
    </ul>
  );
}

/**
 * Why a card is not made, by the labels of the form that asked for it. What the API calls fields and errors
 * is for developers, who find it in the titles.
 */
export function Refused({ error, title }: { error: PartnerRefusal; title: string }) {
  const { code, message, details = [] } = error;
  return (
    <Notice tone="bad" title={title}>
      {details.length > 0 ? <Rules details={details} /> : message}{" "}
      <a href={`/docs/errors/${code}`} title={`${ERROR_STATUS[code]} ${code}`}>
        About this error
      </a>
    </Notice>
  );
}
