/** @jsxImportSource preact */

import { creditsOf, planOfMonth } from "../../app/credits/credits.ts";
import { statementPage } from "../../app/credits/statement.ts";
import { logAction } from "../../app/operations/activity.ts";
import {
  changePlan,
  grantCredits,
  renameAccount,
  resumeAccount,
  suspendAccount,
} from "../../app/people/manage-account.ts";
import { addMember, issueSetupLink } from "../../app/people/manage-users.ts";
import { ROLE_TITLES } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_ACCOUNT_NAME_CHARS } from "../../core/limits.ts";
import { type Account, findAccount } from "../../store/people/accounts.ts";
import { listActivity } from "../../store/people/activity.ts";
import { waysIn } from "../../store/people/identities.ts";
import { openAccount } from "../../store/people/sessions.ts";
import { membershipsOf, membersOf } from "../../store/people/users.ts";
import { Balance } from "../credits/credits.tsx";
import { Ledger, Statement, statementCsv } from "../credits/ledger.tsx";
import { BudgetCard, saveBudget } from "../credits/usage-alerts.tsx";
import {
  Badge,
  Card,
  Confirm,
  count,
  counted,
  Field,
  Notice,
  PageHead,
  PostForm,
  Time,
} from "../elements.tsx";
import type { Flash } from "../flash.ts";
import { shell } from "../layout.tsx";
import { ownPath } from "../own-path.ts";
import { notFound } from "../page-error.ts";
import { ActivityTable, byName } from "../people/activity-table.tsx";
import { addedFlash, FreshLink, InviteForm, readRole } from "../people/members.tsx";
import { ByGroups, waysInWords } from "../people/ways-in.tsx";
import { redirect } from "../respond.ts";
import { field, operator, takeFlash, type UserVisit } from "../visit.ts";
import { readCredits, readTier, TierSelect } from "./accounts.tsx";

const ENTRIES_SHOWN = 10;
const MAX_REASON_CHARS = 300;

async function accountOf({ deps, params }: UserVisit): Promise<Account> {
  const account = await findAccount(deps.store.read, params.id ?? "");
  if (!account) throw notFound();
  return account;
}

const path = (account: Account) => `/console/operator/accounts/${account.id}`;

function HeadActions({ visit, account }: { visit: UserVisit; account: Account }) {
  return (
    <>
      <PostForm visit={visit} action={`${path(account)}/view`}>
        <button type="submit" class="button">
          View console
        </button>
      </PostForm>
      <Confirm
        visit={visit}
        id="rename"
        action={`${path(account)}/rename`}
        button="Rename"
        small={false}
        title={`Another name for ${account.name}?`}
        confirm="Rename account"
        danger={false}
      >
        <p>Keys, images and credits stay as they are.</p>
        <Field label="Name" id="new-name">
          <input
            id="new-name"
            name="name"
            type="text"
            required
            maxLength={MAX_ACCOUNT_NAME_CHARS}
            value={account.name}
          />
        </Field>
      </Confirm>
      {account.status === "active" ? (
        <Confirm
          visit={visit}
          id="suspend"
          action={`${path(account)}/suspend`}
          button="Suspend"
          small={false}
          title={`Suspend ${account.name}?`}
          confirm="Suspend account"
        >
          <p>
            Every request with its keys is refused with 403 from now on. Cards in the making are finished.
          </p>
          <Field label="Reason, shown to the account" id="reason">
            <input id="reason" name="reason" type="text" required maxLength={MAX_REASON_CHARS} />
          </Field>
        </Confirm>
      ) : (
        <PostForm visit={visit} action={`${path(account)}/resume`}>
          <button type="submit" class="button button-primary">
            Resume
          </button>
        </PostForm>
      )}
    </>
  );
}

function MoneyForms({ visit, account }: { visit: UserVisit; account: Account }) {
  return (
    <div class="cards">
      <Card title="Top up" note="Top-up credits stay until they are used.">
        <PostForm visit={visit} action={`${path(account)}/credits`} class="form">
          <div class="field-pair">
            <Field label="Credits" id="amount">
              <input id="amount" name="amount" type="text" inputMode="numeric" required />
            </Field>
            <Field label="Reason" id="top-up-reason">
              <input id="top-up-reason" name="reason" type="text" required maxLength={MAX_REASON_CHARS} />
            </Field>
          </div>
          <div>
            <button type="submit" class="button button-primary">
              Add credits
            </button>
          </div>
        </PostForm>
      </Card>
      <Card title="Plan" note="The tier holds at once, the credits from next month on.">
        <PostForm visit={visit} action={`${path(account)}/plan`} class="form">
          <Field label="Tier" id="tier">
            <TierSelect current={account.tier} />
          </Field>
          <Field label="Credits a month" id="credits">
            <input
              id="credits"
              name="credits"
              type="text"
              inputMode="numeric"
              required
              value={account.creditLimit}
            />
          </Field>
          <div>
            <button type="submit" class="button">
              Change plan
            </button>
          </div>
        </PostForm>
      </Card>
    </div>
  );
}

