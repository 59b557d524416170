/** A position in a list ordered by (createdAt, id); any row of the list is one. */
export interface ListPosition {
  createdAt: number;
  id: string;
}

/** Formats it as "1763720000000.img_abc", for a URL or a cursor. */
export function formatPosition({ createdAt, id }: ListPosition): string {
  return `${createdAt}.${id}`;
}

/** Returns undefined for any other text. */
export function parsePosition(text: string): ListPosition | undefined {
  const match = /^(\d{1,15})\.([a-z]{1,8}_[0-9A-Za-z]{1,64})$/.exec(text);
  return match ? { createdAt: Number(match[1]), id: match[2] ?? "" } : undefined;
}
