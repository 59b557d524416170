import { Type } from "@sinclair/typebox";

/** Where an image stands in its set, in every view of it. */
export const SetPlace = Type.Object(
  {
    id: Type.String({
      pattern: "^set_[0-9A-Za-z]+$",
      description: "The set.",
      examples: ["set_3Hs5mJd0nV7rQe2TzXyB8kWc"],
    }),
    name: Type.String({ description: "The set's name.", examples: ["Rovers 2026/27"] }),
    parallel: Type.String({ description: "The parallel of the card.", examples: ["gold"] }),
    serial: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description:
        "Its number, which no other card of the player and parallel has; null in a parallel without numbers, and for an image that failed, whose number is free again.",
      examples: [12],
    }),
    size: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description:
        "How many cards of the player the parallel has; null for any number, as in an open edition.",
      examples: [50],
    }),
  },
  {
    additionalProperties: false,
    $id: "SetPlace",
    description: "Where the card stands in its set. Absent for a card outside of sets.",
  },
);
