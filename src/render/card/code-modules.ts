import encodeQr from "qr";

/** The light margin that readers need around a code (ISO/IEC 18004, 6.3.8), in modules. */
const QUIET_MODULES = 4;

/**
 * The modules of a QR code with its quiet zone: a string for each row, with "1" where it is dark. It bears
 * damage of 15 %, such as a scratch or a crease.
 */
export function codeModules(text: string): string[] {
  const rows = encodeQr(text, "raw", { ecc: "medium", border: QUIET_MODULES });
  return rows.map((row) => row.map((isDark) => (isDark ? "1" : "0")).join(""));
}
