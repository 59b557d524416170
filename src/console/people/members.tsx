/** @jsxImportSource preact */

import { addMember, changeRole, type NewMember, removeMember } from "../../app/people/manage-users.ts";
import { isAbove, MEMBER_ROLES, ROLE_TITLES } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { type WaysIn, waysIn } from "../../store/people/identities.ts";
import { type MemberRole, type Membership, membersOf, type User } from "../../store/people/users.ts";
import { Badge, Card, Choice, Confirm, CopyText, Field, PageHead, PostForm, Time } from "../elements.tsx";
import { type Flash, typedInto } from "../flash.ts";
import { shell } from "../layout.tsx";
import { notFound } from "../page-error.ts";
import { redirect } from "../respond.ts";
import { field, type MemberVisit, member, owner, takeFlash, type UserVisit, type Visit } from "../visit.ts";
import { ByGroups, comesBack, waysInWords } from "./ways-in.tsx";

/** A setup link, shown to its creator. No mail is sent: they pass it on in whichever way they trust. */
export function FreshLink({ link }: { link: NonNullable<Flash["link"]> }) {
  return (
    <section class="card card-accent" aria-labelledby="link-title">
      <h2 id="link-title">{`Send this link to ${link.email}`}</h2>
      {link.startsAnew && (
        <p>
          <strong>This email was in use here already, and who set its password is not certain.</strong> That
          password has ended, with all passkeys and sessions: only the person who opens this link can sign in
          now.
        </p>
      )}
      <p>It sets their password. It works once, within three days, and is shown only now.</p>
      <CopyText id="fresh-link" text={link.url} label="Setup link" />
    </section>
  );
}

/**
 * The message after somebody was added `as` a member or an operator: the link to pass on, or how they sign
 * in.
 */
export function addedFlash(
  { deps }: UserVisit,
  { user, setupUrl, startsAnew }: NewMember,
  as: string,
): Flash {
  if (setupUrl !== null) return { link: { email: user.email, url: setupUrl, startsAnew } };
  const { oidc } = deps.config;
  const way = oidc && (oidc.only || user.passwordHash === null) ? oidc.name : "the password they have";
  return { notice: `${user.email} is ${as} and signs in with ${way}.` };
}

/** How the added person comes in. */
export function addingNote({ deps }: Visit): string {
  const { oidc } = deps.config;
  if (oidc?.only) return `They sign in with their account of ${oidc.name} that has this email.`;
  const link = "You get a one-time link to pass on";
  return oidc ? `${link}; or they sign in with ${oidc.name}, if this is their email there.` : `${link}.`;
}

const ROLES = MEMBER_ROLES.map((role): [string, string] => [role, ROLE_TITLES[role]]);

export function InviteForm({
  visit,
  action,
  flash,
}: {
  visit: MemberVisit | Parameters<typeof PostForm>[0]["visit"];
  action: string;
  flash: Flash;
}) {
  const typed = typedInto(action, flash);
  return (
    <PostForm visit={visit} action={action} class="row-form">
      <Field label="Email" id="email">
        <input
          id="email"
          name="email"
          type="email"
          required
          placeholder="ana@example.com"
          autocomplete="off"
          value={typed?.get("email") ?? ""}
        />
      </Field>
      <Choice legend="Role" name="role" options={ROLES} chosen={typed?.get("role") ?? "developer"} />
      <button type="submit" class="button button-primary">
        Add member
      </button>
    </PostForm>
  );
}

/** The role selected in a form. Throws a Refusal for an unknown one. */
export function readRole(text: string): MemberRole {
  const role = MEMBER_ROLES.find((known) => known === text);
  if (!role)
    throw new Refusal("INVALID_REQUEST", "Choose whether the person is a viewer, a developer or an owner.");
  return role;
}

