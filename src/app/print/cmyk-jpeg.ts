// A picture of four inks as JPEG: no JPEG encoder we have takes four colours. Baseline, without subsampling
// (ITU-T T.81), the three colours as YCC and black by itself, as Adobe's marker says (Technical Note 5116).

const ZIGZAG = Uint8Array.of(
  ...[0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6],
  ...[7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31],
  ...[39, 46, 53, 60, 61, 54, 47, 55, 62, 63],
);

/** T.81 table K.1, by rows: how coarse each frequency may be at quality 50. */
const COARSENESS = [
  ...[16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17],
  ...[22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78],
  ...[87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99],
];

/** T.81 table K.2: the same for colour, which the eye sees less finely. */
const COLOUR_COARSENESS = [
  ...[17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66],
  ...Array<number>(38).fill(99),
];

/** How many Huffman codes have 1, 2, ... 16 bits, and what they stand for: T.81 tables K.3 and K.5. */
interface HuffmanTable {
  lengths: readonly number[];
  symbols: readonly number[];
}
const DC: HuffmanTable = {
  lengths: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
  symbols: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
};
const AC: HuffmanTable = {
  lengths: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7d],
  symbols: [
    ...Buffer.from(
      "01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa",
      "hex",
    ),
  ],
};

/** Code and its number of bits, by symbol: T.81 annex C. */
function codesOf({ lengths, symbols }: HuffmanTable): { code: Uint16Array; bits: Uint8Array } {
  const [code, bits] = [new Uint16Array(256), new Uint8Array(256)];
  let [next, at] = [0, 0];
  lengths.forEach((count, n) => {
    for (let k = 0; k < count; k++) {
      const symbol = symbols[at++] as number;
      code[symbol] = next++;
      bits[symbol] = n + 1;
    }
    next <<= 1;
  });
  return { code, bits };
}
const [DC_CODES, AC_CODES] = [codesOf(DC), codesOf(AC)];
const [END_OF_BLOCK, SIXTEEN_ZEROS] = [0x00, 0xf0];

/** The cosine transform of Arai, Agui and Nakajima leaves each row and column scaled by this. */
const SCALE = Array.from({ length: 8 }, (_, k) => (k === 0 ? 1 : Math.cos((k * Math.PI) / 16) * Math.SQRT2));

/**
 * @param inks four bytes a pixel: cyan, magenta, yellow and black, 255 being full ink
 * @param quality 1 to 100, as the Independent JPEG Group counts
 */
export function encodeCmykJpeg(inks: Uint8Array, width: number, height: number, quality: number): Uint8Array {
  const share = quality < 50 ? 5000 / quality : 200 - quality * 2;
  const tables = [COARSENESS, COLOUR_COARSENESS].map((table) =>
    table.map((value) => Math.min(255, Math.max(1, Math.floor((value * share + 50) / 100)))),
  );
  const factors = TABLE_OF.map((table) =>
    Float32Array.from(
      tables[table] as number[],
      (step, n) => 1 / (step * (SCALE[n >> 3] as number) * (SCALE[n & 7] as number) * 8),
    ),
  );
  const writer = bitWriter(width * height);
  const planes = TABLE_OF.map(() => new Float32Array(64));
  const before = TABLE_OF.map(() => 0);
  const coefficients = new Int32Array(64);
  for (let y = 0; y < height; y += 8)
    for (let x = 0; x < width; x += 8) {
      readBlock(inks, { width, height }, { x, y }, planes);
      for (let n = 0; n < planes.length; n++) {
        const [plane, factor] = [planes[n] as Float32Array, factors[n] as Float32Array];
        transform(plane);
        for (let k = 0; k < 64; k++) {
          const from = ZIGZAG[k] as number;
          coefficients[k] = Math.round((plane[from] as number) * (factor[from] as number));
        }
        writeBlock(writer, coefficients, before[n] as number);
        before[n] = coefficients[0] as number;
      }
    }
  return Buffer.concat([heading(width, height, tables), writer.end(), Uint8Array.of(0xff, 0xd9)]);
}

/** Which table of coarseness light, blueness, redness and black take. */
const TABLE_OF = [0, 1, 1, 0];

/** Eight by eight pixels around zero; what would be outside is the picture's edge once more. */
function readBlock(
  inks: Uint8Array,
  { width, height }: { width: number; height: number },
  { x, y }: { x: number; y: number },
  [luma, blue, red, black]: Float32Array[],
): void {
  if (!luma || !blue || !red || !black) return;
  for (let k = 0; k < 64; k++) {
    const row = Math.min(y + (k >> 3), height - 1);
    const at = (row * width + Math.min(x + (k & 7), width - 1)) * 4;
    const r = 255 - (inks[at] as number);
    const g = 255 - (inks[at + 1] as number);
    const b = 255 - (inks[at + 2] as number);
    luma[k] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
    blue[k] = -0.168736 * r - 0.331264 * g + 0.5 * b;
    red[k] = 0.5 * r - 0.418688 * g - 0.081312 * b;
    black[k] = (inks[at + 3] as number) - 128;
  }
}

