import { describe, expect, test } from "bun:test";
import { strToU8, zipSync } from "fflate";
import {
  cardsOfList,
  faultsInList,
  guessMapping,
  TARGETS,
  templateTargets,
} from "../../../src/app/batches/squad-cards.ts";
import { readSquadList } from "../../../src/app/batches/squad-list.ts";
import { MAX_LIST_UNPACKED_BYTES } from "../../../src/core/limits.ts";

const read = (text: string) => readSquadList(new TextEncoder().encode(text));
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const STYLE = { preset: "club_card", width: 1024, height: 1280, format: "png" };

describe("a CSV file", () => {
  test("is read whatever separates its cells, in every encoding that spreadsheets write", async () => {
    const want = { columns: ["Name", "Nr"], rows: [{ line: 2, cells: ["José Núñez", "9"] }] };
    for (const separator of [",", ";", "\t", "|"]) {
      const text = `Name${separator}Nr\r\nJosé Núñez${separator}9\r\n`;
      expect(await read(text)).toEqual(want);
      expect(await read(`\ufeff${text}`)).toEqual(want);
      expect(await readSquadList(latin1(text))).toEqual(want);
      expect(await readSquadList(new Uint8Array(Buffer.from(`\ufeff${text}`, "utf16le")))).toEqual(want);
    }
    expect(await read("sep=;\r\nName;Nr\r\nJosé Núñez;9")).toEqual(want);
    const big = Buffer.from("\ufeffName,Nr\nJosé Núñez,9", "utf16le").swap16();
    expect(await readSquadList(new Uint8Array(big))).toEqual(want);
  });

  test("has quoted line breaks, separators and quotation marks inside cells, and rows numbered as spreadsheets do", async () => {
    const list = await read('Name,Nr\r\n"Jo ""Flash""\r\nLee, Jr.",9\r\n\r\n,,\r\nBo,10\r\n');
    expect(list.rows).toEqual([
      { line: 2, cells: ['Jo "Flash" Lee, Jr.', "9"] },
      { line: 5, cells: ["Bo", "10"] },
    ]);
  });

  test("loses what nobody sees: empty columns, spaces, invisible marks, the mark against formulas", async () => {
    const list = await read("Name,,Nr,\n \u00a0Bo\u200b ,,'-1,\n'=A1,,+2,\n");
    expect(list).toEqual({
      columns: ["Name", "Nr"],
      rows: [
        { line: 2, cells: ["Bo", "-1"] },
        { line: 3, cells: ["=A1", "+2"] },
      ],
    });
  });

  test("that is no squad list is refused with what to do", async () => {
    const refusals: [string | Uint8Array, string][] = [
      ["", "empty"],
      ["\n ,\n", "empty"],
      ["Name,Nr\n", "no players"],
      ["Bo,https://photos.example/bo.jpg\nAl,https://photos.example/al.jpg", "Put a row above it"],
      ['Name,Nr\n"Bo,9\nAl,7\n', "quotation mark that is not closed"],
      [`Name\n${"x\n".repeat(1_001)}`, "1001 players, and a batch has at most 1000"],
      [`${"a,".repeat(101)}a\n${"b,".repeat(101)}b`, "102 columns"],
      [`Name\n${"x".repeat(4_097)}`, "Row 2, Name, has 4097 characters"],
      [new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0]), "no text"],
      [new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), "old or protected Excel file"],
      [new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), "cannot be read"],
    ];
    for (const [file, message] of refusals)
      await expect(typeof file === "string" ? read(file) : readSquadList(file)).rejects.toThrow(message);
  });

  test("of exactly a thousand players is read", async () => {
    expect((await read(`Name\n${"x\n".repeat(1_000)}`)).rows).toHaveLength(1_000);
  });
});

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships";

