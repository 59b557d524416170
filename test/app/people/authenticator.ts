import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const ORIGIN = "https://cards.example.com";
const USER_PRESENT_AND_VERIFIED = 0x05;
const HAS_CREDENTIAL = 0x40;

const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest();
const base64url = (data: Uint8Array) => Buffer.from(data).toString("base64url");

/** A security key in software, as one site's browser would use it (WebAuthn Level 3, without attestation). */
export function softwareKey(credentialId: Uint8Array = randomBytes(16)) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  // A COSE key (RFC 9053): kty EC2, alg ES256, crv P-256, x and y.
  const coseKey = Buffer.concat([
    Buffer.from("a5010203262001215820", "hex"),
    Buffer.from(x, "base64url"),
    Buffer.from("225820", "hex"),
    Buffer.from(y, "base64url"),
  ]);
  const id = base64url(credentialId);
  let counter = 0;
  const authData = (flags: number, ...rest: Uint8Array[]) => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(++counter, 1);
    return Buffer.concat([sha256(new URL(ORIGIN).hostname), head, ...rest]);
  };
  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: ORIGIN }));
  const answer = (response: object) => ({
    id,
    rawId: id,
    type: "public-key",
    response,
    clientExtensionResults: {},
  });
  return {
    id,
    /** Answers the options for a new passkey. */
    create: ({ challenge }: { challenge: string }) => {
      const length = Buffer.from([0, credentialId.length]);
      const data = authData(
        USER_PRESENT_AND_VERIFIED | HAS_CREDENTIAL,
        new Uint8Array(16),
        length,
        credentialId,
        coseKey,
      );
      // CBOR of { fmt: "none", attStmt: {}, authData }.
      const attestationObject = Buffer.concat([
        Buffer.from("a363666d74646e6f6e656761747453746d74a0686175746844617461", "hex"),
        Buffer.from([0x58, data.length]),
        data,
      ]);
      return answer({
        clientDataJSON: base64url(clientData("webauthn.create", challenge)),
        attestationObject: base64url(attestationObject),
        transports: [],
      });
    },
    /** Answers the options for signing in. */
    get: ({ challenge }: { challenge: string }) => {
      const data = authData(USER_PRESENT_AND_VERIFIED);
      const client = clientData("webauthn.get", challenge);
      return answer({
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(sign("sha256", Buffer.concat([data, sha256(client)]), privateKey)),
      });
    },
  };
}
