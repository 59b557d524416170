import { describe, expect, test } from "bun:test";
import { examine } from "../../src/templates/examine.ts";
import { faultLine } from "../../src/templates/fault.ts";
import { BACK, CSS, HTML, MANIFEST, sampleTemplate } from "./sample-template.ts";

const faultsOf = (changes: Record<string, string | null>) =>
  examine(sampleTemplate(changes)).faults.map(
    (fault) => `${fault.severity} ${fault.code} ${faultLine(fault)}`,
  );

/** A line of card.html more, before the card ends: line 24. */
const html = (line: string) => ({ "card.html": HTML.replace("</main>", `${line}\n</main>`) });
const css = (line: string) => ({ "card.css": `${line}\n${CSS}` });

test("six lines are the most of a fitted text", () => {
  expect(faultsOf(html('<p data-fit="6 lines"><b></b></p>'))).toEqual([]);
});

test("a template that uses everything has no fault", () => {
  const { faults, markup } = examine(sampleTemplate());
  expect(faults).toEqual([]);
  expect([...markup.pictures].sort()).toEqual(["badge", "fields.code", "player"]);
  expect([...markup.zones]).toEqual(["face"]);
});

describe("card.html", () => {
  const broken: [line: string, fault: RegExp][] = [
    [
      '<p data-text="player.nmae"></p>',
      /unknown_path card\.html:19:4: .*"player.nmae".*Did you mean "player.name"/,
    ],
    ['<p data-text="fields.nation"></p>', /no "fields.nation" to show/],
    ['<p data-text="fields.stats"></p>', /It is a list: use data-each/],
    ['<p data-if="fields.captian"></p>', /Did you mean "fields.captain"/],
    ['<p data-text="label"></p>', /unknown_path/],
    ['<ul data-each="fields.stat"><li></li></ul>', /no list "fields.stat".*Did you mean "fields.stats"/],
    ['<ul data-each="fields.stats"></ul>', /first element inside is the pattern/],
    ['<ul data-each="fields.stats"><li data-text="lable"></li></ul>', /Did you mean "label"/],
    ['<img data-picture="plyer" alt="">', /unknown_picture .*Did you mean "player"/],
    ['<img data-picture="fields.code" alt="">', /already a picture "fields.code"/],
    ['<div data-picture="scene"></div>', /only an <img>/],
    ['<i data-zone="faces"></i>', /unknown_zone .*Did you mean "face"/],
    ['<i data-zone="safe">x</i>', /a zone is an empty box/],
    ['<p data-layer="palyer"></p>', /unknown_layer .*Did you mean "player"/],
    ['<img data-picture="scene" data-canvas alt="">', /Take data-canvas off/],
    ['<img data-picture="backdrop" data-canvas width="9" alt="">', /canvas .*Take width and height off/],
    ['<img data-picture="backdrop" data-canvas height="9" alt="">', /canvas .*Take width and height off/],
    ["<p data-plate></p>", /only a <div> can be a plate/],
    ["<div data-plate><div data-plate></div></div>", /plate card\.html:19:22: .*cannot lie in another/],
    ['<div data-plate><i data-text="player.number"></i></div>', /Take "player.number" out/],
    ['<div data-plate><i data-if="player.first_name"></i></div>', /Take "player.first_name" out/],
    ['<div data-plate><img data-picture="shadow" alt=""></div>', /Take the shadow out/],
    ['<ul data-each="fields.stats"><li><div data-plate></div></li></ul>', /cannot lie in a list/],
    ['<p data-fit="name"><b></b></p>', /says how many lines/],
    ['<p data-fit="7 lines"><b></b></p>', /says how many lines a text may take: "1 line" to "6 lines"/],
    ['<img data-picture="fields.cod" alt="">', /unknown_picture .*Did you mean "fields.code"/],
    ['<div data-plate><img data-picture="fields.code" alt=""></div>', /Take the fields.code out/],
    ['<p data-fit="2 lines">a <b></b></p>', /holds one element/],
    ["<script>1</script>", /script card\.html:19:1: scripts do not run/],
    ['<p onclick="x()">a</p>', /scripts do not run on a card\. Remove onclick/],
    ["<style>p{}</style>", /styles belong in card\.css/],
    ['<iframe src="assets/paper.svg"></iframe>', /<iframe> has no place/],
    [
      '<img src="https://evil.example/x.png" alt="">',
      /network card\.html:19:6: .*loads nothing from elsewhere/,
    ],
    ['<img src="//evil.example/x.png" alt="">', /network/],
    ['<img src="file:///etc/passwd" alt="">', /network/],
    ['<img src="assets/../../x.png" alt="">', /reference .*is not served/],
    ['<img src="/assets/paper.svg" alt="">', /reference .*is not served/],
    ['<img src="assets/gone.png" alt="">', /missing_file .*assets\/gone\.png does not exist/],
    ['<img src="assets/paper.psd" alt="">', /of a kind that cards do not show/],
    ['<img srcset="assets/paper.svg 2x" alt="">', /Use src/],
    ['<p style="background:url(http://evil.example/)"></p>', /network/],
    ['<b data-slot="name"></b>', /data-slot is data-text/],
    ['<link rel="stylesheet" href="more.css">', /only card\.css and preview\.css/],
    ['<meta http-equiv="refresh" content="0;url=http://evil.example">', /sets no headers/],
    ['<div class="card"></div>', /has 2 elements with class="card"/],
    ["<p id=a id=b></p>", /warning html_syntax card\.html:19:/],
    ["<div><b></div>", /warning html_syntax card\.html:19:6: <b> is never closed/],
  ];
  for (const [line, fault] of broken)
    test(`${line} is a fault with its place`, () => {
      expect(faultsOf(html(line)).join("\n")).toMatch(fault);
    });
});

