/** SHA-256 in lower-case hex. */
export const sha256 = (data: Uint8Array | string): string =>
  new Bun.CryptoHasher("sha256").update(data).digest("hex");
