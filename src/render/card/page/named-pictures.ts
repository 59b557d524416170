/** The pictures that style sheets name, by address, held so that the browser keeps them. */
const namedPictures = new Map<string, HTMLImageElement>();

/**
 * Loads every picture that a style sheet names, shown or not. Otherwise the first card of a theme, tier or
 * position could be drawn before its own background is there.
 */
export async function loadNamed() {
  const named = [...document.styleSheets].flatMap((sheet) => {
    const rules = [...sheet.cssRules].filter((rule) => !(rule instanceof CSSFontFaceRule));
    const urls = rules.flatMap(({ cssText }) => [...cssText.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/g)]);
    return urls.map(([, address = ""]) => new URL(address, sheet.href ?? location.href).href);
  });
  const loads = [...new Set(named)].map(async (address) => {
    if (namedPictures.has(address) || address.includes("#")) return;
    const picture = new Image();
    namedPictures.set(address, picture);
    picture.src = address;
    // The check tells which cannot be shown; the card is drawn without.
    await picture.decode().catch(() => {});
  });
  await Promise.all(loads);
}