describe("card.css", () => {
  const broken: [line: string, fault: RegExp][] = [
    [".x { color: red", /css_syntax card\.css:1:1: unclosed block/],
    ["@import 'other.css';", /style card\.css:1:1: only card\.css itself/],
    [".x { background: url(https://evil.example/x.png) }", /network card\.css:1:6/],
    [".x { background: url('assets/gone.png') }", /missing_file/],
    [".x { background: image-set('assets/gone.png' 1x) }", /missing_file/],
    ['.x { font-family: "Comic Neue" }', /font card\.css:1:6: the font "Comic Neue" is neither bundled/],
    [".x { font-family: Georgia, serif }", /the font "Georgia"/],
    ['.x { font: 700 2px "Barlow Condensd" }', /Did you mean "Barlow Condensed"/],
    ['@font-face { font-family: Own; src: url("fonts/own.woff2") }', /fonts\/own\.woff2 does not exist/],
  ];
  for (const [line, fault] of broken)
    test(`${line} is a fault with its place`, () => {
      expect(faultsOf(css(line)).join("\n")).toMatch(fault);
    });

  test("an own font in a folder of its own, data addresses and fragments are right", () => {
    const rules = `@font-face { font-family: Own; src: url("fonts/deep/own.woff2") } .x { font-family: Own, "Noto Sans Variable", sans-serif; mask: url(#m); background: url(data:image/png;base64,AAAA) }`;
    expect(faultsOf({ ...css(rules), "fonts/deep/own.woff2": "font" })).toEqual([]);
  });
});

test("what nobody shows is a warning: a file, and a field that partners would be asked for", () => {
  const manifest = { ...MANIFEST, fields: { ...MANIFEST.fields, nation: { type: "text", max: 3 } } };
  expect(faultsOf({ "assets/old.png": "x", "template.json": JSON.stringify(manifest, null, 2) })).toEqual([
    "warning unused assets/old.png:1:1: no page or style sheet names this file. Remove it, or use it.",
    expect.stringMatching(/^warning hidden_field template\.json:\d+:5: \/fields\/nation: no card shows it/),
  ]);
});

