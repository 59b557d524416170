/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { membershipsOf } from "../store/users.ts";
import { assetUrl } from "./assets.ts";
import { Badge, Notice, PostForm } from "./elements.tsx";
import type { Flash } from "./flash.ts";
import { Icon, type IconName } from "./icons.tsx";
import { html } from "./respond.ts";
import { takeFlash, type UserVisit, type Visit } from "./visit.ts";

/** htmx may neither evaluate text nor write styles: the page's policy forbids both. */
const HTMX_CONFIG = JSON.stringify({
  allowEval: false,
  includeIndicatorStyles: false,
  selfRequestsOnly: true,
  historyCacheSize: 0,
  // A refusal of a part is told where the part would stand.
  responseHandling: [
    { code: "204", swap: false },
    { code: "[23]..", swap: true },
    { code: "[45]..", swap: true, error: true },
  ],
});

function Document({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="htmx-config" content={HTMX_CONFIG} />
        <title>{`${title} · cardpress`}</title>
        <link rel="icon" href={assetUrl("icon.svg")} type="image/svg+xml" />
        <link rel="stylesheet" href={assetUrl("console.css")} />
        <script src={assetUrl("console.js")} />
        <script src={assetUrl("htmx.js")} defer />
        <script src={assetUrl("passkeys.js")} defer />
      </head>
      <body>
        {children}
        <div id="toast" class="toast" role="status" />
      </body>
    </html>
  );
}

function Mark() {
  return (
    <span class="mark">
      <svg viewBox="0 0 22 26" aria-hidden="true">
        <path d="M3 0h16a3 3 0 0 1 3 3v14.500a3 3 0 0 1-1.300 2.500L11 26l-9.700-6A3 3 0 0 1 0 17.500V3a3 3 0 0 1 3-3z" />
        <g class="mark-knock">
          <circle cx="11" cy="8.500" r="3.600" />
          <path d="M4 19.500c.6-4.300 3.300-6.300 7-6.300s6.400 2 7 6.300L11 23.600z" />
        </g>
      </svg>
      cardpress
    </span>
  );
}

interface NavItem {
  href: string;
  label: string;
  icon: IconName;
  /** Pages that lie under it although their address does not say so. */
  also?: string[];
}

const ACCOUNT_NAV: NavItem[] = [
  { href: "/console", label: "Overview", icon: "home" },
  { href: "/console/images", label: "Images", icon: "image" },
  { href: "/console/playground", label: "Playground", icon: "play" },
  { href: "/console/keys", label: "API keys", icon: "key" },
  { href: "/console/webhooks", label: "Webhooks", icon: "hook", also: ["/console/deliveries"] },
  { href: "/console/usage", label: "Usage", icon: "chart" },
  { href: "/console/credits", label: "Credits", icon: "coins" },
  { href: "/console/members", label: "Members", icon: "people" },
  { href: "/console/activity", label: "Activity", icon: "list" },
];

const OPERATOR_NAV: NavItem[] = [
  { href: "/console/operator", label: "Desk", icon: "pulse" },
  { href: "/console/operator/accounts", label: "Accounts", icon: "people" },
  { href: "/console/operator/templates", label: "Templates", icon: "image" },
  { href: "/console/operator/operators", label: "Operators", icon: "key" },
  { href: "/console/operator/audit", label: "Audit log", icon: "list" },
];

/** The place of the navigation a page lies under. The first place is the way in: only its own page is its. */
function currentItem(items: NavItem[], pathname: string): NavItem | undefined {
  const [home, ...rest] = items;
  if (pathname === home?.href) return home;
  return rest.find(({ href, also = [] }) =>
    [href, ...also].some((place) => pathname === place || pathname.startsWith(`${place}/`)),
  );
}

