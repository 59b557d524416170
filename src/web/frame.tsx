/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons.tsx";

export interface FrameProps {
  /** Where the logo links to. */
  home: string;
  /** Shown beside the logo, such as the section's name. */
  place?: ComponentChildren;
  /** Links and buttons at the right of the bar. */
  tools?: ComponentChildren;
  /** The section's navigation: on the left, and in the menu of small windows. */
  sidebar: ComponentChildren;
  sidebarLabel: string;
  wide?: boolean;
  children: ComponentChildren;
}

/** The frame around a page: a bar on top, navigation on the left, the page. */
export function Frame({ home, place, tools, sidebar, sidebarLabel, wide = false, children }: FrameProps) {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <div class="frame">
        <header class="topbar">
          <a href={home} class="mark-link">
            <Mark />
          </a>
          {place}
          <span class="grow" />
          {tools}
          <ThemeButton />
          <details class="menu">
            <summary aria-label="Menu">
              <Icon name="menu" />
            </summary>
            <div class="menu-body">{sidebar}</div>
          </details>
        </header>
        <aside class="sidebar" aria-label={sidebarLabel}>
          {sidebar}
        </aside>
        <main id="main" class={wide ? "main main-wide" : "main"} tabIndex={-1}>
          {children}
        </main>
      </div>
    </>
  );
}

/** One narrow column, for visitors who are not signed in. */
export function NarrowFrame({ children }: { children: ComponentChildren }) {
  return (
    <main class="narrow" id="main">
      <div class="narrow-head">
        <Mark />
        <ThemeButton />
      </div>
      <div class="card">{children}</div>
      <p class="narrow-foot">
        <a href="/docs">Documentation</a>
      </p>
    </main>
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

function ThemeButton() {
  return (
    <button type="button" class="icon-button" data-theme-toggle aria-label="Change the theme">
      <Icon name="theme" />
    </button>
  );
}

export interface NavItem {
  href: string;
  label: string;
  icon?: IconName;
}

/** A labelled group of navigation entries; `current` is the one the page belongs to. */
export function Nav<Item extends NavItem>(props: {
  label: string;
  items: readonly Item[];
  current: Item | undefined;
  /** Where it stands under a heading that says the same. */
  isHeaded?: boolean;
}) {
  const { label, items, current, isHeaded = false } = props;
  return (
    <nav aria-label={label}>
      {!isHeaded && <p class="nav-label">{label}</p>}
      <ul>
        {items.map((item) => (
          <li key={item.href}>
            <a href={item.href} aria-current={item === current ? "page" : undefined}>
              {item.icon && <Icon name={item.icon} />}
              {item.label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