async function Members({ visit, account, flash }: { visit: UserVisit; account: Account; flash: Flash }) {
  const { read } = visit.deps.store;
  const { oidc } = visit.deps.config;
  const members = await membersOf(read, account.id);
  const people = members.map(({ user }) => user);
  const ways = await waysIn(read, people, oidc?.issuer);
  return (
    <Card title="Members">
      {members.length > 0 && (
        <ul class="list">
          {members.map(({ user, membership }) => (
            <li key={user.id}>
              <span class="ellipsis">{user.email}</span>
              <Badge>{ROLE_TITLES[membership.role]}</Badge>
              <ByGroups visit={visit} groupRole={membership.groupRole} />
              <span class="note">{waysInWords(ways.get(user.id), visit) || "Invited"}</span>
              <span class="grow" />
              {!oidc?.only && (
                <Confirm
                  visit={visit}
                  id={`link-${user.id}`}
                  action={`${path(account)}/members/${user.id}/link`}
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
              )}
            </li>
          ))}
        </ul>
      )}
      <InviteForm visit={visit} action={`${path(account)}/members`} flash={flash} />
    </Card>
  );
}

async function accountPage(visit: UserVisit): Promise<Response> {
  const account = await accountOf(visit);
  const { read } = visit.deps.store;
  const [{ lines }, log] = await Promise.all([
    statementPage(read, { accountId: account.id, limit: ENTRIES_SHOWN }),
    listActivity(read, { accountId: account.id, limit: ENTRIES_SHOWN }),
  ]);
  const flash = await takeFlash(visit, "link");
  return shell(
    visit,
    account.name,
    <>
      <PageHead
        title={account.name}
        lead={
          <>
            {account.tier} plan, <code>{account.id}</code>, since <Time at={account.createdAt} />
          </>
        }
      >
        <HeadActions visit={visit} account={account} />
      </PageHead>
      {flash.link && <FreshLink link={flash.link} />}
      {account.status === "suspended" && (
        <Notice tone="bad" title="Suspended">
          {account.suspendedReason ?? "No reason was given."}
        </Notice>
      )}
      <Balance credits={await creditsOf(read, account, visit.now)} />
      <MoneyForms visit={visit} account={account} />
      {await BudgetCard({ visit, account, flash, action: `${path(account)}/budget` })}
      {await Members({ visit, account, flash })}
      <Card
        flush
        title="Ledger"
        note={`The newest ${ENTRIES_SHOWN} entries. Entries are never changed.`}
        actions={
          <a class="button button-small" href={`${path(account)}/ledger`}>
            All entries
          </a>
        }
      >
        <Ledger lines={lines} linked={false} />
      </Card>
      <Card flush title="Activity" note={`The newest ${ENTRIES_SHOWN} entries of the audit log.`}>
        <ActivityTable rows={log} who={byName} />
      </Card>
    </>,
    { flash },
  );
}

async function ledgerOf(visit: UserVisit): Promise<Response> {
  const account = await accountOf(visit);
  return shell(
    visit,
    `Ledger of ${account.name}`,
    <>
      <PageHead title="Ledger" lead={<a href={path(account)}>{account.name}</a>} />
      <Balance credits={await creditsOf(visit.deps.store.read, account, visit.now)} />
      {await Statement({ visit, accountId: account.id, path: `${path(account)}/ledger`, linked: false })}
    </>,
  );
}

function readReason(visit: UserVisit): string {
  const reason = field(visit, "reason");
  if (reason === "" || reason.length > MAX_REASON_CHARS)
    throw new Refusal(
      "INVALID_REQUEST",
      `Give a reason of 1 to ${MAX_REASON_CHARS} characters; it goes into the audit log.`,
    );
  return reason;
}

/** Wraps a change of one account: afterwards its page shows what was done. */
function change(act: (visit: UserVisit, account: Account) => Promise<string>) {
  return async (visit: UserVisit): Promise<Response> => {
    const account = await accountOf(visit);
    await visit.flashes.put(visit.session.id, { notice: await act(visit, account) });
    return redirect(path(account), visit.exchange);
  };
}

