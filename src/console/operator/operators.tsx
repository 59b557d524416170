/** @jsxImportSource preact */
import { addOperator, issueSetupLink, removeOperator } from "../../app/people/manage-users.ts";
import { type WaysIn, waysIn } from "../../store/people/identities.ts";
import { listOperators, type User } from "../../store/people/users.ts";
import { Card, Confirm, Field, PageHead, PostForm, Time } from "../elements.tsx";
import { typedInto } from "../flash.ts";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { addedFlash, addingNote, FreshLink } from "../people/members.tsx";
import { ByGroups, comesBack, waysInWords } from "../people/ways-in.tsx";
import { redirect } from "../respond.ts";
import { field, operator, takeFlash, type UserVisit } from "../visit.ts";

function Row({ visit, user, ways }: { visit: UserVisit; user: User; ways: WaysIn | undefined }) {
  const path = `/console/operator/operators/${user.id}`;
  const isSelf = user.id === visit.user.id;
  return (
    <tr>
      <th scope="row">
        {user.email}
        {isSelf && <span class="note"> (you)</span>}{" "}
        <ByGroups visit={visit} groupRole={user.operatorByGroups === 1 ? "operator" : null} />
      </th>
      <td data-label="Signs in with">{waysInWords(ways, visit) || <span class="note">Invited</span>}</td>
      <td data-label="Last sign-in">
        {user.lastSignInAt === null ? (
          <span class="note">Has not signed in yet</span>
        ) : (
          <Time at={user.lastSignInAt} style="relative" />
        )}
      </td>
      <td data-label="Since">
        <Time at={user.createdAt} />
      </td>
      <td class="cell-actions">
        {!isSelf && (
          <>
            <Confirm
              visit={visit}
              id={`link-${user.id}`}
              action={`${path}/link`}
              button="New setup link"
              title={`A new link for ${user.email}?`}
              confirm="Make the link"
              danger={false}
            >
              <p>
                The person who opens it sets this user's password. Earlier links stop working; once it is
                used, so do their passkeys and what they have connected.
              </p>
            </Confirm>
            <Confirm
              visit={visit}
              id={`remove-${user.id}`}
              action={`${path}/remove`}
              button="Remove"
              title={`Remove ${user.email}?`}
              confirm="Remove operator"
            >
              <p>
                They are signed out at once. If they are a member of an account, they stay one.
                {comesBack(visit, user.operatorByGroups === 1)}
              </p>
            </Confirm>
          </>
        )}
      </td>
    </tr>
  );
}

async function operatorsPage(visit: UserVisit): Promise<Response> {
  const operators = await listOperators(visit.deps.store.read);
  const ways = await waysIn(visit.deps.store.read, operators, visit.deps.config.oidc?.issuer);
  const flash = await takeFlash(visit, "link");
  return shell(
    visit,
    "Operators",
    <>
      <PageHead
        title="Operators"
        lead="Operators run this service: accounts, credits, and a read-only look at every console."
      />
      {flash.link && <FreshLink link={flash.link} />}
      <Card flush>
        <table class="table">
          <caption class="visually-hidden">Operators</caption>
          <thead>
            <tr>
              <th scope="col">Email</th>
              <th scope="col">Signs in with</th>
              <th scope="col">Last sign-in</th>
              <th scope="col">Since</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {operators.map((user) => (
              <Row key={user.id} visit={visit} user={user} ways={ways.get(user.id)} />
            ))}
          </tbody>
        </table>
      </Card>
      <Card title="Add an operator" note={addingNote(visit)}>
        <PostForm visit={visit} action="/console/operator/operators" class="row-form">
          <Field label="Email" id="email">
            <input
              id="email"
              name="email"
              type="email"
              required
              autocomplete="off"
              value={typedInto("/console/operator/operators", flash)?.get("email") ?? ""}
            />
          </Field>
          <button type="submit" class="button button-primary">
            Add operator
          </button>
        </PostForm>
      </Card>
    </>,
    { flash },
  );
}

async function add(visit: UserVisit): Promise<Response> {
  const made = await addOperator(visit.deps, { email: field(visit, "email"), by: visit.user.id });
  await visit.flashes.put(visit.session.id, addedFlash(visit, made, "an operator"));
  return redirect("/console/operator/operators", visit.exchange);
}

/** The operator in the URL. */
async function operatorOf({ deps, params }: UserVisit): Promise<User> {
  const found = (await listOperators(deps.store.read)).find(({ id }) => id === params.id);
  if (!found) throw notFound();
  return found;
}

async function newLink(visit: UserVisit): Promise<Response> {
  const { id: userId } = await operatorOf(visit);
  const { user, setupUrl } = await issueSetupLink(visit.deps, { userId, by: visit.user.id });
  await visit.flashes.put(visit.session.id, { link: { email: user.email, url: setupUrl } });
  return redirect("/console/operator/operators", visit.exchange);
}

async function remove(visit: UserVisit): Promise<Response> {
  const { id: userId } = await operatorOf(visit);
  const user = await removeOperator(visit.deps, { userId, by: visit.user.id });
  await visit.flashes.put(visit.session.id, { notice: `${user.email} is no longer an operator.` });
  return redirect("/console/operator/operators", visit.exchange);
}

export const operatorsRoutes = [
  operator.get("/console/operator/operators", operatorsPage),
  operator.post("/console/operator/operators", add),
  operator.post("/console/operator/operators/:id/link", newLink),
  operator.post("/console/operator/operators/:id/remove", remove),
];
