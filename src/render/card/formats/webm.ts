// The smallest WebM file that browsers, phones and editors take: one track, one cluster, one point to jump
// to. RFC 9559 (Matroska), of which WebM is a part, and RFC 8794 (EBML).

/** A frame of the video as its encoder gave it. */
export interface WebmFrame {
  bytes: Uint8Array;
  isKey: boolean;
}

export interface WebmVideo {
  width: number;
  height: number;
  framesPerSecond: number;
  /** The first one is a key frame. */
  frames: readonly WebmFrame[];
  /** A picture to be kept in the file where players see nothing of it. */
  still: Uint8Array;
}

const MAKER = "cardpress";
/** A millisecond, in nanoseconds: the unit of all times. */
const TIMESTAMP_SCALE = 1_000_000;
/** Times within a cluster are 16 bits, with a sign. */
const MAX_CLUSTER_MS = 0x7fff;

/** Writes a VP9 video. Throws when it is longer than one cluster. */
export function webm({ width, height, framesPerSecond, frames, still }: WebmVideo): Uint8Array {
  const atMs = (frame: number) => Math.round((frame * 1000) / framesPerSecond);
  const duration = atMs(frames.length);
  if (duration > MAX_CLUSTER_MS) throw new Error(`a video of ${duration} ms does not fit one cluster`);
  const info = element(
    "1549a966",
    element("2ad7b1", unsigned(TIMESTAMP_SCALE)),
    element(DURATION, float(duration)),
    element("4d80", text(MAKER)),
    element("5741", text(MAKER)),
  );
  // Matrix, transfer and primaries of BT.709, in its narrow range.
  const colour = element(
    "55b0",
    ...["55b1", "55b9", "55ba", "55bb"].map((property) => element(property, unsigned(1))),
  );
  const tracks = element(
    "1654ae6b",
    element(
      "ae",
      element("d7", unsigned(1)),
      element("73c5", unsigned(1)),
      element("83", unsigned(1)),
      element("9c", unsigned(0)),
      element("86", text("V_VP9")),
      element("23e383", unsigned(Math.round(1e9 / framesPerSecond))),
      element("e0", element("b0", unsigned(width)), element("ba", unsigned(height)), colour),
    ),
  );
  const cluster = element(
    "1f43b675",
    element("e7", unsigned(0)),
    ...frames.map(({ bytes, isKey }, at) => element("a3", block(atMs(at), isKey), bytes)),
  );
  const cuesTo = (position: number) =>
    element(
      "1c53bb6b",
      element(
        "bb",
        element("b3", unsigned(0)),
        element("b7", element("f7", unsigned(1)), element("f1", fourBytes(position))),
      ),
    );
  const before = info.length + tracks.length;
  const cues = cuesTo(before + cuesTo(0).length);
  const head = element(
    "1a45dfa3",
    element("4286", unsigned(1)),
    element("42f7", unsigned(1)),
    element("42f2", unsigned(4)),
    element("42f3", unsigned(8)),
    element("4282", text("webm")),
    element("4287", unsigned(4)),
    element("4285", unsigned(2)),
  );
  // At the end, so that a player shows the first frame no later for it.
  const kept = element("ec", STILL, still);
  return Buffer.concat([head, element("18538067", info, tracks, cues, cluster, kept)]);
}

/** Begins the contents of the element of no meaning (Void) that holds the still. */
const STILL = text("cardpress still\n");
const ID_AND_LENGTH_BYTES = 9;

/** The still in a file of `webm`; null when it has none. */
export function stillInWebm(file: Uint8Array): Uint8Array | null {
  const view = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const at = view.lastIndexOf(STILL);
  if (at < ID_AND_LENGTH_BYTES || file[at - ID_AND_LENGTH_BYTES] !== 0xec) return null;
  return file.subarray(at + STILL.length);
}

const DURATION = "4489";

/** How long a file of `webm` plays. */
export function millisecondsOfWebm(file: Uint8Array): number {
  const view = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  // With its length, as an element before it may by chance have a length like its id.
  const head = Uint8Array.fromHex(`${DURATION}0100000000000008`);
  const at = view.indexOf(head);
  if (at < 0) throw new Error("the video does not say how long it plays");
  return view.readDoubleBE(at + head.length);
}

/** A SimpleBlock's head: the track, the time within the cluster, and whether it stands alone. */
function block(atMs: number, isKey: boolean): Uint8Array {
  const head = new Uint8Array(4);
  const view = new DataView(head.buffer);
  view.setUint8(0, 0x81);
  view.setInt16(1, atMs);
  view.setUint8(3, isKey ? 0x80 : 0);
  return head;
}

/**
 * An element: its id in hexadecimal digits, its length in eight bytes, which any reader takes, and its data.
 */
function element(id: string, ...data: Uint8Array[]): Uint8Array {
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(data.reduce((sum, part) => sum + part.length, 0)));
  length[0] = 0x01;
  return Buffer.concat([Uint8Array.fromHex(id), length, ...data]);
}

function unsigned(value: number): Uint8Array {
  const digits = value.toString(16);
  return Uint8Array.fromHex(digits.padStart(digits.length + (digits.length % 2), "0"));
}

function fourBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function float(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}