const rename = change(async (visit, account) => {
  const { name } = await renameAccount(visit.deps, account.id, {
    name: field(visit, "name"),
    by: visit.user.id,
  });
  return `The account is ${name} now.`;
});

const suspend = change(async (visit, account) => {
  await suspendAccount(visit.deps, account.id, readReason(visit), visit.user.id);
  return "The account is suspended.";
});

const resume = change(async (visit, account) => {
  await resumeAccount(visit.deps, account.id, visit.user.id);
  return "The account is active again.";
});

const topUp = change(async (visit, account) => {
  const amount = readCredits(field(visit, "amount"), "Credits", 1);
  await grantCredits(visit.deps, {
    accountId: account.id,
    amount,
    reason: readReason(visit),
    by: visit.user.id,
  });
  return `${counted(amount, "credit is", "credits are")} added.`;
});

const plan = change(async (visit, account) => {
  const tier = readTier(field(visit, "tier"));
  const credits = readCredits(field(visit, "credits"), "Credits a month", 0);
  const changed = await changePlan(visit.deps, account.id, { tier, credits, by: visit.user.id });
  const granted = await planOfMonth(visit.deps.store.read, changed, visit.now);
  return granted === credits
    ? "The plan is changed."
    : `The plan is changed: ${counted(granted, "credit was", "credits were")} granted for this month, ${count(credits)} a month come from the next one on.`;
});

async function addAccountMember(visit: UserVisit): Promise<Response> {
  const account = await accountOf(visit);
  const role = readRole(field(visit, "role"));
  const of = { accountId: account.id, email: field(visit, "email"), role, vouched: true, by: visit.user.id };
  await visit.flashes.put(visit.session.id, addedFlash(visit, await addMember(visit.deps, of), "a member"));
  return redirect(path(account), visit.exchange);
}

async function newLink(visit: UserVisit): Promise<Response> {
  const account = await accountOf(visit);
  const members = await membersOf(visit.deps.store.read, account.id);
  const found = members.find(({ user }) => user.id === visit.params.user);
  if (!found) throw notFound();
  const { user, setupUrl } = await issueSetupLink(visit.deps, { userId: found.user.id, by: visit.user.id });
  await visit.flashes.put(visit.session.id, { link: { email: user.email, url: setupUrl } });
  return redirect(path(account), visit.exchange);
}

/** Opens an account's console read-only, and logs that. */
async function view(visit: UserVisit): Promise<Response> {
  const account = await accountOf(visit);
  const { store, clock, random } = visit.deps;
  await store.write(
    "view account",
    async (tx) => {
      await openAccount(tx, visit.session.id, account.id);
      const what = {
        by: visit.user.id,
        accountId: account.id,
        action: "account.viewed",
        subject: account.name,
      } as const;
      await logAction(tx, what, { now: clock.now(), random });
    },
    { concurrent: true },
  );
  return redirect(ownPath(field(visit, "next")), visit.exchange);
}

async function leave(visit: UserVisit): Promise<Response> {
  const { store } = visit.deps;
  const seen = visit.session.accountId;
  const [own] = await membershipsOf(store.read, visit.user.id);
  await store.write("leave account", (tx) => openAccount(tx, visit.session.id, own?.account.id ?? null), {
    concurrent: true,
  });
  const to = seen === null ? "/console/operator/accounts" : `/console/operator/accounts/${seen}`;
  return redirect(to, visit.exchange);
}

export const accountRoutes = [
  operator.get("/console/operator/accounts/:id", accountPage),
  operator.get("/console/operator/accounts/:id/ledger", ledgerOf),
  operator.get("/console/operator/accounts/:id/ledger.csv", async (visit) =>
    statementCsv(visit, (await accountOf(visit)).id),
  ),
  operator.post("/console/operator/accounts/:id/rename", rename),
  operator.post("/console/operator/accounts/:id/suspend", suspend),
  operator.post("/console/operator/accounts/:id/resume", resume),
  operator.post("/console/operator/accounts/:id/credits", topUp),
  operator.post("/console/operator/accounts/:id/plan", plan),
  operator.post("/console/operator/accounts/:id/budget", change(saveBudget)),
  operator.post("/console/operator/accounts/:id/members", addAccountMember),
  operator.post("/console/operator/accounts/:id/members/:user/link", newLink),
  operator.post("/console/operator/accounts/:id/view", view),
  operator.post("/console/operator/leave", leave),
];
