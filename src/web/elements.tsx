/** @jsxImportSource preact */
import { type ComponentChildren, Fragment } from "preact";
import { isoTime } from "../core/time.ts";

// The few elements every page is made of. The renderer escapes text.

const number = new Intl.NumberFormat("en-US");

/** Formats 1234567 as 1,234,567. */
export function count(value: number): string {
  return number.format(value);
}

/** "1 image", "1,204 images". */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** A piece of text without a place to break it that is longer than this may be broken anywhere. */
const LONG_PIECE_CHARS = 24;

/**
 * Names and addresses of computers, which break at their own marks, as in source_ image_ url, not inside a
 * word.
 */
export function Breakable({ text }: { text: string }) {
  // What ends a text ends nothing of it.
  const pieces = text.split(/(?<=[/_.?&=:@-])(?=\S)/);
  return (
    <>
      {pieces.map((piece, at) => (
        <Fragment key={`${at} ${piece}`}>
          {piece.split(/(\s+)/).map((word, n) =>
            word.length > LONG_PIECE_CHARS ? (
              <span key={`${n} ${word}`} class="anywhere">
                {word}
              </span>
            ) : (
              word
            ),
          )}
          {at < pieces.length - 1 && <wbr />}
        </Fragment>
      ))}
    </>
  );
}

/** A moment: UTC in the document, the reader's time zone once the script has run. */
export function Time({ at, style = "absolute" }: { at: number; style?: "absolute" | "relative" }) {
  const iso = isoTime(at);
  return (
    <time dateTime={iso} data-style={style}>
      {`${iso.slice(0, 16).replace("T", " ")} UTC`}
    </time>
  );
}

export type Tone = "neutral" | "good" | "bad" | "busy" | "test" | "warn";

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge badge-${tone}`}>{children}</span>;
}

/** The head of a page: title, purpose and main action. */
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
  /** Without padding, for tables. */
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

/** An empty state: says what to do first. */
export function Empty({
  title,
  children,
  action,
  picture,
}: {
  title: string;
  children: ComponentChildren;
  action?: ComponentChildren;
  /** In place of the mark. */
  picture?: ComponentChildren;
}) {
  return (
    <div class="empty">
      {picture ?? (
        <svg class="empty-mark" viewBox="0 0 48 60" aria-hidden="true">
          <path d="M6 8 24 2l18 6v36L24 58 6 44Z" />
          <circle cx="24" cy="24" r="7" />
          <path d="M12 44c2-8 7-11 12-11s10 3 12 11" />
        </svg>
      )}
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
  problem,
  children,
}: {
  label: string;
  id: string;
  hint?: ComponentChildren;
  /** What is wrong with what was sent; empty where nothing is. A field without it never shows one. */
  problem?: string | undefined;
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
      {problem !== undefined && (
        <p class="problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}

/** A text with a copy button. */
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

export interface Segment {
  label: string;
  href: string;
  current: boolean;
}

/** A row of choices with one selected: environments, states, periods. */
export function Segments({ label, choices }: { label: string; choices: Segment[] }) {
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

/** The pager of a list: older entries, and back to the newest; nothing when there is only one page. */
export function Pager({
  newest,
  older,
  labels = ["Newest", "Older"],
}: {
  newest?: string | false | null | undefined;
  older: string | false | null | undefined;
  labels?: [back: string, on: string];
}) {
  if (!newest && !older) return null;
  return (
    <nav class="pager" aria-label="Pages">
      {newest && (
        <a class="button" href={newest}>
          {labels[0]}
        </a>
      )}
      {older && (
        <a class="button" href={older}>
          {labels[1]}
        </a>
      )}
    </nav>
  );
}

/** One of a few values, all visible with their labels. */
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
