import { createKey } from "../app/people/manage-account.ts";
import { privateJson } from "./respond.ts";
import { canWrite, type MemberVisit, member } from "./visit.ts";

// What the documentation's own script asks for a reader who is signed in here.

/** How keys are called that were made from the documentation. */
const KEY_NAME = "Documentation";

/** Whose test key can be made, and the token that a form of this session carries. */
async function reader(visit: MemberVisit): Promise<Response> {
  return privateJson(visit.exchange, {
    account: visit.account.name,
    csrf: visit.session.csrfToken,
    may_create: canWrite(visit),
  });
}

/** Makes a test key: keys are stored as hashes, so none that is there can be shown. */
async function makeTestKey(visit: MemberVisit): Promise<Response> {
  const { deps, account, user } = visit;
  const { key } = await createKey(deps, {
    accountId: account.id,
    environment: "test",
    name: KEY_NAME,
    by: user.id,
  });
  return privateJson(visit.exchange, { key });
}

export const documentationRoutes = [
  member.get("/console/documentation", reader),
  member.post("/console/documentation/key", makeTestKey),
];
