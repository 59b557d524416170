/** @jsxImportSource preact */

import { creditsAvailable } from "../../app/credits/credits.ts";
import { createAccount } from "../../app/people/manage-account.ts";
import { addMember, isEmail } from "../../app/people/manage-users.ts";
import { normalEmail } from "../../app/people/sign-in.ts";
import { TIERS } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_CREDITS } from "../../core/limits.ts";
import { formatPosition, parsePosition } from "../../core/list-position.ts";
import { type Account, newestAccounts } from "../../store/people/accounts.ts";
import { Icon } from "../../web/icons.tsx";
import { Badge, Card, count, Empty, Field, PageHead, Pager, PostForm, Time } from "../elements.tsx";
import { type Flash, typedInto } from "../flash.ts";
import { shell } from "../layout.tsx";
import { addedFlash } from "../people/members.tsx";
import { redirect } from "../respond.ts";
import { field, operator, takeFlash, type UserVisit } from "../visit.ts";

const PAGE_SIZE = 50;
/** As long as the longest email. */
const MAX_SEARCH_CHARS = 254;

const TIER_NAMES: Record<Account["tier"], string> = {
  starter: "Starter, 120 a minute",
  growth: "Growth, 600 a minute",
  scale: "Scale, 6,000 a minute",
};

/** Digits, optionally in groups of three: 1,5 may mean one and a half, so it is not read as 15. */
const WHOLE_NUMBER = /^(\d+|\d{1,3}(,\d{3})+|\d{1,3}( \d{3})+)$/;

/** Whole credits from a form. Throws a Refusal naming the field. */
export function readCredits(text: string, name: string, min: number): number {
  const value = Number(text.replaceAll(/[, ]/g, ""));
  if (!WHOLE_NUMBER.test(text) || value < min || value > MAX_CREDITS)
    throw new Refusal(
      "INVALID_REQUEST",
      `${name} must be a whole number from ${min} to ${count(MAX_CREDITS)}, written like 1500 or 1,500.`,
    );
  return value;
}

export function readTier(text: string): Account["tier"] {
  const tier = TIERS.find((known) => known === text);
  if (!tier) throw new Refusal("INVALID_REQUEST", "Choose one of the tiers.");
  return tier;
}

export function TierSelect({ current }: { current: string }) {
  return (
    <select id="tier" name="tier">
      {TIERS.map((tier) => (
        <option key={tier} value={tier} selected={tier === current}>
          {TIER_NAMES[tier]}
        </option>
      ))}
    </select>
  );
}

function Row({ account, now }: { account: Account; now: number }) {
  return (
    <tr>
      <th scope="row">
        <a href={`/console/operator/accounts/${account.id}`}>{account.name}</a>
      </th>
      <td data-label="Status">
        {account.status === "active" ? (
          <Badge tone="good">Active</Badge>
        ) : (
          <Badge tone="bad">Suspended</Badge>
        )}
      </td>
      <td data-label="Tier">{account.tier}</td>
      <td data-label="Credits left" class="number">
        {count(creditsAvailable(account, now))}
      </td>
      <td data-label="Plan" class="number">
        {count(account.creditLimit)}
      </td>
      <td data-label="Created">
        <Time at={account.createdAt} />
      </td>
    </tr>
  );
}

function CreateForm({ visit, flash }: { visit: UserVisit; flash: Flash }) {
  const typed = typedInto("/console/operator/accounts", flash);
  return (
    <Card title="Create an account" note="With an owner's email you get a one-time link to pass on.">
      <PostForm visit={visit} action="/console/operator/accounts" class="row-form">
        <Field label="Name" id="name">
          <input
            id="name"
            name="name"
            type="text"
            required
            maxLength={MAX_ACCOUNT_NAME_CHARS}
            value={typed?.get("name") ?? ""}
          />
        </Field>
        <Field label="Tier" id="tier">
          <TierSelect current={typed?.get("tier") ?? ""} />
        </Field>
        <Field label="Credits a month" id="credits">
          <input
            id="credits"
            name="credits"
            type="text"
            inputMode="numeric"
            required
            value={typed?.get("credits") ?? "1000"}
          />
        </Field>
        <Field label="Owner's email, optional" id="email">
          <input id="email" name="email" type="email" autocomplete="off" value={typed?.get("email") ?? ""} />
        </Field>
        <button type="submit" class="button button-primary">
          Create account
        </button>
      </PostForm>
    </Card>
  );
}

