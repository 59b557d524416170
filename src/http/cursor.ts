import { createHash } from "node:crypto";
import type { Environment } from "../core/api-key.ts";
import type { ListPosition, PublicStatus } from "../store/images.ts";

interface Filter {
  accountId: string;
  environment: Environment;
  status?: PublicStatus | undefined;
}

const SHAPE = /^(\d{1,15})\.(img_[0-9A-Za-z]{1,64})\.([0-9a-f]{12})$/;

/** An opaque cursor: the last item's place, bound to the filter it was made with. */
export function encodeCursor(position: ListPosition, filter: Filter): string {
  const place = `${position.createdAt}.${position.id}`;
  return Buffer.from(`${place}.${binding(place, filter)}`).toString("base64url");
}

/** Null for a cursor that is broken or was made with another filter, account or environment. */
export function decodeCursor(text: string, filter: Filter): ListPosition | null {
  const bytes = Buffer.from(text, "base64url");
  // The decoder skips what it does not know; a cursor is taken only as it was given out.
  if (bytes.toString("base64url") !== text) return null;
  const match = SHAPE.exec(bytes.toString("latin1"));
  if (!match?.[1] || !match[2]) return null;
  if (binding(`${match[1]}.${match[2]}`, filter) !== match[3]) return null;
  return { createdAt: Number(match[1]), id: match[2] };
}

/** Not a secret: it catches mistakes. What a made-up cursor reaches is the caller's own images all the same. */
function binding(place: string, { accountId, environment, status }: Filter): string {
  const text = JSON.stringify([place, accountId, environment, status ?? null]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
