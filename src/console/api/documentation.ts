import { mayDelete, scopesFor } from "../../app/people/deletion-rights.ts";
import { createKey } from "../../app/people/manage-account.ts";
import { privateJson } from "../respond.ts";
import { canWrite, type MemberVisit, member } from "../visit.ts";

// Serves the documentation's script for a reader who is signed in.

/** The name of keys created from the documentation. */
const KEY_NAME = "Documentation";

/** The accounts for which a test key can be created, and the session's form token. */
async function reader(visit: MemberVisit): Promise<Response> {
  return privateJson(visit.exchange, {
    account: visit.account.name,
    csrf: visit.session.csrfToken,
    may_create: canWrite(visit),
  });
}

/** Creates a test key: keys are stored as hashes, so an existing one cannot be shown. */
async function makeTestKey(visit: MemberVisit): Promise<Response> {
  const { deps, account, user } = visit;
  const { key } = await createKey(deps, {
    accountId: account.id,
    environment: "test",
    name: KEY_NAME,
    scopes: mayDelete(visit) ? null : scopesFor(visit),
    by: user.id,
  });
  return privateJson(visit.exchange, { key });
}

export const documentationRoutes = [
  member.get("/console/documentation", reader),
  member.post("/console/documentation/key", makeTestKey),
];
