import * as oauth from "oauth4webapi";
import type { Config } from "../../../config.ts";
import { MAX_SUBJECT_CHARS, PROVIDER_CLOCK_TOLERANCE_S } from "../../../core/sign-in-limits.ts";
import type { OidcSettings } from "../../../oidc-config.ts";
import { clientAuthentication, discover, oidcRedirectUri, requestOptions } from "../../people/oidc-client.ts";
import type { Diagnosis } from "./diagnosis.ts";

type Finding = Omit<Diagnosis, "check">;

/**
 * Whether people can sign in at the provider of the settings: it answers, is who the settings say, knows this
 * service by its id and secret, and its clock agrees.
 */
export async function checkOidc(config: Config): Promise<Finding> {
  const { oidc } = config;
  if (!oidc)
    return {
      status: "ok",
      message: "CARDPRESS_OIDC_ISSUER is unset: people sign in with passwords and passkeys",
    };
  const found = await lookAtProvider(oidc);
  if ("status" in found) return found;
  const { server } = found;
  const redirectUri = oidcRedirectUri(config);
  const problem = await credentialsProblem(oidc, server, redirectUri);
  if (problem !== null) return { status: "failed", message: problem };
  const doubts = [clockDoubt(found.date), ...claimDoubts(oidc, server)].filter((doubt) => doubt !== null);
  const known = `${oidc.issuer} answers and knows this service; the redirect URI registered there must be ${redirectUri}`;
  if (doubts.length === 0) return { status: "ok", message: known };
  return { status: "warning", message: `${known}. ${doubts.join(" ")}` };
}

type Found = { server: oauth.AuthorizationServer; date: number };

async function lookAtProvider(oidc: OidcSettings): Promise<Found | Finding> {
  let date = Number.NaN;
  const recording: typeof fetch = Object.assign(
    async (...asked: Parameters<typeof fetch>) => {
      const answer = await fetch(...asked);
      date = Date.parse(answer.headers.get("date") ?? "");
      return answer;
    },
    { preconnect: fetch.preconnect },
  );
  try {
    return { server: await discover(oidc, recording), date };
  } catch (error) {
    return { status: "failed", message: discoveryProblem(oidc, error) };
  }
}

function discoveryProblem({ issuer }: OidcSettings, error: unknown): string {
  const { code, cause, message } = error as { code?: string; cause?: unknown; message: string };
  const named = (cause as { body?: { issuer?: unknown } } | undefined)?.body?.issuer;
  if (code === oauth.JSON_ATTRIBUTE_COMPARISON)
    return `the provider at ${issuer} calls itself ${String(named).slice(0, MAX_SUBJECT_CHARS)}. If that is yours, set CARDPRESS_OIDC_ISSUER to exactly this, with or without the slash at its end.`;
  const at = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  if (code === oauth.RESPONSE_IS_NOT_CONFORM && cause instanceof Response)
    return `${at} answers ${cause.status}. Open it in a browser: CARDPRESS_OIDC_ISSUER must be the address before /.well-known.`;
  return `${at} cannot be read: ${message}. Look whether this machine reaches the provider and trusts its certificate (NODE_EXTRA_CA_CERTS names those of an own authority).`;
}

/**
 * A code that does not exist: a provider that refuses the code has accepted the client id and the secret
 * before (RFC 6749, 5.2). Null when they are right.
 */
async function credentialsProblem(
  oidc: OidcSettings,
  server: oauth.AuthorizationServer,
  redirectUri: string,
): Promise<string | null> {
  const client = { client_id: oidc.clientId };
  const parameters = { code: "cardpress-doctor", redirect_uri: redirectUri, code_verifier: "d".repeat(43) };
  try {
    const answer = await oauth.genericTokenEndpointRequest(
      server,
      client,
      clientAuthentication(oidc, server),
      "authorization_code",
      parameters,
      requestOptions(oidc),
    );
    await oauth.processGenericTokenEndpointResponse(server, client, answer);
  } catch (error) {
    const said = error instanceof oauth.ResponseBodyError ? error.error : "";
    if (error instanceof oauth.WWWAuthenticateChallengeError || /^(invalid|unauthorized)_client$/.test(said))
      return `${oidc.issuer} does not accept CARDPRESS_OIDC_CLIENT_ID and CARDPRESS_OIDC_CLIENT_SECRET. Copy both again from the application there; a secret may have expired.`;
    if (!(error instanceof oauth.ResponseBodyError))
      return `${oidc.issuer} answers, but its token endpoint does not: ${(error as Error).message}.`;
  }
  return null;
}

function clockDoubt(date: number): string | null {
  const apart = Math.round((Date.now() - date) / 1000);
  if (!(Math.abs(apart) > PROVIDER_CLOCK_TOLERANCE_S)) return null;
  return `Its clock is ${Math.abs(apart)} seconds ${apart > 0 ? "behind" : "ahead of"} this machine's: have both set by a time server, or nobody gets in.`;
}

function claimDoubts(oidc: OidcSettings, server: oauth.AuthorizationServer): (string | null)[] {
  const { code_challenge_methods_supported: pkce, scopes_supported: scopes } = server;
  const unknown = oidc.scope.split(" ").filter((scope) => scopes && !scopes.includes(scope));
  const giveRoles = oidc.operatorGroups.size > 0 || oidc.accountGroups.length > 0;
  return [
    pkce?.includes("S256") === false ? "It does not offer PKCE with S256, which every sign-in uses." : null,
    unknown.length > 0 ? `It does not know the scopes ${unknown.join(", ")} of CARDPRESS_OIDC_SCOPES.` : null,
    giveRoles
      ? null
      : "No group gives a role (CARDPRESS_OIDC_OPERATOR_GROUPS, CARDPRESS_OIDC_ACCOUNT_GROUPS): only people who were invited get in.",
  ];
}
