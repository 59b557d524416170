import * as oauth from "oauth4webapi";
import { BodyBuffer } from "../../core/body-buffer.ts";
import { Refusal } from "../../core/errors.ts";
import { inOneLine, isDeceptive } from "../../core/name.ts";
import type { Clock } from "../../core/ports.ts";
import {
  MAX_PROVIDER_BYTES,
  MAX_SUBJECT_CHARS,
  PROVIDER_CLOCK_TOLERANCE_S,
  PROVIDER_TIMEOUT_MS,
} from "../../core/sign-in-limits.ts";
import { HOUR_MS } from "../../core/time.ts";
import { isLoopback, type OidcSettings } from "../../oidc-config.ts";
import type { AppContext } from "../context.ts";
import { providerRefusal } from "./oidc-faults.ts";
import { newToken } from "./sign-in.ts";

type Context = Pick<AppContext, "config" | "clock" | "random" | "log">;

/** What a browser takes along to the provider, and what its way back is compared with. */
export interface Attempt {
  state: string;
  nonce: string;
  /** Of PKCE: the code is worth nothing without it. */
  verifier: string;
}

/** Who signed in at the provider, as its signed ID token says. */
export interface ProviderPerson {
  issuer: string;
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  groups: ReadonlySet<string>;
}

/** Authorization code flow with PKCE, at the provider of the settings. */
export interface OidcClient {
  readonly settings: OidcSettings;
  /** The address on the provider where somebody signs in. Throws a Refusal. */
  begin(): Promise<{ url: string; attempt: Attempt }>;
  /** Who came back, by the query of the callback. Throws a Refusal when anything about it is not right. */
  finish(callback: URLSearchParams, attempt: Attempt): Promise<ProviderPerson>;
  /** Where to sign out at the provider as well; undefined when it offers no such address. */
  signOutUrl(returnTo: string): Promise<string | undefined>;
}

/** To be registered at the provider, letter by letter. */
export function oidcRedirectUri({ baseUrl }: { baseUrl: string }): string {
  return `${baseUrl}/console/sign-in/oidc/callback`;
}

/** Keys and addresses change now and then; users who sign in do not wait for them each time. */
const DISCOVERY_LIFETIME_MS = HOUR_MS;

/** Undefined where no provider is configured. */
export function oidcClient(context: Context): OidcClient | undefined {
  const { config, random, log } = context;
  const settings = config.oidc;
  if (!settings) return undefined;
  const redirectUri = oidcRedirectUri(config);
  const server = discoveredServer(settings, context.clock);
  /** Runs a step, and words its failure for the user who wants to sign in. */
  const guarded = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      return await step();
    } catch (error) {
      const { refusal, logged } = providerRefusal(error, settings.name);
      log.warn("oidc_failed", logged);
      throw refusal;
    }
  };
  return {
    settings,
    begin: () =>
      guarded(async () => {
        const attempt = { state: newToken(random), nonce: newToken(random), verifier: newToken(random) };
        const url = endpoint(await server.get(), "authorization_endpoint");
        url.searchParams.set("client_id", settings.clientId);
        url.searchParams.set("response_type", "code");
        url.searchParams.set("redirect_uri", redirectUri);
        url.searchParams.set("scope", settings.scope);
        url.searchParams.set("state", attempt.state);
        url.searchParams.set("nonce", attempt.nonce);
        url.searchParams.set("code_challenge", await oauth.calculatePKCECodeChallenge(attempt.verifier));
        url.searchParams.set("code_challenge_method", "S256");
        return { url: url.href, attempt };
      }),
    finish: (callback, attempt) =>
      guarded(async () => {
        const claims = await exchange({ ...context, settings, redirectUri, server }, callback, attempt);
        return person(claims, settings);
      }),
    signOutUrl: (returnTo) =>
      guarded(async () => {
        const found = await server.get();
        if (found.end_session_endpoint === undefined) return undefined;
        const url = endpoint(found, "end_session_endpoint");
        url.searchParams.set("client_id", settings.clientId);
        url.searchParams.set("post_logout_redirect_uri", returnTo);
        return url.href;
      }),
  };
}

interface Discovered {
  /** The provider's addresses, from its discovery document. */
  get(): Promise<oauth.AuthorizationServer>;
  /** The same addresses, with keys that are fetched anew. */
  withNewKeys(): Promise<oauth.AuthorizationServer>;
}

function discoveredServer(settings: OidcSettings, clock: Clock): Discovered {
  let known: { server: oauth.AuthorizationServer; until: number } | undefined;
  let inFlight: Promise<oauth.AuthorizationServer> | undefined;
  const get = async () => {
    if (known && clock.elapsed() < known.until) return known.server;
    inFlight ??= discover(settings).finally(() => {
      inFlight = undefined;
    });
    const server = await inFlight;
    known = { server, until: clock.elapsed() + DISCOVERY_LIFETIME_MS };
    return server;
  };
  return {
    get,
    withNewKeys: async () => {
      // The library keeps keys by this object.
      const server = { ...(await get()) };
      if (known) known.server = server;
      return server;
    },
  };
}

/**
 * Fetches the discovery document. Throws when the issuer it names is not the configured one. `request` sees
 * the answer first.
 */
export async function discover(
  settings: OidcSettings,
  request: typeof fetch = fetch,
): Promise<oauth.AuthorizationServer> {
  const issuer = new URL(settings.issuer);
  const response = await oauth.discoveryRequest(issuer, requestOptions(settings, request));
  return oauth.processDiscoveryResponse(issuer, response);
}

/**
 * How the service says who it is: in the body where the provider takes that, because providers disagree on
 * how the header is encoded.
 */
