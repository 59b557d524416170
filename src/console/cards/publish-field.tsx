/** @jsxImportSource preact */
import { isoTime, parseTime } from "../../core/time.ts";
import { Field } from "../elements.tsx";

/** When a card is published, as a form has it: by the clocks of a time zone. */
interface Publication {
  /** Such as 2026-12-06T18:00; empty for at once. */
  publish_on: string;
  /** Such as Europe/Madrid; empty for UTC. */
  publish_zone: string;
}

/** How far the clocks of a zone are ahead of UTC at a moment. Throws a RangeError for no zone. */
function aheadOfUtc(at: number, timeZone: string): number {
  const clock = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  return Date.parse(`${clock.format(at).replace(" ", "T")}Z`) - at;
}

/** The moment in UTC, as the API takes it. What is no time stays text, so that the refusal can name it. */
export function publicationAt({ publish_on, publish_zone }: Publication): string {
  const shown = parseTime(`${publish_on.slice(0, 16)}:00Z`);
  if (shown === null) return publish_on;
  try {
    const near = shown - aheadOfUtc(shown, publish_zone || "UTC");
    // Clocks may change between the two.
    return isoTime(shown - aheadOfUtc(near, publish_zone || "UTC"));
  } catch {
    return isoTime(shown);
  }
}

/** A moment of the API as the form has it, in UTC. */
export const publicationOf = (at: string | undefined): Publication => {
  const moment = at === undefined ? null : parseTime(at);
  return { publish_on: moment === null ? "" : isoTime(moment).slice(0, 16), publish_zone: "" };
};

/** When the card is shown to others. The page's script fills in the reader's zone until a time is written. */
export function PublishField({
  fields: { publish_on, publish_zone },
  problem,
  isMade = false,
}: {
  fields: Publication;
  problem: string;
  /** Whether the card is there already. */
  isMade?: boolean;
}) {
  const zone = publish_zone || "UTC";
  return (
    <Field
      label="Publish on"
      id="publish_on"
      hint={
        <>
          {isMade ? "Its" : "The card is made now; its"} page and galleries show it from then on. Empty: at
          once. Time zone: <span data-zone-name>{zone}</span>.
        </>
      }
      problem={problem}
    >
      <input type="hidden" name="publish_zone" value={zone} data-zone />
      <input
        id="publish_on"
        name="publish_on"
        type="datetime-local"
        value={publish_on}
        aria-describedby="publish_on-hint publish_on-problem"
      />
    </Field>
  );
}