/** The two-dimensional cosine transform in place, scaled. */
function transform(block: Float32Array): void {
  for (let row = 0; row < 64; row += 8) transformLine(block, row, 1);
  for (let column = 0; column < 8; column++) transformLine(block, column, 8);
}

/** Arai, Agui, Nakajima 1988: five multiplications. */
function transformLine(block: Float32Array, at: number, step: number): void {
  const value = (n: number) => block[at + n * step] as number;
  const s07 = value(0) + value(7);
  const d07 = value(0) - value(7);
  const s16 = value(1) + value(6);
  const d16 = value(1) - value(6);
  const s25 = value(2) + value(5);
  const d25 = value(2) - value(5);
  const s34 = value(3) + value(4);
  const d34 = value(3) - value(4);
  const e0 = s07 + s34;
  const e3 = s07 - s34;
  const e1 = s16 + s25;
  const even = (s16 - s25 + e3) * Math.SQRT1_2;
  block[at] = e0 + e1;
  block[at + 4 * step] = e0 - e1;
  block[at + 2 * step] = e3 + even;
  block[at + 6 * step] = e3 - even;
  const o0 = d34 + d25;
  const o2 = d16 + d07;
  const turned = (o0 - o2) * 0.382683433;
  const low = 0.5411961 * o0 + turned;
  const high = 1.306562965 * o2 + turned;
  const middle = (d25 + d16) * Math.SQRT1_2;
  const up = d07 + middle;
  const down = d07 - middle;
  block[at + 5 * step] = down + low;
  block[at + 3 * step] = down - low;
  block[at + step] = up + high;
  block[at + 7 * step] = up - high;
}

type BitWriter = ReturnType<typeof bitWriter>;

function bitWriter(expected: number) {
  let out = new Uint8Array(Math.max(expected, 1024));
  let [length, held, count] = [0, 0, 0];
  const byte = (value: number) => {
    if (length + 2 > out.length) {
      const larger = new Uint8Array(out.length * 2);
      larger.set(out);
      out = larger;
    }
    out[length++] = value;
    // A zero says that this is no marker.
    if (value === 0xff) out[length++] = 0;
  };
  const put = (value: number, bits: number) => {
    held = (held << bits) | value;
    count += bits;
    while (count >= 8) {
      count -= 8;
      byte((held >> count) & 0xff);
    }
    held &= (1 << count) - 1;
  };
  return {
    put,
    end: () => {
      if (count > 0) put((1 << (8 - count)) - 1, 8 - count);
      return out.subarray(0, length);
    },
  };
}

/** How many bits a number takes without its sign. */
const bitsOf = (value: number) => 32 - Math.clz32(value < 0 ? -value : value);

/** Negative numbers are one less, in as many bits. */
const putNumber = (writer: BitWriter, value: number, bits: number) =>
  writer.put(value < 0 ? value + (1 << bits) - 1 : value, bits);

/** T.81 annex F.1.2: the difference to the block before, then each number after its run of zeros. */
function writeBlock(writer: BitWriter, block: Int32Array, before: number): void {
  const difference = (block[0] as number) - before;
  const size = bitsOf(difference);
  writer.put(DC_CODES.code[size] as number, DC_CODES.bits[size] as number);
  if (size > 0) putNumber(writer, difference, size);
  const symbol = (value: number) =>
    writer.put(AC_CODES.code[value] as number, AC_CODES.bits[value] as number);
  let zeros = 0;
  for (let k = 1; k < 64; k++) {
    const value = block[k] as number;
    if (value === 0) {
      zeros++;
      continue;
    }
    for (; zeros > 15; zeros -= 16) symbol(SIXTEEN_ZEROS);
    const bits = bitsOf(value);
    symbol(zeros * 16 + bits);
    putNumber(writer, value, bits);
    zeros = 0;
  }
  if (zeros > 0) symbol(END_OF_BLOCK);
}

/** All that comes before the picture's bits: T.81 annex B. */
function heading(width: number, height: number, tables: readonly number[][]): Uint8Array {
  const segment = (marker: number, bytes: readonly number[]) => [
    ...[0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 0xff],
    ...bytes,
  ];
  const sides = [height, width].flatMap((side) => [side >> 8, side & 0xff]);
  const codes = (place: number, { lengths, symbols }: HuffmanTable) => [place, ...lengths, ...symbols];
  const YCCK = 2;
  return Uint8Array.from([
    ...[0xff, 0xd8],
    ...segment(0xee, [...Buffer.from("Adobe"), 0, 100, 0, 0, 0, 0, YCCK]),
    ...tables.flatMap((table, n) => segment(0xdb, [n, ...Array.from(ZIGZAG, (at) => table[at] as number)])),
    ...segment(0xc0, [8, ...sides, 4, ...TABLE_OF.flatMap((table, n) => [n + 1, 0x11, table])]),
    ...segment(0xc4, [...codes(0x00, DC), ...codes(0x10, AC)]),
    ...segment(0xda, [4, ...TABLE_OF.flatMap((_, n) => [n + 1, 0]), 0, 63, 0]),
  ]);
}
