import { and, eq, inArray, isNull, sql } from "drizzle-orm";
import type { Tx } from "../store.ts";

/** The tokens of all leases: of renders, deliveries and exports. As many as are under way. */
export async function leaseTokens({ db, t }: Tx): Promise<string[]> {
  const { images: i, webhookDeliveries: d, imageExports: e } = t;
  const ofRenders = await db
    .select({ token: i.leaseToken })
    .from(i)
    .where(and(inArray(i.environment, ["live", "test"]), isNull(i.completedAt), eq(i.state, "rendering")));
  const ofDeliveries = await db.selectDistinct({ token: d.leaseToken }).from(d).where(eq(d.state, "sending"));
  const ofExports = await db
    .select({ token: e.leaseToken })
    .from(e)
    .where(sql`${e.leaseExpiresAt} is not null`);
  return [...ofRenders, ...ofDeliveries, ...ofExports].flatMap(({ token }) =>
    token === null ? [] : [token],
  );
}