export function clientAuthentication(
  { clientSecret }: OidcSettings,
  { token_endpoint_auth_methods_supported: methods }: oauth.AuthorizationServer,
): oauth.ClientAuth {
  return methods?.includes("client_secret_post")
    ? oauth.ClientSecretPost(clientSecret)
    : oauth.ClientSecretBasic(clientSecret);
}

/** Options of every request to the provider. */
export function requestOptions({ issuer }: Pick<OidcSettings, "issuer">, request: typeof fetch = fetch) {
  return {
    [oauth.customFetch]: (url: string, init: object) => boundedFetch(request, url, init),
    [oauth.allowInsecureRequests]: isLoopback(new URL(issuer)),
  };
}

/** An address from the discovery document, to which a browser is sent. */
function endpoint(
  server: oauth.AuthorizationServer,
  name: "authorization_endpoint" | "end_session_endpoint",
): URL {
  const url = URL.parse(server[name] ?? "");
  if (url && (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url)))) return url;
  throw new Error(`the discovery document has no usable ${name}`);
}

async function exchange(
  {
    settings,
    redirectUri,
    server,
    clock,
  }: Pick<Context, "clock"> & { settings: OidcSettings; redirectUri: string; server: Discovered },
  callback: URLSearchParams,
  { state, nonce, verifier }: Attempt,
): Promise<Record<string, unknown>> {
  const provider = await server.get();
  const client: oauth.Client = {
    client_id: settings.clientId,
    [oauth.clockSkew]: Math.round((clock.now() - Date.now()) / 1000),
    [oauth.clockTolerance]: PROVIDER_CLOCK_TOLERANCE_S,
  };
  const options = requestOptions(settings);
  const checked = oauth.validateAuthResponse(provider, client, callback, state);
  const response = await oauth.authorizationCodeGrantRequest(
    provider,
    client,
    clientAuthentication(settings, provider),
    checked,
    redirectUri,
    verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(provider, client, response, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  await checkSignature(server, provider, response, options);
  const claims = oauth.getValidatedIdTokenClaims(tokens) as Record<string, unknown>;
  const isWhole = claims.email !== undefined && claims[settings.groupsClaim] !== undefined;
  if (isWhole || provider.userinfo_endpoint === undefined) return claims;
  const answer = await oauth.userInfoRequest(provider, client, tokens.access_token, options);
  const more = await oauth.processUserInfoResponse(provider, client, String(claims.sub), answer);
  // What is signed counts before what is not, and an address is verified only where it is said.
  const { email, email_verified } = claims.email === undefined ? more : claims;
  return { ...more, ...claims, email, email_verified };
}

/** With a key the provider publishes; one it has begun to use since the last look is fetched, once. */
async function checkSignature(
  server: Discovered,
  provider: oauth.AuthorizationServer,
  response: Response,
  options: ReturnType<typeof requestOptions>,
): Promise<void> {
  try {
    await oauth.validateApplicationLevelSignature(provider, response, options);
  } catch (error) {
    if ((error as { code?: string }).code !== oauth.KEY_SELECTION) throw error;
    await oauth.validateApplicationLevelSignature(await server.withNewKeys(), response, options);
  }
}

function person(claims: Record<string, unknown>, settings: OidcSettings): ProviderPerson {
  const { iss, sub, email, email_verified: verified } = claims;
  const subject = String(sub);
  if (subject === "" || subject.length > MAX_SUBJECT_CHARS || isDeceptive(subject))
    throw new Refusal("PROVIDER_FAILED", `${settings.name} gave an unusable id for you. Tell the operator.`);
  const isVerified = verified === true || verified === "true";
  const isDenied = verified === false || verified === "false";
  return {
    issuer: String(iss),
    subject,
    email: typeof email === "string" ? email : null,
    isEmailVerified: isVerified || (settings.trustsEmail && !isDenied),
    groups: groupsOf(claims, settings),
  };
}

/**
 * No claim means no groups. One in another form, or one that the provider left out because of its length,
 * must not pass for that: it would take away roles that somebody has.
 */
function groupsOf(claims: Record<string, unknown>, { groupsClaim, name }: OidcSettings): ReadonlySet<string> {
  const elsewhere = claims._claim_names;
  if (typeof elsewhere === "object" && elsewhere !== null && groupsClaim in elsewhere)
    throw new Refusal(
      "PROVIDER_FAILED",
      `You are in more groups than ${name} puts into a sign-in. Ask its administrator to send only those assigned to this application.`,
    );
  const claim = claims[groupsClaim];
  if (claim === undefined || claim === null) return new Set();
  if (typeof claim === "string") return new Set([claim]);
  if (Array.isArray(claim)) return new Set(claim.filter((group) => typeof group === "string"));
  throw new Refusal(
    "PROVIDER_FAILED",
    `${name} sends your groups (${inOneLine(groupsClaim)}) in a form that is not a list of names. Tell the operator of this service.`,
  );
}

/** A fetch that ends: in time, and within a bound of bytes. */
async function boundedFetch(request: typeof fetch, url: string, init: object): Promise<Response> {
  const response = await request(url, {
    ...init,
    signal: AbortSignal.timeout(PROVIDER_TIMEOUT_MS),
  });
  const kept = new BodyBuffer(MAX_PROVIDER_BYTES, Number.NaN);
  for await (const piece of response.body ?? [])
    if (kept.add(piece as Uint8Array) !== "kept") throw new Error("the answer is too long");
  const headers = new Headers(response.headers);
  // It is unpacked already.
  headers.delete("content-encoding");
  headers.delete("content-length");
  const bytes = kept.whole;
  return new Response(bytes.length > 0 ? (bytes as Uint8Array<ArrayBuffer>) : null, {
    status: response.status,
    headers,
  });
}