/** A workbook as Excel writes it, with one sheet of these rows. */
function workbook(rows: string, more: Record<string, Uint8Array> = {}): Uint8Array {
  const files = {
    "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    "_rels/.rels": `${XML}<Relationships xmlns="${PACKAGE}"><Relationship Id="rId1" Type="${LINKS}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    "xl/workbook.xml": `${XML}<workbook xmlns="${MAIN}" xmlns:r="${LINKS}"><sheets><sheet name="Squad" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${XML}<Relationships xmlns="${PACKAGE}"><Relationship Id="rId1" Type="${LINKS}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${LINKS}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="${LINKS}/styles" Target="styles.xml"/></Relationships>`,
    "xl/sharedStrings.xml": `${XML}<sst xmlns="${MAIN}"><si><t>Name</t></si><si><t>No.</t></si><si><r><t>Jos</t></r><r><t>é</t></r></si></sst>`,
    "xl/styles.xml": `${XML}<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    "xl/worksheets/sheet1.xml": `${XML}<worksheet xmlns="${MAIN}"><sheetData>${rows}</sheetData></worksheet>`,
  };
  const entries = Object.entries(files).map(([name, text]) => [name, strToU8(text)]);
  return zipSync({ ...Object.fromEntries(entries), ...more });
}

const HEAD =
  '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Born</t></is></c></row>';

describe("an Excel workbook", () => {
  test("gives texts, numbers, dates and the results of formulas, with its own row numbers", async () => {
    const rows = `${HEAD}<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3"><f>4+5</f><v>9</v></c><c r="C3" s="1"><v>36526</v></c></row>`;
    expect(await readSquadList(workbook(rows))).toEqual({
      columns: ["Name", "No.", "Born"],
      rows: [{ line: 3, cells: ["José", "9", "2000-01-01"] }],
    });
  });

  test("that would fill the memory is refused before it is unpacked", async () => {
    const bomb = new Uint8Array(MAX_LIST_UNPACKED_BYTES + 1);
    const file = workbook(HEAD, { "xl/worksheets/sheet2.xml": bomb });
    expect(file.length).toBeLessThan(1024 * 1024);
    await expect(readSquadList(file)).rejects.toThrow("too large unpacked");
  });
});

describe("the columns of a list", () => {
  test("are guessed by their names in several languages, a photo's also by its addresses", async () => {
    const mapped = async (head: string, row: string) => {
      const list = await read(`${head}\n${row}`);
      const { columns } = guessMapping(list, TARGETS);
      return Object.fromEntries(Object.entries(columns).map(([key, at]) => [key, list.columns[at]]));
    };
    expect(
      await mapped("Player ID;First Name;Last Name;Pos.;No.;OVR;x", "1;A;B;ST;9;80;https://p.example/1.jpg"),
    ).toEqual({
      external_id: "Player ID",
      name: "First Name",
      name_2: "Last Name",
      position: "Pos.",
      number: "No.",
      skill_level: "OVR",
      source_image_url: "x",
    });
    expect(await mapped("Spieler,Position,Rückennummer,Stärke,Foto", "A,TW,1,80,b")).toEqual({
      name: "Spieler",
      position: "Position",
      number: "Rückennummer",
      skill_level: "Stärke",
      source_image_url: "Foto",
    });
    // A last name alone is the name.
    expect(await mapped("Last name", "Lee")).toEqual({ name: "Last name" });
  });

  test("make the requests that the API takes, with numbers, positions and colours as people write them", async () => {
    const targets = [...TARGETS, ...templateTargets({ speed: { type: "integer" }, club: { type: "text" } })];
    const list = await read(
      "id,name,pos,no,rating,photo,colour,speed\n1,A,Goalkeeper,1.0,,https://p.example/1.jpg,c8102e,80\n2,B,left wing,x,90,https://p.example/2.jpg,#abc,\n",
    );
    const mapping = guessMapping(list, targets);
    mapping.all = { skill_level: "75", field_club: "Rovers FC" };
    expect(cardsOfList(list, targets, mapping, STYLE)).toEqual([
      {
        type: "player_card",
        player: {
          external_id: "1",
          name: "A",
          position: "GK",
          number: 1,
          skill_level: 75,
          source_image_url: "https://p.example/1.jpg",
        },
        style: STYLE,
        branding: { primary_color: "#c8102e" },
        fields: { speed: 80, club: "Rovers FC" },
      },
      {
        type: "player_card",
        player: {
          external_id: "2",
          name: "B",
          position: "LW",
          number: "x",
          skill_level: 90,
          source_image_url: "https://p.example/2.jpg",
        },
        style: STYLE,
        branding: { primary_color: "#aabbcc" },
        fields: { club: "Rovers FC" },
      },
    ]);
  });

  test("name the faults, once for all rows that have the same, and leave the sound rows", async () => {
    const list = await read("Key,Shirt\n1,0\n2,0\n3,5\n3,6\n");
    const mapping = { columns: { external_id: 0, number: 1 }, all: {} };
    const details = [
      { field: "cards[0].player.number", message: "must be a whole number from 1 to 99; got 0." },
      { field: "cards[1].player.number", message: "must be a whole number from 1 to 99; got 0." },
      { field: "cards[3].player.external_id", message: "is the same as that of cards[2]." },
    ];
    expect(faultsInList(list, TARGETS, mapping, details)).toEqual({
      faults: [
        { lines: [2, 3], column: "Shirt", message: "must be a whole number from 1 to 99; got 0." },
        { lines: [5], column: "Key", message: "is the same as that of row 4." },
      ],
      sound: [2],
    });
  });
});
