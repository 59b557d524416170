/** @jsxImportSource preact */
import { highlight } from "./highlight.ts";
import { Markup } from "./markup.ts";

export interface CodeProps {
  text: string;
  /** Such as a file name, or what the code does. */
  label: string;
  /** Lets scripts find the code to change it. */
  id?: string | undefined;
  /** A highlighted language; any other is shown plain. */
  language?: string;
}

/** A highlighted code block with a copy button. */
export function Code({ text, label, id, language = "json" }: CodeProps) {
  return (
    <figure class="code">
      <figcaption class="code-head">
        <span>{label}</span>
        <button type="button" class="button button-small" data-copies={id ?? ""} aria-label={`Copy ${label}`}>
          Copy
        </button>
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, so the keyboard must reach them */}
      <pre class="code-body" tabIndex={0}>
        <code id={id}>
          <Markup text={highlight(text, language)} />
        </code>
      </pre>
    </figure>
  );
}
