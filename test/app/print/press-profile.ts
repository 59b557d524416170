/** How much of each ink a colour takes on the press that the profile describes, each from 0 to 1. */
export type Inks = (lab: readonly [l: number, a: number, b: number]) => readonly number[];

const GRID = 9;

/**
 * An ICC profile of version 2 for a press of the simplest kind: what it prints is read off the inks by
 * subtracting them from white.
 */
export function pressProfile(
  inksOf: Inks,
  { name = "Test press", kind = "prtr", space = "CMYK" } = {},
): Uint8Array {
  const toInks = table(3, GRID, (at) => {
    const [l = 0, a = 0, b = 0] = at;
    // Version 2 encodes L from 0 to 100 up to 0xff00, a and b from -128 up to just below 128.
    const scale = 65_535 / 65_280;
    return inksOf([l * 100 * scale, a * 256 * (65_535 / 65_536) - 128, b * 256 * (65_535 / 65_536) - 128]);
  });
  const toColour = table(4, 3, ([c = 0, m = 0, y = 0, k = 0]) => {
    const lightness = (1 - k) * (1 - (c + m + y) / 3);
    return [(lightness * 65_280) / 65_535, 128 / 256, 128 / 256];
  });
  const tags: [string, Uint8Array][] = [
    ["desc", description(name)],
    ["cprt", textTag("Public domain")],
    ["wtpt", whitePoint()],
    ["A2B0", toColour],
    ["A2B1", toColour],
    ["B2A0", toInks],
    ["B2A1", toInks],
  ];
  let at = 128 + 4 + tags.length * 12;
  const entries = tags.map(([signature, data]) => {
    const entry = Buffer.alloc(12);
    entry.write(signature, 0, "latin1");
    entry.writeUInt32BE(at, 4);
    entry.writeUInt32BE(data.length, 8);
    at += data.length;
    return entry;
  });
  const head = Buffer.alloc(132);
  head.writeUInt32BE(at, 0);
  head.writeUInt32BE(0x02400000, 8);
  for (const [place, word] of [
    [12, kind],
    [16, space],
    [20, "Lab "],
    [36, "acsp"],
  ] as const)
    head.write(word, place, "latin1");
  // The white of the connection space, D50.
  [0xf6d6, 0x10000, 0xd32d].forEach((value, n) => void head.writeUInt32BE(value, 68 + 4 * n));
  head.writeUInt32BE(tags.length, 128);
  return new Uint8Array(Buffer.concat([head, ...entries, ...tags.map(([, data]) => data)]));
}

const padded = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);

function description(name: string): Uint8Array {
  const bytes = Buffer.alloc(12 + name.length + 1 + 78);
  bytes.write("desc", 0, "latin1");
  bytes.writeUInt32BE(name.length + 1, 8);
  bytes.write(name, 12, "latin1");
  return padded(bytes);
}

const textTag = (text: string): Uint8Array => padded(Buffer.from(`text\0\0\0\0${text}\0`, "latin1"));

function whitePoint(): Uint8Array {
  const bytes = Buffer.alloc(20);
  bytes.write("XYZ ", 0, "latin1");
  [0xf6d6, 0x10000, 0xd32d].forEach((value, n) => void bytes.writeUInt32BE(value, 8 + 4 * n));
  return bytes;
}

/** A table of 16 bits (ICC.1:2001-04, 6.5.8): `grid` values of each input, the last varying fastest. */
function table(inputs: number, grid: number, valueAt: (at: number[]) => readonly number[]): Uint8Array {
  const outputs = valueAt(Array(inputs).fill(0)).length;
  const head = Buffer.alloc(52);
  head.write("mft2", 0, "latin1");
  head.set([inputs, outputs, grid], 8);
  for (const diagonal of [12, 28, 44]) head.writeUInt32BE(0x10000, diagonal);
  head.writeUInt16BE(2, 48);
  head.writeUInt16BE(2, 50);
  const straight = (count: number) => Array.from({ length: count }, () => [0, 65_535]).flat();
  const values: number[] = [];
  for (let n = 0; n < grid ** inputs; n++) {
    const at = Array.from(
      { length: inputs },
      (_, k) => (Math.floor(n / grid ** (inputs - 1 - k)) % grid) / (grid - 1),
    );
    values.push(...valueAt(at).map((value) => Math.round(Math.min(1, Math.max(0, value)) * 65_535)));
  }
  const words = [...straight(inputs), ...values, ...straight(outputs)];
  const body = Buffer.alloc(words.length * 2);
  words.forEach((word, n) => void body.writeUInt16BE(word, n * 2));
  return padded(Buffer.concat([head, body]));
}
