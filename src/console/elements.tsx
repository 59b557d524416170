/** @jsxImportSource preact */
import type { ComponentChildren, FormHTMLAttributes } from "preact";
import { ENVIRONMENTS, type Environment } from "../core/account.ts";
import { MIN_PASSWORD_CHARS } from "../core/sign-in-limits.ts";
import { Badge, Choice, Field, Segments } from "../web/elements.tsx";
import type { UserVisit, Visit } from "./visit.ts";

// Elements of the console's pages beyond those of all pages: forms and fragments that know the visitor.

export { Code } from "../web/code.tsx";
export * from "../web/elements.tsx";

/**
 * Attributes of a fragment that is still changing: the page requests it again and replaces the old one. Empty
 * once it is settled.
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

/**
 * The form field `password`, for a new password.
 * @param advice follows the rule about its length
 */
export function NewPasswordField({ label, advice = "" }: { label: string; advice?: string }) {
  return (
    <Field label={label} id="password" hint={`At least ${MIN_PASSWORD_CHARS} characters.${advice}`}>
      <input
        id="password"
        name="password"
        type="password"
        required
        minLength={MIN_PASSWORD_CHARS}
        autocomplete="new-password"
        aria-describedby="password-hint"
      />
    </Field>
  );
}

/** A form with the session's token. Every change in the console is made through one. */
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

export function EnvironmentBadge({ environment }: { environment: "live" | "test" }) {
  return (
    <Badge tone={environment === "live" ? "good" : "test"}>{environment === "live" ? "Live" : "Test"}</Badge>
  );
}

/** Switches a page between the environments. `href` is its address in each. */
export function EnvironmentSegments({
  environment,
  href,
}: {
  environment: Environment;
  href: (environment: Environment) => string;
}) {
  const choices = ENVIRONMENTS.map((name) => ({
    label: name === "live" ? "Live" : "Test",
    href: href(name),
    current: name === environment,
  }));
  return <Segments label="Environment" choices={choices} />;
}

/** A button that asks for confirmation before something irreversible. */
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

/** The environment of new things: test unless live was selected. */
export function EnvironmentChoice({ chosen }: { chosen: string | null | undefined }) {
  const environments: [string, string][] = [
    ["test", "Test"],
    ["live", "Live"],
  ];
  return <Choice legend="Environment" name="environment" options={environments} chosen={chosen ?? "test"} />;
}
