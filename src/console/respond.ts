import type { JSX } from "preact";
import type { Config } from "../config.ts";
import { basePathOf } from "../core/base-path.ts";
import { streamOfLines } from "../core/csv.ts";
import { PROVIDER_VISIT_MS, SESSION_LIFETIME_MS } from "../core/sign-in-limits.ts";
import type { Exchange } from "../http/exchange.ts";
import { documentText, fragmentText } from "../web/page.tsx";
import { PAGE_HEADERS } from "../web/policy.ts";

function pageHeaders(exchange: Exchange): Record<string, string> {
  return {
    "X-Request-Id": exchange.requestId,
    ...PAGE_HEADERS,
    // Pages hold one account's data: nothing may cache them, not even for the back button after signing out.
    "Cache-Control": "no-store",
  };
}

/** A whole document, or with `fragment` the part that a page requests itself. */
export function html(
  exchange: Exchange,
  body: JSX.Element,
  options: { status?: number; fragment?: boolean; cookie?: string; headers?: Record<string, string> } = {},
): Response {
  const { status = 200, fragment = false, cookie, headers } = options;
  const text = fragment ? fragmentText : documentText;
  return new Response(text(body, exchange.basePath), {
    status,
    headers: {
      ...pageHeaders(exchange),
      "Content-Type": "text/html; charset=utf-8",
      ...headers,
      ...(cookie === undefined ? {} : { "Set-Cookie": cookie }),
    },
  });
}

/**
 * After a form: the browser loads the next page, so that reloading repeats nothing. `to` is one of our paths.
 */
export function redirect(to: string, exchange: Exchange, ...cookies: string[]): Response {
  const headers = new Headers({ ...pageHeaders(exchange), Location: to });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Whether a page's script requests a fragment. */
export function isHtmxRequest(request: Request): boolean {
  return request.headers.get("hx-request") === "true";
}

/** A fragment cannot be redirected, but its page can: htmx opens `to`, one of our paths, instead. */
export function redirectHtmx(to: string, exchange: Exchange): Response {
  return new Response(null, { status: 401, headers: { ...pageHeaders(exchange), "HX-Redirect": to } });
}

/** A file of the account, for this reader only. */
export function privateFile(
  exchange: Exchange,
  body: Blob | Uint8Array | ReadableStream | string,
  headers: Record<string, string>,
): Response {
  return new Response(body as BodyInit, {
    headers: {
      ...pageHeaders(exchange),
      "Content-Security-Policy": "default-src 'none'; sandbox",
      "Cross-Origin-Resource-Policy": "same-origin",
      ...headers,
    },
  });
}

/** A CSV file to be saved, sent while its lines are read. */
export function privateTable(
  exchange: Exchange,
  lines: AsyncGenerator<string>,
  disposition: string,
): Response {
  return privateFile(exchange, streamOfLines(lines), {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": disposition,
  });
}

/** A response to one of our scripts. */
export function privateJson(exchange: Exchange, value: unknown, status = 200): Response {
  const file = privateFile(exchange, JSON.stringify(value), { "Content-Type": "application/json" });
  return status === 200 ? file : new Response(file.body, { status, headers: file.headers });
}

// Over HTTPS the __Host- prefix prevents other hosts from setting or reading the cookie; it asks for the path
// "/", so that under a base path __Secure- has to do. Plain HTTP is for trying it out on one machine.
const isSecure = (config: Config) => config.baseUrl.startsWith("https://");
const cookieName = (config: Config, name = "cardpress") => {
  if (!isSecure(config)) return name;
  return `${basePathOf(config.baseUrl) === "" ? "__Host" : "__Secure"}-${name}`;
};

export function sessionToken(request: Request, config: Config): string | undefined {
  const token = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(cookieName(config));
  return token && /^[\w-]{43}$/.test(token) ? token : undefined;
}

/** The Set-Cookie header with a session's token; null clears it. */
export function sessionCookie(config: Config, token: string | null): string {
  return setCookie(config, { name: "cardpress", value: token, forMs: SESSION_LIFETIME_MS });
}

const VISIT_COOKIE = "cardpress-provider";

/** What this browser took along to the sign-in provider, sealed. */
export function providerVisit(request: Request, config: Config): string | undefined {
  const cookies = new Bun.CookieMap(request.headers.get("cookie") ?? "");
  return cookies.get(cookieName(config, VISIT_COOKIE)) ?? undefined;
}

/** The Set-Cookie header for it; null clears it. Lax, since the browser comes back from another site. */
export function providerVisitCookie(config: Config, sealed: string | null): string {
  return setCookie(config, { name: VISIT_COOKIE, value: sealed, forMs: PROVIDER_VISIT_MS });
}

function setCookie(config: Config, of: { name: string; value: string | null; forMs: number }): string {
  const cookie = new Bun.Cookie({
    name: cookieName(config, of.name),
    value: of.value ?? "",
    path: basePathOf(config.baseUrl) || "/",
    maxAge: of.value === null ? 0 : of.forMs / 1000,
    httpOnly: true,
    sameSite: "lax",
    secure: isSecure(config),
  });
  return cookie.serialize();
}
