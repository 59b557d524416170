import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

// An OpenID provider that does what a test wants, which no real one would: forge, swap, stall and fail.

export interface TestIssuer {
  issuer: string;
  env: Record<string, string>;
  /** What the next answers are. Reset it with `behave()`. */
  answer: Answer;
  behave(): void;
  /** The query with which a browser comes back that was sent to this address, with a code of this issuer. */
  callback(authorizationUrl: string, change?: Record<string, string | null>): URLSearchParams;
  /** Signs with a new key from now on, whose public half it publishes. */
  rotate(): Promise<void>;
  /** How often the keys were fetched. */
  keyRequests(): number;
  close(): Promise<void>;
}

interface Answer {
  /** Beside iss, aud, sub, iat, exp and nonce, which may be replaced or, as undefined, left out. */
  claims: JWTPayload;
  userinfo: Record<string, unknown> | undefined;
  /** In place of signing with the published key. */
  sign: ((claims: JWTPayload) => Promise<string>) | undefined;
  /** In place of what the token endpoint answers. */
  token: (() => Response | Promise<Response>) | undefined;
  /** Changes of the discovery document. */
  discovery: Record<string, unknown>;
  status: number;
  /** The issuer's time, as its answers say it. */
  date: Date | undefined;
}

const CLIENT_ID = "cardpress";

export async function testIssuer(): Promise<TestIssuer> {
  let keys = await newKeys("first");
  let keyRequests = 0;
  /** The nonce by code. */
  const codes = new Map<string, string>();
  const state = { answer: honest() };
  const tokenOf = async (form: FormData): Promise<Response> => {
    const nonce = codes.get(String(form.get("code")));
    codes.delete(String(form.get("code")));
    if (nonce === undefined) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: issuer, aud: CLIENT_ID, sub: "subject-1", iat: now, exp: now + 300, nonce };
    const all = { ...claims, ...state.answer.claims };
    const sign = state.answer.sign ?? ((payload: JWTPayload) => signed(payload, keys));
    return Response.json({ access_token: "a", token_type: "Bearer", id_token: await sign(all) });
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request): Promise<Response> => {
      const { answer } = state;
      if (answer.status !== 200) return new Response("broken", { status: answer.status });
      switch (new URL(request.url).pathname) {
        case "/.well-known/openid-configuration":
          return Response.json(
            { ...discovery(issuer), ...answer.discovery },
            { headers: answer.date ? { date: answer.date.toUTCString() } : {} },
          );
        case "/keys":
          keyRequests += 1;
          return Response.json({ keys: [keys.jwk] });
        case "/token":
          return answer.token?.() ?? tokenOf(await request.formData());
        case "/userinfo":
          return Response.json(answer.userinfo ?? { sub: "subject-1" });
        default:
          return new Response("no such page", { status: 404 });
      }
    },
  });
  const issuer: string = `http://127.0.0.1:${server.port}`;
  return {
    issuer,
    env: {
      CARDPRESS_OIDC_ISSUER: issuer,
      CARDPRESS_OIDC_CLIENT_ID: CLIENT_ID,
      CARDPRESS_OIDC_CLIENT_SECRET: "a secret of both",
      CARDPRESS_OIDC_NAME: "Test ID",
    },
    get answer() {
      return state.answer;
    },
    behave: () => {
      state.answer = honest();
    },
    callback: (authorizationUrl, change = {}) => {
      const asked = new URL(authorizationUrl).searchParams;
      const code = crypto.randomUUID();
      codes.set(code, asked.get("nonce") ?? "");
      const query = new URLSearchParams({ code, state: asked.get("state") ?? "" });
      for (const [name, value] of Object.entries(change))
        if (value === null) query.delete(name);
        else query.set(name, value);
      return query;
    },
    rotate: async () => {
      keys = await newKeys(crypto.randomUUID());
    },
    keyRequests: () => keyRequests,
    close: () => server.stop(true),
  };
}

function honest(): Answer {
  const claims = { email: "ana@rovers.example", email_verified: true, groups: ["staff"] };
  return {
    claims,
    userinfo: undefined,
    sign: undefined,
    token: undefined,
    discovery: {},
    status: 200,
    date: undefined,
  };
}

function discovery(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
    code_challenge_methods_supported: ["S256"],
  };
}

interface Keys {
  privateKey: CryptoKey;
  jwk: Record<string, unknown>;
}

async function newKeys(kid: string): Promise<Keys> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" } };
}

function signed(payload: JWTPayload, { privateKey, jwk }: Keys): Promise<string> {
  return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid: String(jwk.kid) }).sign(privateKey);
}
