import { eq } from "drizzle-orm";
import type { Tx } from "../store.ts";

/** How a picture was made, beyond what the image's row says. Plain data: it is kept as JSON. */
export interface Receipt {
  /** SHA-256 of the picture, as lower-case hex. */
  sha256: string;
  /** That of the card's other side; absent where none was made. */
  backSha256?: string;
  /** What drew it: cardpress, Chromium, what finds and cuts out players, and the fonts. */
  tools: Record<string, string>;
  /** Where face and body lie in the cutout; null for a template without a player. */
  framing: unknown;
  /** How long each stage took. */
  timingsMs: Record<string, number>;
}

export async function insertReceipt({ db, t }: Tx, imageId: string, receipt: Receipt): Promise<void> {
  await db.insert(t.imageReceipts).values({ imageId, receipt });
}

export async function findReceipt({ db, t }: Tx, imageId: string): Promise<Receipt | null> {
  const r = t.imageReceipts;
  const [row] = await db.select().from(r).where(eq(r.imageId, imageId)).limit(1);
  return (row?.receipt as Receipt | undefined) ?? null;
}

export async function deleteReceipt({ db, t }: Tx, imageId: string): Promise<void> {
  await db.delete(t.imageReceipts).where(eq(t.imageReceipts.imageId, imageId));
}
