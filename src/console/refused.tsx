/** @jsxImportSource preact */
import type { PartnerRefusal } from "../http/http-refusal.ts";
import { ERROR_STATUS } from "../http/http-refusal.ts";
import { labelOf } from "./card-words.ts";
import { Notice } from "./elements.tsx";

/**
 * Why a card is not made, by the labels of the form that asked for it. What the API calls fields and errors
 * is for developers, who find it in the titles.
 */
export function Refused({ error, title }: { error: PartnerRefusal; title: string }) {
  const { code, message, details = [] } = error;
  return (
    <Notice tone="bad" title={title}>
      {details.length > 0 ? (
        <ul>
          {details.map(({ field, message: rule }) => (
            <li key={field}>
              <strong title={field}>{labelOf(field)}</strong>
              {/^\p{Lu}/u.test(rule) ? ": " : " "}
              {rule}
            </li>
          ))}
        </ul>
      ) : (
        message
      )}{" "}
      <a href={`/docs/errors/${code}`} title={`${ERROR_STATUS[code]} ${code}`}>
        About this error
      </a>
    </Notice>
  );
}