test("a field that no card shows is reported with how one of its type is shown", () => {
  const fields = {
    club: { type: "text", max: 9 },
    caps: { type: "integer", min: 0, max: 9 },
    weight: { type: "number", min: 0, max: 9 },
    foot: { type: "choice", options: ["left", "right"] },
    is_captain: { type: "boolean" },
    ink: { type: "color" },
    stats: { type: "list", max: 2, of: { label: { type: "text", max: 9 } } },
    code: { type: "qr" },
    crest: { type: "image" },
  };
  // Of fields whose names begin alike a sheet mentions only the one that it names whole.
  const css =
    ".card { color: var(--field-ink-2); --x: var(--field-club-name) } .card[data-field-foot-2] { top: 0 }";
  const json = JSON.stringify({ ...MANIFEST, fields });
  const html = sampleTemplate({}).get("card.html");
  const bare = new TextDecoder()
    .decode(html)
    .replaceAll(/ data-(?:text|if|unless|each|picture)="fields\.\w+"/g, "");
  const remedies = examine(sampleTemplate({ "template.json": json, "card.html": bare, "card.css": css }))
    .faults.filter(({ code }) => code === "hidden_field")
    .map(({ message }) => /\/fields\/(\w+): no card shows it\. Add (.*), or remove/.exec(message)?.slice(1));
  expect(remedies).toEqual([
    ["club", 'data-text="fields.club" to card.html'],
    ["caps", 'data-text="fields.caps" to card.html'],
    ["weight", 'data-text="fields.weight" to card.html'],
    ["foot", "a rule for .card[data-field-foot] to card.css"],
    ["is_captain", "a rule for .card[data-field-is-captain] to card.css"],
    ["ink", "var(--field-ink) to card.css"],
    ["stats", 'data-each="fields.stats" to card.html'],
    ["code", '<img data-picture="fields.code"> to card.html'],
    ["crest", '<img data-picture="fields.crest"> to card.html'],
  ]);
  const sheet = '.card[data-field-foot="left"], .card[data-has~="field-club"] { color: var(--field-ink) }';
  const some = examine(sampleTemplate({ "template.json": json, "card.html": bare, "card.css": sheet }));
  const names = some.faults.map(({ message }) => /^\/fields\/(\w+)/.exec(message)?.[1]).filter(Boolean);
  expect(names).toEqual(["caps", "weight", "is_captain", "stats", "code", "crest"]);
});

test("a picture in SVG that runs or loads something is a fault", () => {
  const evil = '<svg xmlns="http://www.w3.org/2000/svg">\n<image href="http://evil.example/x"/></svg>';
  expect(faultsOf({ "assets/paper.svg": evil })[0]).toMatch(/error network assets\/paper\.svg:2:8/);
});

test("a template may have a back, whose faults name its own files", () => {
  const { faults, back } = examine(sampleTemplate(BACK));
  expect(faults).toEqual([]);
  expect(back?.paths).toEqual(new Set(["fields.club"]));
  const wrong = { ...BACK, "back.html": BACK["back.html"].replace("fields.club", "fields.clubb") };
  expect(faultsOf(wrong)).toEqual([expect.stringMatching(/back\.html:4:.*Did you mean "fields.club"/)]);
  expect(faultsOf({ ...BACK, "back.css": ".card { font-family: Papyrus }" })).toEqual([
    expect.stringMatching(/error font back\.css:1:9/),
  ]);
  const other = { ...BACK, "back.html": BACK["back.html"].replace("back.css", "card.css") };
  expect(faultsOf(other)).toEqual([expect.stringMatching(/only back\.css and preview\.css are read/)]);
});

test("half a back is a fault that names the missing file", () => {
  const { "back.css": _, ...html } = BACK;
  expect(faultsOf(html)).toEqual([expect.stringMatching(/error missing_file back\.css/)]);
});

test("a field that the back alone shows is not hidden", () => {
  const fields = { ...MANIFEST.fields, motto: { type: "text", max: 20 } };
  const json = { "template.json": JSON.stringify({ ...MANIFEST, fields }) };
  expect(faultsOf({ ...BACK, ...json })).toEqual([expect.stringMatching(/hidden_field/)]);
  const shown = BACK["back.html"].replace("fields.club", "fields.motto");
  expect(faultsOf({ ...BACK, ...json, "back.html": shown })).toEqual([]);
});
