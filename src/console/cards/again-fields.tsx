/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { ASKED_COMPOSITIONS, POSITIONS } from "../../core/card.ts";
import { formatsOf } from "../../core/picture-formats.ts";
import { compositionText, positionText } from "../card-words.ts";
import { Options, ThemeField } from "../choices.tsx";
import { Field } from "../elements.tsx";
import { TemplateChoice } from "../template-choice.tsx";
import type { MemberVisit } from "../visit.ts";
import type { Changes } from "./again-form.ts";
import { ColourInput } from "./colour-input.tsx";
import { Extras } from "./extras.tsx";
import type { declaredBy, formFacts } from "./playground-inputs.tsx";
import { PublishField } from "./publish-field.tsx";

// The fields of the form that makes a card again.

function Text({
  name,
  label,
  of,
  hint,
  number = false,
}: {
  name: keyof Changes;
  label: string;
  of: Changes;
  hint?: string;
  number?: boolean;
}) {
  const describedBy = hint ? { "aria-describedby": `${name}-hint` } : {};
  return (
    <Field label={label} id={name} hint={hint}>
      {number ? (
        <input id={name} name={name} type="number" value={of[name]} {...describedBy} />
      ) : (
        <input id={name} name={name} type="text" value={of[name]} {...describedBy} />
      )}
    </Field>
  );
}

function Colour({ name, label, of }: { name: keyof Changes; label: string; of: Changes }) {
  return (
    <Field label={label} id={name}>
      <ColourInput label={label} id={name} name={name} value={of[name]} />
    </Field>
  );
}

function Select({
  name,
  label,
  of,
  ...options
}: {
  name: keyof Changes;
  label: string;
  of: Changes;
  names: readonly string[];
  text?: (name: string) => string;
}) {
  return (
    <Field label={label} id={name}>
      <select id={name} name={name}>
        <Options chosen={of[name]} {...options} />
      </select>
    </Field>
  );
}

/** What is changed most: a name written wrong, a new shirt, a better season. */
export function Words({ of }: { of: Changes }) {
  return (
    <>
      <Text name="name" label="Name" of={of} />
      <div class="field-pair make-numbers">
        <Text name="number" label="Shirt number" of={of} number />
        <Text name="skill_level" label="Rating" of={of} number />
      </div>
      <Select name="position" label="Position" of={of} names={POSITIONS} text={positionText} />
    </>
  );
}

interface LookProps {
  visit: MemberVisit;
  of: Changes;
  facts: Awaited<ReturnType<typeof formFacts>>;
  declared: Awaited<ReturnType<typeof declaredBy>>;
  isOpen: boolean;
  children: ComponentChildren;
}

/** The rest of the card, folded away. */
export function Look({ visit, of, facts, declared, isOpen, children }: LookProps) {
  return (
    <details class="more" open={isOpen}>
      <summary>More: background, colours, badge, template, size, time</summary>
      <div class="form">
        {children}
        <ThemeField value={of.background_theme} />
        <div class="field-pair">
          <Colour name="primary_color" label="Main colour" of={of} />
          <Colour name="secondary_color" label="Second colour" of={of} />
        </div>
        <Text name="club_badge_url" label="Badge address" of={of} />
        <TemplateChoice looks={facts.looks} chosen={of.preset} />
        <div class="field-pair">
          <Text name="width" label="Width" of={of} number />
          <Text name="height" label="Height" of={of} number />
          <Select name="format" label="Format" of={of} names={formatsOf(visit.deps.config)} />
          <Select
            name="composition"
            label="Composition"
            of={of}
            names={ASKED_COMPOSITIONS}
            text={compositionText}
          />
        </div>
        <Extras state={{ fields: of, ...declared }} />
        <PublishField fields={of} problem="" />
      </div>
    </details>
  );
}
