/** @jsxImportSource preact */
import { smallSamplePath } from "../http/presets.ts";
import type { LoadedTemplate } from "../templates/load.ts";
import { titleOf } from "../templates/manifest.ts";
import type { TemplateRegistry } from "../templates/registry.ts";
import { presetText } from "./card-words.ts";

/** A template as it is chosen: what it is called, what it is for, and how its cards look. */
export type Look = Pick<LoadedTemplate, "manifest" | "digest">;

/** Seen at once; the others are folded, so that a form stays a form. */
const MAX_SEEN = 8;

/** The templates to choose from, without those that stopped being usable. */
export async function looksOf(templates: Pick<TemplateRegistry, "listed" | "current">) {
  const loading = (await templates.listed()).map((name) => templates.current(name).catch(() => []));
  return (await Promise.all(loading)).flat();
}

interface Input {
  /** The form it belongs to, where it stands outside of it. */
  form?: string;
  /** As the page's script knows it: one sends the form, the other what depends on it. */
  "data-submits"?: boolean;
  "data-look"?: boolean;
}

/**
 * The form field `preset`, chosen by picture; nothing where there is nothing to choose. What is chosen stays,
 * also where it is not offered any more; where nothing is, the first is.
 */
export function TemplateChoice({
  looks,
  chosen: asked,
  hint,
  problem,
  ...input
}: Input & { looks: readonly Look[]; chosen: string; hint?: string; problem?: string | undefined }) {
  const chosen = asked || looks[0]?.manifest.name;
  const at = looks.findIndex(({ manifest }) => manifest.name === chosen);
  const isGone = chosen !== undefined && at < 0;
  if (looks.length + Number(isGone) < 2) return null;
  const tiles = looks.map((look) => (
    <Tile key={look.manifest.name} look={look} isChosen={look.manifest.name === chosen} input={input} />
  ));
  const describedBy = [hint && "preset-hint", problem !== undefined && "preset-problem"].filter(Boolean);
  return (
    <fieldset class="looks" id="preset" aria-describedby={describedBy.join(" ") || undefined}>
      <legend>Template</legend>
      {hint && (
        <p class="hint" id="preset-hint">
          {hint}
        </p>
      )}
      <div class="looks-seen">
        {isGone && <GoneTile name={chosen} input={input} />}
        {tiles.slice(0, MAX_SEEN)}
      </div>
      {tiles.length > MAX_SEEN && (
        <details class="more" open={at >= MAX_SEEN}>
          <summary>{`${tiles.length - MAX_SEEN} more`}</summary>
          <div class="looks-seen">{tiles.slice(MAX_SEEN)}</div>
        </details>
      )}
      {problem !== undefined && (
        <p class="problem" id="preset-problem">
          {problem}
        </p>
      )}
    </fieldset>
  );
}

function Tile({ look, isChosen, input }: { look: Look; isChosen: boolean; input: Input }) {
  const { name, description } = look.manifest;
  const id = `preset-${name}`;
  return (
    <label>
      {/* Its id keeps the focus where a script replaces it. */}
      <input
        type="radio"
        id={id}
        name="preset"
        value={name}
        checked={isChosen}
        aria-labelledby={`${id}-title`}
        aria-describedby={description && `${id}-about`}
        {...input}
      />
      <img src={smallSamplePath(look)} alt="" width={56} height={70} loading="lazy" />
      <span class="look-words">
        <span class="look-title" id={`${id}-title`}>
          {titleOf(look.manifest)}
        </span>
        {description && (
          <span class="look-about" id={`${id}-about`}>
            {description}
          </span>
        )}
      </span>
    </label>
  );
}

function GoneTile({ name, input }: { name: string; input: Input }) {
  return (
    <label>
      <input type="radio" id={`preset-${name}`} name="preset" value={name} checked {...input} />
      <span class="look-none" />
      <span class="look-words">
        <span class="look-title">{presetText(name)}</span>
        <span class="look-about">Not offered any more.</span>
      </span>
    </label>
  );
}
