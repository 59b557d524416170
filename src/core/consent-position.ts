/** A place in the list of an account's consents, the last changed first. */
export interface ConsentPosition {
  updatedAt: number;
  externalId: string;
}

/** Writes it for an address: ids may hold anything. */
export function formatConsentPosition({ updatedAt, externalId }: ConsentPosition): string {
  return Buffer.from(JSON.stringify([updatedAt, externalId])).toString("base64url");
}

/** Returns undefined for any other text. */
export function parseConsentPosition(text: string): ConsentPosition | undefined {
  try {
    const [updatedAt, externalId] = JSON.parse(Buffer.from(text, "base64url").toString("utf8")) as unknown[];
    return typeof updatedAt === "number" && typeof externalId === "string"
      ? { updatedAt, externalId }
      : undefined;
  } catch {
    return undefined;
  }
}
