/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { membershipsOf } from "../store/people/users.ts";
import { RELEASE } from "../version.ts";
import { Frame, NarrowFrame, Nav, type NavItem } from "../web/frame.tsx";
import { Icon } from "../web/icons.tsx";
import { Document } from "../web/page.tsx";
import { CONSOLE_ASSETS } from "./assets.ts";
import { Badge, Notice, PostForm } from "./elements.tsx";
import type { Flash } from "./flash.ts";
import { Palette, PaletteButton } from "./palette.tsx";
import { html } from "./respond.ts";
import { takeFlash, type UserVisit, type Visit } from "./visit.ts";

/** htmx may neither evaluate text nor inject styles: the page's policy forbids both. */
const HTMX_CONFIG = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  // A refusal of a fragment is shown in the fragment's place.
  responseHandling: [
    { code: "204", swap: false },
    { code: "[23]..", swap: true },
    { code: "[45]..", swap: true, error: true },
  ],
});

const SCRIPTS = [
  "console.js",
  "htmx.js",
  "passkeys.js",
  "photos.js",
  "points.js",
  "looked.js",
  "palette.js",
] as const;

/** Files for the console's pages only. */
function ConsoleDocument(props: {
  title: string;
  modules?: string[] | undefined;
  children: ComponentChildren;
}) {
  const { title, modules, children } = props;
  return (
    <Document
      title={`${title} · cardpress`}
      modules={modules}
      section="console"
      style={CONSOLE_ASSETS.url("console.css")}
      scripts={SCRIPTS.map(CONSOLE_ASSETS.url)}
      head={<meta name="htmx-config" content={HTMX_CONFIG} />}
    >
      {children}
    </Document>
  );
}

interface Place extends NavItem {
  /** Pages that belong under it although their path does not say so. */
  also?: string[];
}

const ACCOUNT_NAV: Place[] = [
  { href: "/console", label: "Overview", icon: "home" },
  { href: "/console/make", label: "Make a card", icon: "plus" },
  { href: "/console/match", label: "Player of the match", icon: "star" },
  { href: "/console/images", label: "Cards", icon: "image", also: ["/console/players"] },
  { href: "/console/batches", label: "Squads", icon: "stack", also: ["/console/lists"] },
  { href: "/console/sets", label: "Sets", icon: "grid" },
  { href: "/console/kits", label: "Brand kits", icon: "palette" },
  { href: "/console/consent", label: "Consent", icon: "check" },
  { href: "/console/credits", label: "Credits", icon: "coins" },
  { href: "/console/usage", label: "Usage", icon: "chart" },
  { href: "/console/members", label: "Members", icon: "people" },
  { href: "/console/activity", label: "Activity", icon: "list" },
  { href: "/console/data", label: "Data", icon: "book" },
];

/** What a club without a developer never needs: folded, unless somebody works with it. */
const DEVELOPER_NAV: Place[] = [
  { href: "/console/playground", label: "Playground", icon: "play" },
  { href: "/console/keys", label: "API keys", icon: "key" },
  { href: "/console/webhooks", label: "Webhooks", icon: "hook", also: ["/console/deliveries"] },
  { href: "/console/bucket", label: "Your bucket", icon: "stack" },
  { href: "/console/requests", label: "Requests", icon: "pulse" },
];

const OPERATOR_NAV: Place[] = [
  { href: "/console/operator", label: "Overview", icon: "pulse" },
  { href: "/console/operator/accounts", label: "Accounts", icon: "people" },
  { href: "/console/operator/templates", label: "Templates", icon: "image" },
  { href: "/console/operator/disk", label: "Disk", icon: "chart" },
  { href: "/console/operator/operators", label: "Operators", icon: "key" },
  { href: "/console/operator/status", label: "Status page", icon: "check" },
  { href: "/console/operator/audit", label: "Audit log", icon: "list" },
];

/** Pages below which others lie that are places of their own. */
const HOMES = ["/console", "/console/operator"];

/** The navigation entry a page belongs to. */
function currentPlace(items: Place[], pathname: string): Place | undefined {
  const home = items.find(({ href }) => href === pathname);
  if (home) return home;
  return items
    .filter(({ href }) => !HOMES.includes(href))
    .find(({ href, also = [] }) =>
      [href, ...also].some((place) => pathname === place || pathname.startsWith(`${place}/`)),
    );
}

async function AccountChoice(visit: UserVisit) {
  const memberships = await membershipsOf(visit.deps.store.read, visit.user.id);
  if (memberships.length < 2 || visit.role === "visitor")
    return visit.account ? <p class="account-name">{visit.account.name}</p> : null;
  return (
    <PostForm visit={visit} action="/console/account" class="account-choice">
      {/* Stands on the page twice, in the menu and at the left: no id. */}
      <label>
        <span class="visually-hidden">Account</span>
        <select name="account" data-submits>
          {memberships.map(({ account }) => (
            <option key={account.id} value={account.id} selected={account.id === visit.account?.id}>
              {account.name}
            </option>
          ))}
        </select>
      </label>
      <noscript>
        <button type="submit" class="button button-small">
          Open
        </button>
      </noscript>
    </PostForm>
  );
}

