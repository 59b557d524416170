import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { displayName, undrawable } from "../../../src/render/card/display-name.ts";
import { isDrawable } from "../../../src/render/fonts/fonts.ts";

const shown = (raw: string) => displayName(raw, isDrawable);

describe("names", () => {
  const cases: [raw: string, text: string, lang: string][] = [
    ["Jürgen Groß", "Jürgen Groß", "und"],
    ["İlkay Işık", "İlkay Işık", "tr"],
    ["Ilkay ışık", "Ilkay ışık", "tr"],
    ["Γιώργος", "Γιώργος", "el"],
    ["Nguyễn Quang Hải", "Nguyễn Quang Hải", "vi"],
    ["ხვიჩა", "ხვიჩა", "und"],
    ["三笘 カオル", "三笘 カオル", "ja"],
    ["손흥민", "손흥민", "ko"],
    ["  a \t b\n", "a b", "und"],
  ];
  for (const [raw, text, lang] of cases) {
    test(`"${raw.trim()}" stays as it is written, and its language is detected`, () => {
      expect(shown(raw)).toMatchObject({ text, lang });
    });
  }

  test("right-to-left names are told apart by their first letter", () => {
    expect(shown("محمد صلاح").direction).toBe("rtl");
    expect(shown("ערן זהבי").direction).toBe("rtl");
    expect(shown("10 Mo صلاح").direction).toBe("ltr");
  });

  test("joiners that Persian and emoji need stay, direction tricks and zero-width padding go", () => {
    expect(shown("علی‌رضا").text).toContain("\u200c");
    expect(shown("👨‍👩‍👧").text).toContain("\u200d");
    expect(shown("a\u202eb\u200bc\u2066d\u0000e\ufeff").text).toBe("abcde");
  });

  test("a hundred marks on one letter become a few", () => {
    expect([...shown(`e${"\u0301".repeat(100)}x`).text].length).toBeLessThanOrEqual(6);
  });

  test("what no font has is left out, and something is always left to show", () => {
    expect(shown("\ue000Tom\u{f0000}").text).toBe("Tom");
    for (const empty of ["\u200b", " ", "\u0301\u0301", "\ud800", "\u{e0041}"])
      expect(shown(empty).text).toBe("–");
  });

  test("letters, marks and digits that no font has are named, each once; lesser signs only when nothing else is left", () => {
    const missing = (raw: string) => undrawable(raw, isDrawable);
    expect(missing("Maya Okafor 손흥민 محمد")).toEqual([]);
    expect(missing("Tom ބބޯ")).toEqual(["ބ", "ޯ"]);
    expect(missing("\u200b\u2066Tom\u0000\ufeff")).toEqual([]);
    expect(missing("Tom \u{1d173}\u{1f8b2}")).toEqual([]);
    expect(missing("\u{1f8b2}")).toEqual(["\u{1f8b2}"]);
  });

  test("any text at all gives a drawable, harmless name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 100 }), (raw) => {
        const { text } = shown(raw);
        expect(text.length).toBeGreaterThan(0);
        expect(text).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 1000 },
    );
  });
});
