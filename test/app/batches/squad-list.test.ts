import { describe, expect, test } from "bun:test";
import { strToU8 } from "fflate";
import { parseSquadList as readSquadList } from "../../../src/app/batches/parse-list.ts";
import {
  cardsOfList,
  faultsInList,
  guessMapping,
  TARGETS,
  targetsFor,
  templateTargets,
} from "../../../src/app/batches/squad-cards.ts";
import { MAX_LIST_UNPACKED_BYTES } from "../../../src/core/list-limits.ts";
import { HEAD, workbook } from "./workbooks.ts";

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
      [`Name\n${"x\n".repeat(1_001)}`, "1001 players, and a squad has at most 1000"],
      [`${"a,".repeat(101)}a\n${"b,".repeat(101)}b`, "102 columns"],
      [`Name\n${"x".repeat(4_097)}`, "Row 2, Name, has 4097 characters"],
      [new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0]), "is not text"],
      [new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1]), "old or protected Excel file"],
      [new Uint8Array([0x50, 0x4b, 3, 4, 0, 0]), "cannot be read"],
    ];
    for (const [file, message] of refusals)
      await expect(typeof file === "string" ? read(file) : readSquadList(file)).rejects.toThrow(message);
  });

  test("of more rows or columns than a list can have is refused at the first one too many", async () => {
    await expect(read(`Name${",".repeat(4_000_000)}\nA`)).rejects.toThrow("Row 1 has 4000001 columns");
    await expect(read(`Name\nA${"\n".repeat(4_000_000)}`)).rejects.toThrow("more than 20000 rows");
    await expect(read(`Name\n${"x,\n".repeat(20_000)}`)).rejects.toThrow("more than 20000 rows");
  });

  test("of exactly a thousand players is read", async () => {
    expect((await read(`Name\n${"x\n".repeat(1_000)}`)).rows).toHaveLength(1_000);
  });
});

describe("an Excel workbook", () => {
  test("gives texts, numbers, dates and the results of formulas, with its own row numbers", async () => {
    const rows = `${HEAD}<row r="3"><c r="A3" t="s"><v>2</v></c><c r="B3"><f>4+5</f><v>9</v></c><c r="C3" s="1"><v>36526</v></c></row>`;
    expect(await readSquadList(workbook(rows))).toEqual({
      columns: ["Name", "No.", "Born"],
      rows: [{ line: 3, cells: ["José", "9", "2000-01-01"] }],
    });
  });

  test("may have empty cells with a look of their own anywhere, and a last row that is only high", async () => {
    const styled = '<c r="D2" s="1"/><c r="XFD2" s="1"></c>';
    const rows = `${HEAD}<row r="2"><c r="A2" t="s"><v>2</v></c>${styled}</row><row r="1048576" ht="12.8"></row>`;
    expect(await readSquadList(workbook(rows))).toEqual({
      columns: ["Name", "No.", "Born"],
      rows: [{ line: 2, cells: ["José", "", ""] }],
    });
  });

  test("may have further sheets and pictures of any size, which are not read", async () => {
    const large = new Uint8Array(MAX_LIST_UNPACKED_BYTES + 1);
    const rows = `${HEAD}<row r="2"><c r="A2" t="s"><v>2</v></c></row>`;
    const file = workbook(rows, { "xl/worksheets/sheet2.xml": large, "xl/media/crest.png": large });
    expect((await readSquadList(file)).rows).toHaveLength(1);
  });

  test("that would fill the memory is refused, whatever sizes it declares", async () => {
    const bomb = new Uint8Array(MAX_LIST_UNPACKED_BYTES + 1);
    for (const name of ["xl/worksheets/sheet1.xml", "xl/more/any.xml"]) {
      const file = workbook(HEAD, { [name]: bomb });
      expect(file.length).toBeLessThan(1024 * 1024);
      await expect(readSquadList(file)).rejects.toThrow("too large unpacked");
      await expect(readSquadList(declaring(file, 10))).rejects.toThrow("too large unpacked");
    }
  });

  test("with a value far from the list is refused with its place, before all cells up to it are made", async () => {
    const far = (cell: string) =>
      workbook(`${HEAD}<row r="20000"><c r="${cell}" t="inlineStr"><is><t>x</t></is></c></row>`);
    await expect(readSquadList(far("XFD20000"))).rejects.toThrow("something in XFD20000");
    await expect(readSquadList(far("B20001"))).rejects.toThrow("something in B20001");
    await expect(readSquadList(far("ZZZZ1"))).rejects.toThrow("something in ZZZZ1");
    const row = workbook(`${HEAD}<row r="1e12"><c r="A2" t="s"><v>2</v></c></row>`);
    await expect(readSquadList(row)).rejects.toThrow("something in row 1e12");
  });

  test("that names one long text in every cell is refused", async () => {
    const long = "x".repeat(4_000);
    const texts = strToU8(`<sst><si><t>Name</t></si><si><t>${long}</t></si></sst>`);
    const letters = [..."ABCDEFGHIJ"];
    const row = (line: number) =>
      `<row r="${line}">${letters.map((letter) => `<c r="${letter}${line}" t="s"><v>1</v></c>`).join("")}</row>`;
    const rows = Array.from({ length: 500 }, (_, at) => row(at + 2)).join("");
    const file = workbook(HEAD + rows, { "xl/sharedStrings.xml": texts });
    await expect(readSquadList(file)).rejects.toThrow("more text than the cards of a squad");
  });
});

