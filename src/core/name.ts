import { Refusal } from "./errors.ts";

/** Controls, line breaks, and what turns the direction of the text around it: with them a name can pose as another one. */
const DECEPTIVE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A name for people to read, trimmed. `what` says in the Refusal whose name is wrong, such as "account name". */
export function checkedName(what: string, text: string, maxChars: number): string {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > maxChars)
    throw new Refusal(
      "INVALID_REQUEST",
      `The ${what} must have 1 to ${maxChars} characters; it has ${length}.`,
    );
  if (isDeceptive(name))
    throw new Refusal(
      "INVALID_REQUEST",
      `The ${what} must be one line without control characters and without overrides of the writing direction.`,
    );
  return name;
}

/** Whether a text holds what no name may hold. */
export function isDeceptive(text: string): boolean {
  return text.search(DECEPTIVE) >= 0;
}

/** A text as it may stand in a line with others, whatever it holds. */
export function inOneLine(text: string): string {
  return text.replace(DECEPTIVE, "\ufffd");
}

/** A player's name as it is searched: without case, compatibility forms and spaces around. */
export function searchedName(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}
