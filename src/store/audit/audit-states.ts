import { type SQL, sql } from "drizzle-orm";
import { LEASE_MS, MAX_RENDERS, MAX_RETRY_PAUSE_MS } from "../../core/limits.ts";
import type { Tx } from "../store.ts";

/** Whether an image's row is possible in its state, as an expression of SQL: true or false, never null. */
export function soundState({ images: i }: Tx["t"]): SQL {
  const sound = sql`${i.renders} between 0 and ${sql.raw(String(MAX_RENDERS))} and case ${i.state}
      when 'queued' then ${i.renders} < ${sql.raw(String(MAX_RENDERS))} and ${i.leaseToken} is null and ${i.completedAt} is null
        and ${i.availableAt} <= ${i.updatedAt} + ${sql.raw(String(MAX_RETRY_PAUSE_MS))}
      when 'waiting' then ${i.renders} = 0 and ${i.leaseToken} is null and ${i.completedAt} is null and ${i.lane} = 1
      when 'rendering' then ${i.renders} >= 1 and ${i.leaseToken} is not null and ${i.completedAt} is null
        and ${i.leaseExpiresAt} <= ${i.updatedAt} + ${sql.raw(String(LEASE_MS))}
      when 'completed' then ${i.renders} >= 1 and ${i.outputName} is not null and ${i.outputBytes} > 0 and ${i.expiresAt} > ${i.completedAt} and ${i.failureCode} is null and ${i.leaseToken} is null
      when 'failed' then ${i.completedAt} is not null and ${i.failureCode} is not null and ${i.failureMessage} is not null and ${i.outputName} is null and ${i.leaseToken} is null
      else false end and (${i.environment} = 'test' or ${i.environment} = 'live' and (${i.sourceSha256} is not null or ${i.forgottenAt} is not null or ${i.lane} = 1 and ${i.state} in ('waiting', 'failed')))
      and cast(${i.request} as text) like '{%}'`;
  return sql`coalesce(${sound}, false)`;
}
