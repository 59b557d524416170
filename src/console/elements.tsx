/** @jsxImportSource preact */
import type { ComponentChildren, FormHTMLAttributes } from "preact";
import { isoTime } from "../core/time.ts";
import { highlight } from "../web/highlight.ts";
import type { UserVisit, Visit } from "./visit.ts";

// The few elements every page is made of. Text is escaped by the renderer; only Code writes HTML that was made elsewhere.

const number = new Intl.NumberFormat("en-US");

/** 1234567 as 1,234,567. */
export function count(value: number): string {
  return number.format(value);
}

/** A moment: UTC in the document, the reader's own zone once the script has run. */
export function Time({ at, style = "absolute" }: { at: number; style?: "absolute" | "relative" }) {
  const iso = isoTime(at);
  return (
    <time dateTime={iso} data-style={style}>
      {`${iso.slice(0, 16).replace("T", " ")} UTC`}
    </time>
  );
}

/**
 * Attributes of a part of a page that is still changing: the page asks for itself again and puts the new part in the
 * old one's place. Nothing once it is settled.
 */
export function refreshing({ exchange }: Visit, id: string, isChanging: boolean) {
  if (!isChanging) return { id };
  const { pathname, search } = exchange.url;
  return {
    id,
    "hx-get": pathname + search,
    "hx-select": `#${id}`,
    "hx-swap": "outerHTML",
    "hx-trigger": "every 1s",
  };
}

/** A form that carries the session's token. Every change in the console goes through one. */
export function PostForm({
  visit,
  action,
  children,
  ...rest
}: { visit: UserVisit; action: string; children: ComponentChildren } & Omit<FormHTMLAttributes, "action">) {
  return (
    <form method="post" action={action} {...rest}>
      <input type="hidden" name="_csrf" value={visit.session.csrfToken} />
      {children}
    </form>
  );
}

export type Tone = "neutral" | "good" | "bad" | "busy" | "test";

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

export function EnvironmentBadge({ environment }: { environment: "live" | "test" }) {
  return (
    <Badge tone={environment === "live" ? "good" : "test"}>{environment === "live" ? "Live" : "Test"}</Badge>
  );
}

/** The head of a page: what it is, what it is for, and its main action. */
export function PageHead({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}) {
  return (
    <header class="page-head">
      <div>
        <h1>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children && <div class="actions">{children}</div>}
    </header>
  );
}

export function Card({
  title,
  note,
  flush = false,
  children,
  actions,
}: {
  title?: string;
  note?: ComponentChildren;
  /** Without inner space: for tables. */
  flush?: boolean;
  children: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <section class={flush ? "card card-flush" : "card"}>
      {title && (
        <div class="card-head">
          <div>
            <h2>{title}</h2>
            {note && <p class="note">{note}</p>}
          </div>
          {actions && <div class="actions">{actions}</div>}
        </div>
      )}
      {children}
    </section>
  );
}

/** What stands where nothing is yet: it says what to do first. */
export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <svg class="empty-mark" viewBox="0 0 48 60" aria-hidden="true">
        <path d="M6 8 24 2l18 6v36L24 58 6 44Z" />
        <circle cx="24" cy="24" r="7" />
        <path d="M12 44c2-8 7-11 12-11s10 3 12 11" />
      </svg>
      <p class="empty-title">{title}</p>
      <p>{children}</p>
      {action && <div class="actions">{action}</div>}
    </div>
  );
}

