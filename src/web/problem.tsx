/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";

const TITLES: Record<number, string> = {
  403: "Not allowed",
  404: "Page not found",
  405: "Not possible here",
  413: "Too much text",
  415: "Not a form",
  421: "Not this address",
  422: "That did not work",
  429: "Too many tries",
  500: "Something broke",
  503: "Not possible right now",
};

/** The title of a status on a page for people. */
export function problemTitle(status: number): string {
  return TITLES[status] ?? "That did not work";
}

/** The content of an error page: what happened, what to do, and where to continue. */
export function Problem({
  status,
  message,
  children,
}: {
  status: number;
  message: ComponentChildren;
  /** Links that lead on. */
  children: ComponentChildren;
}) {
  return (
    <>
      <h1>{problemTitle(status)}</h1>
      <p class="lead">{message}</p>
      <div class="actions">{children}</div>
    </>
  );
}
