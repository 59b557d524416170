import { Type } from "@sinclair/typebox";

/** What each page of a list says of the one behind it. */
export const nextPage = {
  has_more: Type.Boolean({ description: "Whether there is another page." }),
  next_cursor: Type.Union([Type.String(), Type.Null()], {
    description: "Send it as `after` to get the next page; null on the last page.",
  }),
};