export function Notice({
  tone,
  title,
  children,
}: {
  tone: "good" | "bad" | "warn" | "info";
  title?: string;
  children: ComponentChildren;
}) {
  return (
    <div class={`notice notice-${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <div>
        {title && <strong>{title}</strong>}
        <div>{children}</div>
      </div>
    </div>
  );
}

/** A labelled form field with an optional hint. */
export function Field({
  label,
  id,
  hint,
  children,
}: {
  label: string;
  id: string;
  hint?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

/** A text to take along, with a button that copies it. */
export function CopyText({ id, text, label }: { id: string; text: string; label: string }) {
  return (
    <div class="copy">
      <input id={id} class="mono" type="text" readOnly value={text} aria-label={label} spellcheck={false} />
      <button type="button" class="button button-primary" data-copies={id}>
        Copy
      </button>
    </div>
  );
}

/** A code block in colour, with a button that copies it. */
export function Code({
  id,
  text,
  label,
  language = "json",
}: {
  id: string;
  text: string;
  label: string;
  language?: "json" | "sh" | "ts" | "text";
}) {
  // The highlighter escapes everything that is not its own markup.
  const inner = { __html: highlight(text, language) };
  return (
    <div class="code">
      <div class="code-head">
        <span>{label}</span>
        <button type="button" class="button button-small" data-copies={id} aria-label={`Copy ${label}`}>
          Copy
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, so the keyboard must reach them */}
      <section class="code-body" tabIndex={0} aria-label={label}>
        <pre id={id} dangerouslySetInnerHTML={inner} />
      </section>
    </div>
  );
}

/** A button that asks before it does something that cannot be undone. */
export function Confirm({
  visit,
  id,
  action,
  button,
  title,
  children,
  confirm,
  danger = true,
  small = true,
}: {
  visit: UserVisit;
  id: string;
  action: string;
  button: string;
  title: string;
  children: ComponentChildren;
  confirm: string;
  danger?: boolean;
  small?: boolean;
}) {
  return (
    <>
      <button type="button" class={small ? "button button-small" : "button"} data-opens={id}>
        {button}
      </button>
      <dialog id={id} aria-labelledby={`${id}-title`}>
        <PostForm visit={visit} action={action}>
          <h2 id={`${id}-title`}>{title}</h2>
          <div class="dialog-body">{children}</div>
          <div class="dialog-actions">
            <button type="button" class="button" data-closes>
              Cancel
            </button>
            <button type="submit" class={danger ? "button button-danger" : "button button-primary"}>
              {confirm}
            </button>
          </div>
        </PostForm>
      </dialog>
    </>
  );
}

export interface Choice {
  label: string;
  href: string;
  current: boolean;
}

/** A row of choices of which one is on: environments, states, periods. */
export function Segments({ label, choices }: { label: string; choices: Choice[] }) {
  return (
    <nav class="segments" aria-label={label}>
      {choices.map(({ label: text, href, current }) => (
        <a key={href} href={href} aria-current={current ? "true" : undefined}>
          {text}
        </a>
      ))}
    </nav>
  );
}

export function Stat({
  label,
  value,
  note,
}: {
  label: string;
  value: ComponentChildren;
  note?: ComponentChildren;
}) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd>{value}</dd>
      {note && <dd class="stat-note">{note}</dd>}
    </div>
  );
}

/** The way through a list: to the page of what is older, and back to the first; nothing where there is neither. */
export function Pager({
  newest,
  older,
}: {
  newest?: string | false | null | undefined;
  older: string | false | null | undefined;
}) {
  if (!newest && !older) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {newest && (
        <a class="button" href={newest}>
          Newest
        </a>
      )}
      {older && (
        <a class="button" href={older}>
          Older
        </a>
      )}
    </nav>
  );
}

/** For what is made: test unless live was chosen. */
export function EnvironmentChoice({ chosen }: { chosen: string | null | undefined }) {
  const environments: [string, string][] = [
    ["test", "Test"],
    ["live", "Live"],
  ];
  return <Choice legend="Environment" name="environment" options={environments} chosen={chosen ?? "test"} />;
}

/** One of a few values, each with its label, all of them in sight. */
export function Choice(props: {
  legend: string;
  name: string;
  options: [value: string, label: string][];
  chosen: string;
}) {
  return (
    <fieldset class="choices">
      <legend>{props.legend}</legend>
      {props.options.map(([value, label]) => (
        <label key={value}>
          <input type="radio" name={props.name} value={value} checked={props.chosen === value} /> {label}
        </label>
      ))}
    </fieldset>
  );
}
