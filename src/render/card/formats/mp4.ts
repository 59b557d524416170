import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { MOST_RENDER_MS, RENDER_TIMEOUT_MS } from "../../../core/limits.ts";
import { MAX_MOVING_BYTES } from "../../../core/moving-pictures.ts";
import { limitProcess } from "../../../system/own-limits.ts";
import { millisecondsOfWebm, stillInWebm } from "./webm.ts";

// A video as MP4 (H.264): the page's own video, put through the ffmpeg that the operator named. None comes
// with the program, for the patents of its encoders.

/** What makes MP4 of a video. */
export interface Mp4Maker {
  /** The operator's ffmpeg. */
  encoder: string;
  /** Where a folder may be made for the file while it grows. */
  scratch: string;
}

interface Film {
  bytes: Uint8Array;
  width: number;
  height: number;
}

/** How well the frames are kept (x264's constant rate factor), and the part of the bytes aimed at. */
const STEPS_DOWN = [
  { quality: 20, aim: 0.9 },
  { quality: 27, aim: 0.65 },
];
const LAST_STEP = { quality: 32, aim: 0.5 };
/** Of its sides: a video that no quality makes small enough is made again with frames this much smaller. */
const SMALLER = 0.75;

/**
 * Makes an MP4 of a video with a still, in at most MAX_MOVING_BYTES: with a lower quality and in the end with
 * smaller frames, until it fits. Throws when the encoder cannot.
 */
export async function mp4Of(film: Film, maker: Mp4Maker): Promise<Film> {
  const still = stillInWebm(film.bytes);
  if (!still) throw new Error("the video to make an MP4 of has no still");
  const seconds = millisecondsOfWebm(film.bytes) / 1000;
  let { width, height } = film;
  const steps = [...STEPS_DOWN];
  for (;;) {
    const { quality, aim } = steps.shift() ?? LAST_STEP;
    // The encoder's buffer is a second long, and full at the beginning.
    const rate = Math.round((aim * 8 * (MAX_MOVING_BYTES - still.length)) / (seconds + 1));
    const bytes = withStillBox(await encoded(maker, film.bytes, { width, height, quality, rate }), still);
    if (bytes.length <= MAX_MOVING_BYTES) return { bytes, width, height };
    if (steps.length > 0) continue;
    const even = (side: number) => Math.max(2, 2 * Math.floor((side * SMALLER) / 2));
    width = even(width);
    height = even(height);
  }
}

interface Encoding {
  width: number;
  height: number;
  quality: number;
  /** Most bits a second. */
  rate: number;
}

/** What one run may take; a story of three seconds takes a fifth of the time and half of the memory. */
const RUN_LIMITS = {
  cpuSeconds: RENDER_TIMEOUT_MS / 1000,
  memoryBytes: 1024 ** 3,
  fileBytes: 32 * 1024 ** 2,
};
/** More threads hold more frames, and other cards are made beside it. */
const THREADS = "2";
/** Of what an encoder says before it fails. */
const MAX_SAID_CHARS = 500;

/** Never with a shell, and with nothing of a partner's in it but the size. */
const argumentsFor = ({ width, height, quality, rate }: Encoding, out: string): string[] => [
  ...["-nostdin", "-hide_banner", "-loglevel", "error", "-threads", THREADS],
  ...["-protocol_whitelist", "pipe,file", "-f", "matroska", "-i", "pipe:0"],
  ...["-map", "0:v:0", "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"],
  ...["-vf", `scale=${width}:${height}:flags=lanczos`, "-pix_fmt", "yuv420p"],
  ...["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"],
  ...["-c:v", "libx264", "-profile:v", "high", "-preset", "fast", "-threads", THREADS],
  ...["-crf", `${quality}`, "-maxrate", `${rate}`, "-bufsize", `${rate}`],
  ...["-movflags", "+faststart", "-f", "mp4", "-y", out],
];

async function encoded({ encoder, scratch }: Mp4Maker, film: Uint8Array, encoding: Encoding) {
  const folder = await mkdtemp(join(scratch, "mp4-"));
  const out = join(folder, "card.mp4");
  try {
    const child = Bun.spawn([encoder, ...argumentsFor(encoding, out)], {
      stdio: [film, "ignore", "pipe"],
      cwd: folder,
      // Neither settings nor secrets: it needs none.
      env: { PATH: process.env.PATH, LD_LIBRARY_PATH: process.env.LD_LIBRARY_PATH },
      timeout: MOST_RENDER_MS,
      killSignal: "SIGKILL",
    });
    // A process that ends takes it along. Killed, its pool does.
    const end = () => child.kill("SIGKILL");
    process.once("exit", end);
    try {
      limitProcess(child.pid, RUN_LIMITS);
      const said = await new Response(child.stderr).text();
      const code = await child.exited;
      if (code === 0) return await Bun.file(out).bytes();
      const how = child.signalCode ? `was ended by ${child.signalCode}` : `ended with code ${code}`;
      throw new Error(`the MP4 encoder ${encoder} ${how}: ${said.trim().slice(-MAX_SAID_CHARS)}`);
    } finally {
      process.off("exit", end);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Begins the contents of the box of no meaning (ISO/IEC 14496-12, `free`) that holds the still. */
const STILL = new TextEncoder().encode("cardpress still\n");
const BOX_HEAD_BYTES = 8;

/** An MP4 with a picture at its end, where players see nothing of it. */
function withStillBox(mp4: Uint8Array, still: Uint8Array): Uint8Array {
  const head = Buffer.alloc(BOX_HEAD_BYTES);
  head.writeUInt32BE(BOX_HEAD_BYTES + STILL.length + still.length);
  head.write("free", 4, "latin1");
  return Buffer.concat([mp4, head, STILL, still]);
}

/** Whether a file is an MP4, by its first bytes. */
export const isMp4 = (file: Uint8Array): boolean =>
  Buffer.from(file.subarray(4, BOX_HEAD_BYTES)).toString("latin1") === "ftyp";

/** The still in a file of `mp4Of`; null when it has none. */
export function stillInMp4(file: Uint8Array): Uint8Array | null {
  const view = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  const at = view.lastIndexOf(STILL);
  const begin = at - BOX_HEAD_BYTES;
  if (begin < 0 || view.toString("latin1", at - 4, at) !== "free") return null;
  return view.readUInt32BE(begin) === file.length - begin ? file.subarray(at + STILL.length) : null;
}
