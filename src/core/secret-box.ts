import { createCipheriv, createDecipheriv, createHash, hkdfSync } from "node:crypto";

/**
 * Encrypts secrets that must be readable again, such as signing secrets, so that the database and its copies
 * do not reveal them.
 */
export interface SecretBox {
  /** Names the key without revealing anything of it. */
  keyId: string;
  /** `context` names the row the text belongs to: a sealed text moved to another row does not open. */
  seal(text: string, context: string): string;
  /** Throws SecretUnreadableError when it was sealed with another key, or altered. */
  open(sealed: string, context: string): string;
  /** Derives 32 bytes for one purpose, the same at every start, that reveal nothing about the key. */
  derive(purpose: string): Uint8Array;
}

/** Sealed with a different key from the one in the data folder. */
export class SecretUnreadableError extends Error {
  override name = "SecretUnreadableError";
}

export const SECRET_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = "v1";

/**
 * AES-256-GCM with a random 96-bit nonce for each text (NIST SP 800-38D, 8.2.2). A sealed text is
 * `v1.<key id>.<base64 of nonce, tag and ciphertext>`; the key id tells a lost key from a damaged text.
 */
export function secretBox(key: Uint8Array, randomBytes: (length: number) => Uint8Array): SecretBox {
  if (key.length !== SECRET_KEY_BYTES) throw new Error(`a secret key has ${SECRET_KEY_BYTES} bytes`);
  const keyId = secretKeyId(key);
  return {
    keyId,
    seal: (text, context) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
      return [VERSION, keyId, Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64")].join(
        ".",
      );
    },
    // HKDF (RFC 5869).
    derive: (purpose) => new Uint8Array(hkdfSync("sha256", key, "", purpose, SECRET_KEY_BYTES)),
    open: (sealed, context) => {
      const [version, sealedBy, payload = ""] = sealed.split(".");
      if (version !== VERSION) throw new SecretUnreadableError("the secret is stored in an unknown form");
      if (sealedBy !== keyId) {
        throw new SecretUnreadableError(
          `the secret was sealed with key ${sealedBy}; secret.key holds ${keyId}`,
        );
      }
      const bytes = Buffer.from(payload, "base64");
      try {
        const nonce = bytes.subarray(0, NONCE_BYTES);
        const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(context))
          .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        return (
          decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, "utf8") + decipher.final("utf8")
        );
      } catch (cause) {
        throw new SecretUnreadableError("the secret was changed after it was sealed", { cause });
      }
    },
  };
}

/** The name of the key that a text was sealed with. */
export const sealedBy = (sealed: string): string | undefined => sealed.split(".")[1];

/** Names a key without revealing anything of it. */
export function secretKeyId(key: Uint8Array): string {
  return createHash("sha256").update("cardpress secret key id").update(key).digest("hex").slice(0, 8);
}