function Nav({ label, items, pathname }: { label: string; items: NavItem[]; pathname: string }) {
  const current = currentItem(items, pathname);
  return (
    <nav aria-label={label}>
      <p class="nav-label">{label}</p>
      <ul>
        {items.map((item) => (
          <li key={item.href}>
            <a href={item.href} aria-current={item === current ? "page" : undefined}>
              <Icon name={item.icon} />
              {item.label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function ThemeButton() {
  return (
    <button type="button" class="icon-button" data-theme-toggle aria-label="Change the theme">
      <Icon name="theme" />
    </button>
  );
}

async function AccountChoice(visit: UserVisit) {
  const memberships = await membershipsOf(visit.parts.store.read, visit.user.id);
  if (memberships.length < 2 || visit.role === "viewer")
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

function Sidebar({ visit, choice }: { visit: UserVisit; choice: ComponentChildren }) {
  const { pathname } = visit.exchange.url;
  const isDesk = pathname.startsWith("/console/operator");
  const accountPages = visit.account && !isDesk ? ACCOUNT_NAV : [];
  return (
    <div class="sidebar-inner">
      {accountPages.length > 0 && choice}
      {accountPages.length > 0 && <Nav label="Account" items={accountPages} pathname={pathname} />}
      {visit.user.isOperator === 1 && (isDesk || !visit.account) && (
        <Nav label="Operator" items={OPERATOR_NAV} pathname={pathname} />
      )}
      <nav aria-label="More" class="nav-more">
        <ul>
          {visit.user.isOperator === 1 && !isDesk && visit.role !== "viewer" && (
            <li>
              <a href="/console/operator">
                <Icon name="pulse" />
                Operator's desk
              </a>
            </li>
          )}
          {isDesk && visit.account && visit.role !== "viewer" && (
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
    </div>
  );
}

function Banners({ visit, flash }: { visit: UserVisit; flash: Flash }) {
  const isDesk = visit.exchange.url.pathname.startsWith("/console/operator");
  return (
    <>
      {visit.role === "viewer" && visit.account && !isDesk && (
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
      {visit.account?.status === "suspended" && !isDesk && (
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

/** Writes a page for somebody who is signed in. `flash` is taken by the page itself when it shows a secret. */
export async function shell(
  visit: UserVisit,
  title: string,
  content: ComponentChildren,
  options: { status?: number; flash?: Flash; wide?: boolean } = {},
): Promise<Response> {
  const flash = options.flash ?? (await takeFlash(visit));
  const choice = await AccountChoice(visit);
  const sidebar = <Sidebar visit={visit} choice={choice} />;
  return html(
    visit.exchange,
    <Document title={title}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="frame">
        <header class="topbar">
          <a href={visit.account ? "/console" : "/console/operator"} class="mark-link">
            <Mark />
          </a>
          {visit.exchange.url.pathname.startsWith("/console/operator") && <Badge>Operator</Badge>}
          <span class="grow" />
          <ThemeButton />
          <details class="menu">
            <summary aria-label="Menu">
              <Icon name="menu" />
            </summary>
            <div class="menu-body">{sidebar}</div>
          </details>
        </header>
        <aside class="sidebar" aria-label="Console">
          {sidebar}
        </aside>
        <main id="main" class={options.wide ? "main main-wide" : "main"} tabIndex={-1}>
          <Banners visit={visit} flash={flash} />
          {content}
        </main>
      </div>
    </Document>,
    { status: options.status ?? 200 },
  );
}

/** Writes a page for somebody who is not signed in: one narrow column. */
export function narrowPage(
  visit: Visit,
  title: string,
  content: ComponentChildren,
  options: { status?: number } = {},
): Response {
  return html(
    visit.exchange,
    <Document title={title}>
      <main class="narrow" id="main">
        <div class="narrow-head">
          <Mark />
          <ThemeButton />
        </div>
        <div class="card">{content}</div>
        <p class="narrow-foot">
          <a href="/docs">Documentation</a>
        </p>
      </main>
    </Document>,
    options,
  );
}
