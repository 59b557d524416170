import { ENVIRONMENTS, type Environment } from "../core/account.ts";
import type { MemberVisit } from "./visit.ts";

/** So many of the account's of each environment, as `list` has them, the live ones first. */
export async function ofBothEnvironments<T>(
  { account }: MemberVisit,
  limit: number,
  list: (query: { accountId: string; environment: Environment; limit: number }) => Promise<T[]>,
): Promise<T[]> {
  const lists = ENVIRONMENTS.map((environment) => list({ accountId: account.id, environment, limit }));
  return (await Promise.all(lists)).flat();
}