/** Open for developers and on their pages; users who open or fold it find it so again. */
function DeveloperNav({ visit, pathname }: { visit: UserVisit; pathname: string }) {
  const current = currentPlace(DEVELOPER_NAV, pathname);
  return (
    <details
      class="nav-fold"
      open={current !== undefined || visit.role === "developer"}
      {...(current ? {} : { "data-remembers": "for-developers" })}
    >
      <summary class="nav-label">For developers</summary>
      <Nav label="For developers" items={DEVELOPER_NAV} current={current} isHeaded />
    </details>
  );
}

function Sidebar({ visit, choice }: { visit: UserVisit; choice: ComponentChildren }) {
  const { pathname } = visit.exchange.url;
  const isOperatorPage = pathname.startsWith("/console/operator");
  const accountPages = visit.account && !isOperatorPage ? ACCOUNT_NAV : [];
  return (
    <div class="sidebar-inner">
      {accountPages.length > 0 && choice}
      {accountPages.length > 0 && (
        <Nav label="Account" items={accountPages} current={currentPlace(accountPages, pathname)} />
      )}
      {accountPages.length > 0 && <DeveloperNav visit={visit} pathname={pathname} />}
      {visit.user.isOperator === 1 && (isOperatorPage || !visit.account) && (
        <Nav label="Operator" items={OPERATOR_NAV} current={currentPlace(OPERATOR_NAV, pathname)} />
      )}
      <nav aria-label="More" class="nav-more">
        <ul>
          {visit.user.isOperator === 1 && !isOperatorPage && visit.role !== "visitor" && (
            <li>
              <a href="/console/operator">
                <Icon name="pulse" />
                Operator console
              </a>
            </li>
          )}
          {isOperatorPage && visit.account && visit.role !== "visitor" && (
            <li>
              <a href="/console">
                <Icon name="home" />
                {visit.account.name}
              </a>
            </li>
          )}
          <li>
            <a href="/docs">
              <Icon name="book" />
              Documentation
            </a>
          </li>
          <li>
            <a href="/console/profile" aria-current={pathname === "/console/profile" ? "page" : undefined}>
              <Icon name="person" />
              <span class="ellipsis">{visit.user.email}</span>
            </a>
          </li>
          <li>
            <PostForm visit={visit} action="/console/sign-out">
              <button type="submit" class="nav-button">
                <Icon name="leave" />
                Sign out
              </button>
            </PostForm>
          </li>
        </ul>
      </nav>
      <p class="nav-version">cardpress {RELEASE}</p>
    </div>
  );
}

function Banners({ visit, flash }: { visit: UserVisit; flash: Flash }) {
  const isOperatorPage = visit.exchange.url.pathname.startsWith("/console/operator");
  return (
    <>
      {visit.role === "visitor" && visit.account && !isOperatorPage && (
        <div class="banner">
          <p>
            You are looking at <strong>{visit.account.name}</strong> read-only. This visit is in the audit
            log.
          </p>
          <PostForm visit={visit} action="/console/operator/leave">
            <button type="submit" class="button button-small">
              Leave
            </button>
          </PostForm>
        </div>
      )}
      {visit.account?.status === "suspended" && !isOperatorPage && (
        <Notice tone="bad" title="This account is suspended.">
          Requests with its keys are refused. Its images stay.
          {visit.account.suspendedReason && ` Reason: ${visit.account.suspendedReason}.`} Write to the
          operator of this service to have it resumed.
        </Notice>
      )}
      {flash.problem && (
        <Notice tone="bad" title="That did not work.">
          {flash.problem}
        </Notice>
      )}
      {flash.notice && <Notice tone="good">{flash.notice}</Notice>}
    </>
  );
}

/** Every page that this visitor may go to by its name. */
function placesOf({ account, user }: UserVisit): Place[] {
  const operators = OPERATOR_NAV.map((place) => ({ ...place, label: `Operator: ${place.label}` }));
  return [
    ...(account ? [...ACCOUNT_NAV, ...DEVELOPER_NAV] : []),
    ...(user.isOperator === 1 ? operators : []),
  ];
}

/** Renders a page for a signed-in user. Pages that show a secret take `flash` themselves. */
export async function shell(
  visit: UserVisit,
  title: string,
  content: ComponentChildren,
  options: { status?: number; flash?: Flash; wide?: boolean; modules?: string[] } = {},
): Promise<Response> {
  const flash = options.flash ?? (await takeFlash(visit));
  const choice = await AccountChoice(visit);
  const isOperatorPage = visit.exchange.url.pathname.startsWith("/console/operator");
  return html(
    visit.exchange,
    <ConsoleDocument title={title} modules={options.modules}>
      <Frame
        home={visit.account ? "/console" : "/console/operator"}
        place={isOperatorPage && <Badge>Operator</Badge>}
        sidebar={<Sidebar visit={visit} choice={choice} />}
        tools={<PaletteButton />}
        sidebarLabel="Console"
        wide={options.wide ?? false}
      >
        <Banners visit={visit} flash={flash} />
        {content}
      </Frame>
      <Palette places={placesOf(visit)} />
    </ConsoleDocument>,
    { status: options.status ?? 200 },
  );
}

/** Renders a page for a visitor who is not signed in: one narrow column. */
export function narrowPage(
  visit: Visit,
  title: string,
  content: ComponentChildren,
  options: { status?: number } = {},
): Response {
  return html(
    visit.exchange,
    <ConsoleDocument title={title}>
      <NarrowFrame>{content}</NarrowFrame>
    </ConsoleDocument>,
    options,
  );
}
