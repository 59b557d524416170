import { MEMBER_ROLES, type MemberRole } from "./core/account.ts";
import { OperatorError } from "./core/errors.ts";

/** How people sign in at an OpenID provider, such as Keycloak or Entra ID. */
export interface OidcSettings {
  /** Exactly as the provider calls itself. */
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** The provider's name for people, as in "Sign in with Rovers". */
  name: string;
  /** Separated by spaces, `openid` among them. */
  scope: string;
  /** The claim that lists somebody's groups. */
  groupsClaim: string;
  /** Members of any of them are operators. */
  operatorGroups: ReadonlySet<string>;
  accountGroups: readonly AccountGroup[];
  /** Emails count as verified although the provider does not say whether they are. */
  trustsEmail: boolean;
  /** Nobody signs in with a password or a passkey; setup links still let operators in. */
  only: boolean;
}

/** Members of the group have this role in the account. */
export interface AccountGroup {
  group: string;
  accountId: string;
  role: MemberRole;
}

const REQUIRED = [
  "CARDPRESS_OIDC_ISSUER",
  "CARDPRESS_OIDC_CLIENT_ID",
  "CARDPRESS_OIDC_CLIENT_SECRET",
] as const;
const OPTIONAL = [
  "CARDPRESS_OIDC_NAME",
  "CARDPRESS_OIDC_SCOPES",
  "CARDPRESS_OIDC_GROUPS_CLAIM",
  "CARDPRESS_OIDC_OPERATOR_GROUPS",
  "CARDPRESS_OIDC_ACCOUNT_GROUPS",
  "CARDPRESS_OIDC_TRUST_EMAIL",
  "CARDPRESS_OIDC_ONLY",
] as const;

/** Fits on a button of a phone. */
const MAX_NAME_CHARS = 40;

type Environment = Record<string, string | undefined>;

/**
 * All that is needed, or nothing: undefined without any of the variables. `flag` reads a 1. Throws an
 * OperatorError that names what is missing or wrong, never the secret.
 */
export function readOidc(
  env: Environment,
  flag: (env: Environment, name: string) => boolean,
): OidcSettings | undefined {
  const given = [...REQUIRED, ...OPTIONAL].filter((name) => env[name]);
  if (given.length === 0) return undefined;
  const missing = REQUIRED.filter((name) => !env[name]);
  if (missing.length > 0)
    throw new OperatorError(
      `${given[0]} is set, but not ${missing.join(", ")}. Register this service at your provider, and set what it gives you; or unset all of CARDPRESS_OIDC_.`,
      2,
    );
  return {
    issuer: issuer(env.CARDPRESS_OIDC_ISSUER ?? ""),
    clientId: env.CARDPRESS_OIDC_CLIENT_ID ?? "",
    clientSecret: env.CARDPRESS_OIDC_CLIENT_SECRET ?? "",
    name: providerName(env.CARDPRESS_OIDC_NAME || "SSO"),
    scope: scope(env.CARDPRESS_OIDC_SCOPES || "openid email profile"),
    groupsClaim: env.CARDPRESS_OIDC_GROUPS_CLAIM || "groups",
    operatorGroups: new Set(listed(env.CARDPRESS_OIDC_OPERATOR_GROUPS)),
    accountGroups: listed(env.CARDPRESS_OIDC_ACCOUNT_GROUPS).map(accountGroup),
    trustsEmail: flag(env, "CARDPRESS_OIDC_TRUST_EMAIL"),
    only: flag(env, "CARDPRESS_OIDC_ONLY"),
  };
}

/** Whether a provider is on this machine, where plain HTTP crosses no network. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}

function issuer(text: string): string {
  const url = URL.parse(text);
  const isWhole = url && !url.search && !url.hash && !url.username;
  if (isWhole && (url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url)))) return text;
  throw new OperatorError(
    `CARDPRESS_OIDC_ISSUER is "${text}"; it must be the address by which the provider calls itself, such as https://login.example.com/realms/club. Plain http is for a provider on this machine alone.`,
    2,
  );
}

function providerName(text: string): string {
  if ([...text].length <= MAX_NAME_CHARS) return text;
  throw new OperatorError(
    `CARDPRESS_OIDC_NAME has more than ${MAX_NAME_CHARS} characters. It stands on a button: give it a short name, such as Keycloak.`,
    2,
  );
}

/** Without `openid` a provider answers with no ID token. */
function scope(text: string): string {
  return [...new Set(["openid", ...text.split(/[\s,]+/).filter(Boolean)])].join(" ");
}

function listed(text = ""): string[] {
  const entries = text.split(",").map((part) => part.trim());
  return [...new Set(entries.filter(Boolean))];
}

function accountGroup(entry: string): AccountGroup {
  const [, group = "", accountId = "", role] = /^(.*\S)\s*=\s*(acct_\w+):(\w+)$/.exec(entry) ?? [];
  const known = MEMBER_ROLES.find((each) => each === role);
  if (known) return { group, accountId, role: known };
  throw new OperatorError(
    `CARDPRESS_OIDC_ACCOUNT_GROUPS holds "${entry}"; every entry must be a group, an account and one of the roles ${MEMBER_ROLES.join(", ")}, as in rovers-staff=acct_rkQ2hXcm6fVtN4dLwBy8Zs01:developer, separated by commas.`,
    2,
  );
}
