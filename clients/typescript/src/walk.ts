/** Every item of a list, asked for page by page as one walks. */
export async function* walk<Item>(
  page: (after: string | undefined) => Promise<{ items: Item[]; next: string | null }>,
): AsyncGenerator<Item, void, undefined> {
  let after: string | undefined;
  do {
    const { items, next } = await page(after);
    yield* items;
    after = next ?? undefined;
  } while (after !== undefined);
}
