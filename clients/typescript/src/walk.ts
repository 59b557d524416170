import type { Call, Transport } from "./transport.ts";

/** Every item of a list, asked for page by page as one walks. */
export async function* walk<Item, Page extends { next_cursor: string | null }>(
  calls: Transport,
  call: Omit<Call, "method">,
  itemsOf: (page: Page) => Item[],
): AsyncGenerator<Item, void, undefined> {
  let after: string | null = null;
  do {
    const query: Call["query"] = { ...call.query, ...(after === null ? {} : { after }) };
    const page: Page = await calls.call<Page>({ method: "GET", ...call, query });
    yield* itemsOf(page);
    after = page.next_cursor;
  } while (after !== null);
}