function SearchForm({ search }: { search: string }) {
  return (
    <div class="toolbar">
      <form class="search" action="/console/operator/accounts" method="get">
        <Icon name="search" />
        <label for="search" class="visually-hidden">
          Name, id or a member's email
        </label>
        <input
          id="search"
          name="q"
          type="search"
          placeholder="Name, id or a member's email"
          maxLength={MAX_SEARCH_CHARS}
          value={search}
        />
      </form>
    </div>
  );
}

async function accountsPage(visit: UserVisit): Promise<Response> {
  const after = parsePosition(visit.query.get("after") ?? "");
  const search = (visit.query.get("q") ?? "").trim().slice(0, MAX_SEARCH_CHARS);
  const found = await newestAccounts(visit.deps.store.read, { after, search, limit: PAGE_SIZE + 1 });
  const accounts = found.slice(0, PAGE_SIZE);
  const last = accounts.at(-1);
  const flash = await takeFlash(visit);
  return shell(
    visit,
    "Accounts",
    <>
      <PageHead title="Accounts" lead="Partners of this service: each owns its credits, keys and images." />
      <SearchForm search={search} />
      <Card flush>
        {accounts.length === 0 && search !== "" ? (
          <Empty title="No account fits">
            Nothing with “{search}” in its name, its id or a member's email.{" "}
            <a href="/console/operator/accounts">Show all accounts</a>
          </Empty>
        ) : accounts.length === 0 ? (
          <Empty title="No accounts yet">Create the first partner's account below.</Empty>
        ) : (
          <table class="table">
            <caption class="visually-hidden">Accounts</caption>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Status</th>
                <th scope="col">Tier</th>
                <th scope="col" class="number">
                  Credits left
                </th>
                <th scope="col" class="number">
                  Plan a month
                </th>
                <th scope="col">Created</th>
              </tr>
            </thead>
            <tbody>
              {accounts.map((account) => (
                <Row key={account.id} account={account} now={visit.now} />
              ))}
            </tbody>
          </table>
        )}
      </Card>
      <Pager
        older={
          found.length > PAGE_SIZE &&
          last &&
          `/console/operator/accounts?${new URLSearchParams({ ...(search && { q: search }), after: formatPosition(last) })}`
        }
      />
      <CreateForm visit={visit} flash={flash} />
    </>,
    { flash },
  );
}

async function create(visit: UserVisit): Promise<Response> {
  const { deps, user, session, exchange } = visit;
  const name = field(visit, "name");
  const tier = readTier(field(visit, "tier"));
  const credits = readCredits(field(visit, "credits"), "Credits a month", 0);
  const email = field(visit, "email");
  // Checked before anything is created, so that a mistyped email leaves no account behind.
  if (email !== "" && !isEmail(normalEmail(email)))
    throw new Refusal(
      "INVALID_REQUEST",
      "The owner's email is not an email address. Write it like ana@example.com.",
    );
  const account = await createAccount(deps, { name, tier, credits, by: user.id });
  const notice = `The account ${name} is made.`;
  await visit.flashes.put(session.id, { notice });
  if (email !== "") {
    const of = { accountId: account.id, email, role: "owner", vouched: true, by: user.id } as const;
    const added = addedFlash(visit, await addMember(deps, of), "its owner");
    await visit.flashes.put(session.id, {
      ...added,
      notice: [notice, added.notice].filter(Boolean).join(" "),
    });
  }
  return redirect(`/console/operator/accounts/${account.id}`, exchange);
}

export const accountsRoutes = [
  operator.get("/console/operator/accounts", accountsPage),
  operator.post("/console/operator/accounts", create),
];