function MemberRow({
  visit,
  row,
  ways,
}: {
  visit: MemberVisit;
  row: { user: User; membership: Membership };
  ways: WaysIn | undefined;
}) {
  const { user, membership } = row;
  const { groupRole } = membership;
  const isSynced = visit.deps.config.oidc !== undefined && groupRole !== null;
  return (
    <tr>
      <th scope="row">
        {user.email}
        {user.id === visit.user.id && <span class="note"> (you)</span>}
      </th>
      <td data-label="Role">
        <span>
          <Badge>{ROLE_TITLES[membership.role]}</Badge> <ByGroups visit={visit} groupRole={groupRole} />
        </span>
      </td>
      <td data-label="Signs in with">{waysInWords(ways, visit) || <span class="note">Invited</span>}</td>
      <td data-label="Last sign-in">
        {user.lastSignInAt !== null ? (
          <Time at={user.lastSignInAt} style="relative" />
        ) : (
          <span class="note">Has not signed in yet</span>
        )}
      </td>
      <td class="cell-actions">
        {visit.role === "owner" && (
          <>
            <PostForm visit={visit} action={`/console/members/${user.id}/role`} class="inline">
              {MEMBER_ROLES.filter(
                (role) => role !== membership.role && !(isSynced && isAbove(groupRole, role)),
              ).map((role) => (
                <button key={role} type="submit" class="button button-small" name="role" value={role}>
                  {`Make ${role}`}
                </button>
              ))}
            </PostForm>
            <Confirm
              visit={visit}
              id={`remove-${user.id}`}
              action={`/console/members/${user.id}/remove`}
              button="Remove"
              title={`Remove ${user.email}?`}
              confirm="Remove member"
            >
              <p>
                They lose access to this account with their next click. Keys they made keep working.
                {comesBack(visit, groupRole !== null)}
              </p>
            </Confirm>
          </>
        )}
      </td>
    </tr>
  );
}

async function membersPage(visit: MemberVisit): Promise<Response> {
  const rows = await membersOf(visit.deps.store.read, visit.account.id);
  const people = rows.map(({ user }) => user);
  const ways = await waysIn(visit.deps.store.read, people, visit.deps.config.oidc?.issuer);
  const flash = await takeFlash(visit, "link");
  return shell(
    visit,
    "Members",
    <>
      <PageHead
        title="Members"
        lead="Viewers see everything here and change nothing. Developers use it; owners also decide who is a member and what is kept."
      />
      {flash.link && <FreshLink link={flash.link} />}
      <Card flush>
        <table class="table">
          <caption class="visually-hidden">Members</caption>
          <thead>
            <tr>
              <th scope="col">Email</th>
              <th scope="col">Role</th>
              <th scope="col">Signs in with</th>
              <th scope="col">Last sign-in</th>
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <MemberRow key={row.user.id} visit={visit} row={row} ways={ways.get(row.user.id)} />
            ))}
          </tbody>
        </table>
      </Card>
      {visit.role === "owner" && (
        <Card title="Add a member" note={addingNote(visit)}>
          <InviteForm visit={visit} action="/console/members" flash={flash} />
        </Card>
      )}
    </>,
    { flash },
  );
}

async function add(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, session, exchange } = visit;
  const email = field(visit, "email");
  const role = readRole(field(visit, "role"));
  const made = await addMember(deps, { accountId: account.id, email, role, vouched: false, by: user.id });
  await visit.flashes.put(session.id, addedFlash(visit, made, "a member"));
  return redirect("/console/members", exchange);
}

/** The id in the URL, if it is that of a member of this account. */
async function memberId({ deps, account, params }: MemberVisit): Promise<string> {
  const members = await membersOf(deps.store.read, account.id);
  const found = members.find(({ user }) => user.id === params.id);
  if (!found) throw notFound();
  return found.user.id;
}

async function remove(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, exchange } = visit;
  await removeMember(deps, { accountId: account.id, userId: await memberId(visit), by: user.id });
  await visit.flashes.put(visit.session.id, { notice: "The member is removed." });
  return redirect("/console/members", exchange);
}

async function setRole(visit: MemberVisit): Promise<Response> {
  const { deps, account, user, exchange } = visit;
  const userId = await memberId(visit);
  const role = readRole(field(visit, "role"));
  await changeRole(deps, { accountId: account.id, userId, role, by: user.id });
  return redirect("/console/members", exchange);
}

export const memberRoutes = [
  member.get("/console/members", membersPage),
  owner.post("/console/members", add),
  owner.post("/console/members/:id/remove", remove),
  owner.post("/console/members/:id/role", setRole),
];