/** The same archive, each of whose files is said to have so many bytes unpacked. */
function declaring(archive: Uint8Array, bytes: number): Uint8Array {
  const copy = Buffer.from(archive);
  for (const [signature, at] of [
    ["PK\x01\x02", 24],
    ["PK\x03\x04", 22],
  ] as const)
    for (let found = copy.indexOf(signature, 0, "latin1"); found >= 0; ) {
      copy.writeUInt32LE(bytes, found + at);
      found = copy.indexOf(signature, found + 4, "latin1");
    }
  return new Uint8Array(copy);
}

describe("the columns of a list", () => {
  test("are guessed for an id as well: the name, unless two share it, and never the shirt number, which teams share", async () => {
    const idOf = async (text: string) => guessMapping(await read(text), TARGETS).columns.external_id;
    expect(await idOf("Nr,Name\n7,Bo\n9,Al\n")).toBe(1);
    expect(await idOf("Nr,Name\n7,Bo\n9,bo\n")).toBeUndefined();
    expect(await idOf("Nr,Vorname,Nachname\n7,Bo,Li\n9,Al,Li\n")).toBe(1);
    expect(await idOf("Nr,Vorname,Nachname\n7,Bo,Li\n9,bo,li\n")).toBeUndefined();
    expect(await idOf("Nr,Name\n7,Bo\n,bo\n")).toBeUndefined();
    expect(await idOf("id,Nr,Name\na,7,Bo\nb,9,Al\n")).toBe(0);
  });

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
      external_id: "Spieler",
      name: "Spieler",
      position: "Position",
      number: "Rückennummer",
      skill_level: "Stärke",
      source_image_url: "Foto",
    });
    // In French, Nom is the whole name where there is no first name, and the last name beside one.
    expect(await mapped("Nom;Prénom", "MOREAU;Jeanne")).toEqual({
      external_id: "Prénom",
      name: "Prénom",
      name_2: "Nom",
    });
    expect(await mapped("Nom;Poste", "Jeanne Moreau;ST")).toEqual({
      external_id: "Nom",
      name: "Nom",
      position: "Poste",
    });
    for (const head of ["Rückennr.", "Spieler-Nr.", "Trikot-Nr.", "N° maillot", "N°", "Nº", "Numéro"])
      expect(await mapped(`Nom;${head}`, "A;9")).toEqual({ external_id: "Nom", name: "Nom", number: head });
    expect(await mapped("N° licence;Nom;N°", "25;A;9")).toEqual({
      external_id: "N° licence",
      name: "Nom",
      number: "N°",
    });
    // Beside a first name, "Name" is the last one, unless it has the first one in it.
    expect(await mapped("Name;Vorname", "Moreau;Jeanne")).toMatchObject({ name: "Vorname", name_2: "Name" });
    const whole = await mapped("First name;Name", "Jeanne;Jeanne Moreau");
    expect(whole).toEqual({ external_id: "Name", name: "Name" });
    expect(await mapped("#;Name", "9;A")).toMatchObject({ number: "#", name: "Name" });
    // A last name alone is the name.
    expect(await mapped("Last name", "Lee")).toEqual({ external_id: "Last name", name: "Last name" });
  });

  test.each([
    ["German", "Passnummer;Vorname;Nachname;Position;Nummer;Stärke;Foto;Hintergrund;Wappen;Vereinsfarbe"],
    ["German", "Mitgliedsnr.;Vorname;Name;Spielposition;Rückennr.;Bewertung;Bild;Thema;Vereinslogo;Farbe"],
    ["French", "N° licence;Prénom;Nom;Poste;Numéro;Note;Photo;Fond;Écusson;Couleur"],
    ["Spanish", "Licencia;Nombre;Apellidos;Demarcación;Dorsal;Valoración;Foto;Fondo;Escudo;Color principal"],
    ["Italian", "Tessera;Nome;Cognome;Ruolo;N. maglia;Valutazione;Immagine;Sfondo;Stemma;Colore"],
    ["Portuguese", "Licença;Nome;Sobrenome;Posição;Nº camisola;Avaliação;Imagem;Fundo;Emblema;Cor"],
    [
      "Dutch",
      "Relatiecode;Voornaam;Achternaam;Positie;Rugnummer;Beoordeling;Pasfoto;Achtergrond;Clublogo;Kleur",
    ],
    ["Polish", "Nr licencji;Imię;Nazwisko;Pozycja;Nr koszulki;Ocena;Zdjęcie;Tło;Herb;Kolor"],
    ["Turkish", "Lisans No;Adı;Soyadı;Mevki;Forma No;Puan;Fotoğraf;Arka plan;Arma;Renk"],
    [
      "Danish",
      "Spiller-id;Fornavn;Efternavn;Position;Trøjenummer;Vurdering;Billede;Baggrund;Klubmærke;Farve",
    ],
    [
      "Norwegian",
      "Medlemsnr.;Fornavn;Etternavn;Posisjon;Draktnummer;Karakter;Bilde;Bakgrunn;Klubbmerke;Farge",
    ],
    ["Swedish", "Spelar-id;Förnamn;Efternamn;Position;Tröjnummer;Betyg;Bild;Bakgrund;Klubbmärke;Färg"],
  ])("are all recognised by the words of clubs in %s: %s", async (_, head) => {
    const { columns } = guessMapping(await read(`${head}\n${"x;".repeat(9)}x`), TARGETS);
    expect(columns).toEqual({
      external_id: 0,
      name: 1,
      name_2: 2,
      position: 3,
      number: 4,
      skill_level: 5,
      source_image_url: 6,
      background_theme: 7,
      club_badge_url: 8,
      primary_color: 9,
    });
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

  test.each([
    [
      "German",
      "TW GK, IV CB, AV LB, LV LB, RV RB, ZDM CDM, ZM CM, ZOM CAM, LM LM, RM RM, LA LW, RA RW, ST ST, MS CF",
    ],
    [
      "German",
      "Innenverteidiger CB, Außenverteidiger LB, AUSSENVERTEIDIGER LB, Mittelfeld CM, Sturm ST, Stürmer ST",
    ],
    ["French", "Gardien GK, Défenseur CB, Défenseur central CB, Latéral LB, Latéral droit RB, Milieu CM"],
    ["French", "Attaquant ST, Ailier gauche LW, Ailier droit RW"],
    ["Spanish", "Portero GK, Defensa CB, Centrocampista CM, Delantero ST, Extremo LW, Extremo derecho RW"],
    [
      "Italian",
      "Portiere GK, Difensore CB, Terzino LB, Centrocampista CM, Attaccante ST, Ala LW, Ala destra RW",
    ],
    [
      "German",
      "Sturmspitze ST, Libero CB, Sechser CDM, Spielmacherin CAM, Flügelstürmer LW, hängende Spitze CF",
    ],
    [
      "Spanish",
      "Guardameta GK, Carrilero derecho RB, Mediocentro defensivo CDM, Enganche CAM, Segundo punta CF",
    ],
    [
      "Portuguese",
      "Goleiro GK, Guarda-redes GK, Zagueiro CB, Lateral-direito RB, Médio CM, Trinco CDM, Avançado ST",
    ],
    ["Dutch", "Doelman GK, Centrale verdediger CB, Rechtsback RB, Middenvelder CM, Linksbuiten LW, Spits ST"],
    ["Polish", "Bramkarz GK, Obrońca CB, Prawy obrońca RB, Pomocnik CM, Lewoskrzydłowy LW, Napastnik ST"],
    ["Turkish", "Kaleci GK, Stoper CB, Sağ bek RB, Orta saha CM, Ön libero CDM, Sağ açık RW, Santrafor CF"],
    ["Turkish", "KALECİ GK, Savunma CB, Sol kanat LW, Golcü ST"],
    ["no known", "Drummer Drummer, XY XY"],
  ])("have positions in %s words: %s", async (_, pairs) => {
    const both = pairs.split(", ").map((pair) => /^(.+) (\S+)$/.exec(pair)?.slice(1) ?? []);
    const list = await read(`Name;Pos\n${both.map(([word]) => `A;${word}`).join("\n")}`);
    const cards = cardsOfList(list, TARGETS, guessMapping(list, TARGETS), STYLE);
    const positions = cards.map((card) => (card as { player: { position: string } }).player.position);
    expect(positions).toEqual(both.map(([, position]) => position ?? ""));
  });

  test("have one for the composition, in any case of letters; an empty cell asks for none", async () => {
    const list = await read("id,Card composition\n1,Photo\n2,\n3,auto\n");
    const cards = cardsOfList(list, TARGETS, guessMapping(list, TARGETS), STYLE);
    expect(cards.map((card) => (card as { style: object }).style)).toEqual([
      { ...STYLE, composition: "photo" },
      STYLE,
      { ...STYLE, composition: "auto" },
    ]);
  });

  test("may be without one for ids: the name in all its parts is the id then", async () => {
    const list = await read("Nr,Vorname,Nachname\n7,Bo,Li\n9,Al,Li\n");
    const cards = cardsOfList(list, TARGETS, guessMapping(list, TARGETS), STYLE);
    const players = cards.map((card) => (card as { player: Record<string, unknown> }).player);
    expect(players.map(({ external_id, name }) => [external_id, name])).toEqual([
      ["Bo Li", "Bo Li"],
      ["Al Li", "Al Li"],
    ]);
  });

  test("have one for where in the photo the player is; what is not a point stays text", async () => {
    const list = await read(
      "id;Focus\n1;0.25 0.4\n2;0,25 / 0,4\n3;25% 40 %\n3;.25 .4\n4;left\n5;0.5\n6;-0.5 0.4\n",
    );
    const cards = cardsOfList(list, TARGETS, guessMapping(list, TARGETS), STYLE);
    const point = { x: 0.25, y: 0.4 };
    expect(cards.map((card) => (card as { player: { focus: unknown } }).player.focus)).toEqual([
      point,
      point,
      point,
      point,
      { x: "left", y: "left" },
      { x: "0.5", y: "0.5" },
      { x: "-0.5 0.4", y: "-0.5 0.4" },
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

test("a column may say whose back is made, of a template that has one", () => {
  const list = {
    columns: ["Name", "Back"],
    rows: [
      ["Ada", "Yes"],
      ["Bea", "no"],
      ["Cleo", ""],
      ["Dee", "maybe"],
    ].map((cells, at) => ({ line: at + 2, cells })),
  };
  const backs = (back: boolean) => {
    const targets = targetsFor({}, { back, foil: false });
    const cards = cardsOfList(list, targets, guessMapping(list, targets), { preset: "x" }) as {
      style: { back?: unknown };
    }[];
    return cards.map(({ style }) => style.back);
  };
  expect(targetsFor({}, { back: false, foil: true }).map(({ place }) => place)).toContain("style.foil");
  expect(backs(true)).toEqual([true, false, undefined, "maybe"]);
  expect(backs(false)).toEqual([undefined, undefined, undefined, undefined]);
});
