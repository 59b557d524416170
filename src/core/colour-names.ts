/** #RRGGBB of a colour that CSS has a name for, such as red; null for anything else. */
export function colourNamed(text: string): string | null {
  // "transparent" and "currentcolor" are no colours that a kit can have.
  if (!/^[a-z]{3,24}$/i.test(text) || /^(transparent|currentcolor)$/i.test(text)) return null;
  return Bun.color(text.toLowerCase(), "HEX");
}
