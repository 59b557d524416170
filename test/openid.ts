import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";

// A real OpenID provider, certified by the OpenID Foundation, on a port of this machine.

export interface TestPerson {
  email?: string | undefined;
  email_verified?: boolean;
  groups?: unknown;
}

export interface TestProvider {
  issuer: string;
  /** Settings of a service that people sign in to here. */
  env: Record<string, string>;
  /** By the name they sign in with there, which is their subject; may be changed between sign-ins. */
  people: Map<string, TestPerson>;
  /** Registers the address of a service's callback. */
  register(redirectUri: string): void;
  close(): Promise<void>;
}

const CLIENT_ID = "cardpress";
const CLIENT_SECRET = "a secret of the provider & this service";

export async function testProvider(): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const people: TestProvider["people"] = new Map();
  const redirectUris: string[] = [];
  let answer = provider(issuer, people, redirectUris);
  server.on("request", (request, response) => answer(request, response));
  return {
    issuer,
    env: {
      CARDPRESS_OIDC_ISSUER: issuer,
      CARDPRESS_OIDC_CLIENT_ID: CLIENT_ID,
      CARDPRESS_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      CARDPRESS_OIDC_NAME: "Rovers ID",
      CARDPRESS_OIDC_SCOPES: "openid email groups",
    },
    people,
    register: (redirectUri) => {
      redirectUris.push(redirectUri);
      answer = provider(issuer, people, redirectUris);
    },
    close: () => closed(server),
  };
}

function provider(issuer: string, people: TestProvider["people"], redirectUris: string[]) {
  const made = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: redirectUris,
        post_logout_redirect_uris: redirectUris.map((uri) => uri.replace(/\/oidc\/callback$/, "")),
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
    // Claims in the ID token, as most providers have them; those of the user info are looked for otherwise.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { rpInitiatedLogout: { enabled: true } },
    findAccount: (_context: unknown, id: string) => {
      const person = people.get(id);
      return person && { accountId: id, claims: () => ({ sub: id, ...person }) };
    },
  });
  return made.callback();
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
