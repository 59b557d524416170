import type { JSX } from "preact";
import { renderToString } from "preact-render-to-string";
import type { Config } from "../config.ts";
import { SESSION_LIFETIME_MS } from "../core/limits.ts";
import type { Exchange } from "../http/exchange.ts";
import { documentText } from "../web/page.tsx";
import { PAGE_HEADERS } from "../web/policy.ts";

function pageHeaders(exchange: Exchange): Record<string, string> {
  return {
    "X-Request-Id": exchange.requestId,
    ...PAGE_HEADERS,
    // Pages hold one account's data: no cache may keep them, not even the back button's after signing out.
    "Cache-Control": "no-store",
  };
}

/** A whole document, or with `fragment` the part of one that a page asks for itself. */
export function html(
  exchange: Exchange,
  body: JSX.Element,
  options: { status?: number; fragment?: boolean; cookie?: string } = {},
): Response {
  const { status = 200, fragment = false, cookie } = options;
  const text = fragment ? renderToString(body) : documentText(body);
  return new Response(text, {
    status,
    headers: {
      ...pageHeaders(exchange),
      "Content-Type": "text/html; charset=utf-8",
      ...(cookie === undefined ? {} : { "Set-Cookie": cookie }),
    },
  });
}

/** After a form: the browser fetches the next page, so that reloading it repeats nothing. `to` is a path of ours. */
export function redirect(to: string, exchange: Exchange, cookie?: string): Response {
  const headers = { ...pageHeaders(exchange), Location: to };
  return new Response(null, {
    status: 303,
    headers: cookie === undefined ? headers : { ...headers, "Set-Cookie": cookie },
  });
}

/** Whether a page asks by its script for a part of itself. */
export function isHtmxRequest(request: Request): boolean {
  return request.headers.get("hx-request") === "true";
}

/** A part cannot be redirected, the page around it can: htmx opens `to`, a path of ours, in its place. */
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

/** An answer to a script of ours. */
export function privateJson(exchange: Exchange, value: unknown, status = 200): Response {
  const file = privateFile(exchange, JSON.stringify(value), { "Content-Type": "application/json" });
  return status === 200 ? file : new Response(file.body, { status, headers: file.headers });
}

// Over HTTPS the __Host- prefix lets no other host set or see the cookie; plain HTTP is for trying out on one machine.
const isSecure = (config: Config) => config.baseUrl.startsWith("https://");
const cookieName = (config: Config) => (isSecure(config) ? "__Host-cardpress" : "cardpress");

export function sessionToken(request: Request, config: Config): string | undefined {
  const token = new Bun.CookieMap(request.headers.get("cookie") ?? "").get(cookieName(config));
  return token && /^[\w-]{43}$/.test(token) ? token : undefined;
}

/** The Set-Cookie that carries a session's token; with null, the one that takes it away. */
export function sessionCookie(config: Config, token: string | null): string {
  const cookie = new Bun.Cookie({
    name: cookieName(config),
    value: token ?? "",
    path: "/",
    maxAge: token === null ? 0 : SESSION_LIFETIME_MS / 1000,
    httpOnly: true,
    sameSite: "lax",
    secure: isSecure(config),
  });
  return cookie.serialize();
}
