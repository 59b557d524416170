/** @jsxImportSource preact */
import { highlight } from "./highlight.ts";
import { Markup } from "./markup.ts";

export interface CodeProps {
  text: string;
  /** Such as a file's name or what the code does. */
  label: string;
  /** Names the code for scripts that change it. */
  id?: string | undefined;
  /** Of those that are coloured; every other is shown as it is. */
  language?: string;
}

/** A code block in colour, with a button that copies it. */
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
