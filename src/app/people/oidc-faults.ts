import * as oauth from "oauth4webapi";
import { Refusal } from "../../core/errors.ts";
import { inOneLine } from "../../core/name.ts";

/** What somebody reads about a sign-in that failed at the provider, and what the log keeps of it. */
interface ProviderRefusal {
  refusal: Refusal;
  /** Neither tokens nor claims. */
  logged: { reason: string; error: string };
}

const MAX_LOGGED_CHARS = 300;

/** @param name the provider's, for people */
export function providerRefusal(error: unknown, name: string): ProviderRefusal {
  const reason = reasonOf(error);
  const logged = { reason, error: wordsOf(error) };
  if (error instanceof Refusal) return { refusal: error, logged };
  const isDenied = reason === "access_denied";
  const text = (TEXTS[reason] ?? TEXTS.other)?.(name) ?? "";
  return {
    refusal: new Refusal(isDenied ? "NOT_ALLOWED" : "PROVIDER_FAILED", text, { cause: error }),
    logged,
  };
}

/** By reason; each says what to do now, and what the operator can look at. */
const TEXTS: Record<string, (name: string) => string> = {
  access_denied: (name) =>
    `${name} did not let you in: the sign-in was cancelled there, or you may not use this service. Try again, or ask its administrator to let you use cardpress.`,
  server_error: (name) => `${name} has a problem of its own at the moment. Wait a minute and sign in again.`,
  unreachable: (name) =>
    `${name} does not answer this service at the moment. Wait a minute and sign in again; if it lasts, tell the operator.`,
  used: (name) =>
    `${name} does not accept this sign-in any more: it took too long, or the page was opened twice. Sign in again.`,
  credentials: (name) =>
    `${name} does not know this service under its client id and secret. Tell the operator: "cardpress doctor" says which of them is wrong.`,
  clock: (name) =>
    `The clocks of this service and of ${name} differ. Tell the operator to have both set by a time server.`,
  issuer: (name) =>
    `${name} calls itself by another address than CARDPRESS_OIDC_ISSUER. Tell the operator: "cardpress doctor" says by which.`,
  key: (name) =>
    `${name} signed its answer with a key that it does not publish, so nobody was signed in. Sign in again; if it lasts, tell the operator.`,
  other: (name) =>
    `What ${name} answered is not as it must be, so nobody was signed in. Sign in again; if it happens again, tell the operator: the log says what was wrong.`,
};

/** The provider's words for "try again later" (RFC 6749, 4.1.2.1). */
const PASSING = new Set(["server_error", "temporarily_unavailable"]);

const BY_CODE: Record<string, string> = {
  [oauth.JWT_TIMESTAMP_CHECK]: "clock",
  [oauth.JSON_ATTRIBUTE_COMPARISON]: "issuer",
  [oauth.KEY_SELECTION]: "key",
};

function reasonOf(error: unknown): string {
  if (error instanceof oauth.AuthorizationResponseError)
    return PASSING.has(error.error)
      ? "server_error"
      : error.error === "access_denied"
        ? error.error
        : "other";
  if (error instanceof oauth.ResponseBodyError) {
    if (error.error === "invalid_grant") return "used";
    if (error.error === "invalid_client" || error.error === "unauthorized_client") return "credentials";
    return PASSING.has(error.error) ? "server_error" : "other";
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) return "credentials";
  const { code, name, cause } = error as { code?: string; name?: string; cause?: unknown };
  if (code === oauth.JSON_ATTRIBUTE_COMPARISON) return isOfIssuer(cause) ? "issuer" : "other";
  if (code !== undefined && BY_CODE[code]) return BY_CODE[code];
  if (code === oauth.RESPONSE_IS_NOT_CONFORM)
    return cause instanceof Response && cause.status >= 500 ? "server_error" : "other";
  const isOfLibrary = code?.startsWith("OAUTH_") ?? false;
  // Bun's fetch fails with codes of its own, such as ConnectionRefused, and a time-out with this name.
  return name === "TimeoutError" || (code !== undefined && !isOfLibrary) ? "unreachable" : "other";
}

function isOfIssuer(cause: unknown): boolean {
  return (cause as { attribute?: string } | undefined)?.attribute === "issuer";
}

/** The provider's own words where it gave some. */
function wordsOf(error: unknown): string {
  const { message, error: code, error_description: described } = error as Record<string, unknown>;
  const words = [message, code, described].filter((part) => typeof part === "string");
  return inOneLine(words.join(": ")).slice(0, MAX_LOGGED_CHARS);
}
