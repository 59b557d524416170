/** @jsxImportSource preact */
import { addOperator } from "../../app/manage-users.ts";
import { listOperators } from "../../store/users.ts";
import { Card, Field, PageHead, PostForm, Time } from "../elements.tsx";
import { shell } from "../layout.tsx";
import { FreshLink } from "../members.tsx";
import { redirect } from "../respond.ts";
import { field, operator, type UserVisit } from "../visit.ts";

async function operatorsPage(visit: UserVisit): Promise<Response> {
  const operators = await listOperators(visit.parts.store.read);
  const flash = visit.flashes.take(visit.session.id);
  return shell(
    visit,
    "Operators",
    <>
      <PageHead
        title="Operators"
        lead="Operators run this service: accounts, credits, and a read-only look at every console."
      />
      {flash?.link && <FreshLink link={flash.link} />}
      <Card flush>
        <table class="table">
          <caption class="visually-hidden">Operators</caption>
          <thead>
            <tr>
              <th scope="col">Email</th>
              <th scope="col">Last sign-in</th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {operators.map((user) => (
              <tr key={user.id}>
                <th scope="row">{user.email}</th>
                <td data-label="Last sign-in">
                  {user.lastSignInAt === null ? "Not yet" : <Time at={user.lastSignInAt} style="relative" />}
                </td>
                <td data-label="Since">
                  <Time at={user.createdAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Card>
      <Card title="Add an operator" note="You get a one-time link to pass on.">
        <PostForm visit={visit} action="/console/operator/operators" class="row-form">
          <Field label="Email" id="email">
            <input id="email" name="email" type="email" required autocomplete="off" />
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
  const { user, setupUrl } = await addOperator(visit.parts, {
    email: field(visit, "email"),
    by: visit.user.id,
  });
  visit.flashes.put(
    visit.session.id,
    setupUrl === null
      ? { notice: `${user.email} is an operator and signs in with the password they have.` }
      : { link: { email: user.email, url: setupUrl } },
  );
  return redirect("/console/operator/operators", visit.exchange);
}

export const operatorsRoutes = [
  operator.get("/console/operator/operators", operatorsPage),
  operator.post("/console/operator/operators", add),
];
