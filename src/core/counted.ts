/** A count with its noun, as in "1 account" and "2 accounts". `plural` is for nouns that take no s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
