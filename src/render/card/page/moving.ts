// What moves on a card: light over its foil, and its turn towards the viewer. Each frame depends on the
// card and its own number alone, never on a clock, so a card moves the same way on every machine.

/** A card to be moved. */
export interface Scene {
  width: number;
  height: number;
  rgba: Uint8ClampedArray;
  /** How much of each pixel is foil, of 255. */
  foil: Uint8Array | null;
  /** What lies behind the card, for formats without transparency. */
  ground: Uint8ClampedArray | null;
}

/** How the card stands in a frame. */
export interface Pose {
  /** Its turn, in radians. */
  angle: number;
  /** Of its full size. */
  size: number;
  /** How bright it is where no light falls. */
  bright: number;
  /** Where the light is on its way across, 0 to 1. */
  light: number | null;
}

export const FRAMES_PER_SECOND = 25;

/** How many frames each motion has. */
export const FRAMES = { foil: 50, reveal: 75 };

/** The light begins and ends outside of the card. */
const [LIGHT_FROM, LIGHT_TO] = [-0.4, 1.4];
/** How a card waits for its reveal: dark, turned away, a little smaller. */
const [DARK, TURNED, FAR] = [0.07, -0.85, 0.9];

/** How far `at` is between two numbers, from 0 to 1. */
const part = (from: number, to: number, at: number) => Math.min(1, Math.max(0, (at - from) / (to - from)));
const smooth = (x: number) => x * x * (3 - 2 * x);
const slowing = (x: number) => 1 - (1 - x) ** 3;
const between = (from: number, to: number, x: number) => from + (to - from) * x;

/** Where the card stands in a frame. */
export function poseOf(motion: "foil" | "reveal", frame: number): Pose {
  const across = (from: number, to: number, start = LIGHT_FROM) => {
    const way = part(from, to, frame);
    return way > 0 && way < 1 ? between(start, LIGHT_TO, between(way, smooth(way), 0.5)) : null;
  };
  if (motion === "foil") return { angle: 0, size: 1, bright: 1, light: across(2, 46) };
  const turn = slowing(part(0, 30, frame));
  return {
    angle: between(TURNED, 0, turn),
    size: between(FAR, 1, turn),
    bright: between(DARK, 1, smooth(part(10, 27, frame))),
    // The first frame is what a list of videos shows: light is on the card already.
    light: frame < 30 ? across(-1, 26, 0.1) : across(31, 68),
  };
}

/** The light as a table across its band. */
const STEPS = 1024;
const REACH = 0.4;
/**
 * Its columns: red, green and blue of foil; the same of the gloss on all else; the shade; how far dark
 * lifts.
 */
const [GLOSS, SHADE, SPOT, COLUMNS] = [3, 6, 7, 8];
/** A warm streak, a cool one after it, and a breath of colour between them. */
const WARM = [1, 0.95, 0.8];
const COOL = [0.8, 0.9, 1];
const ROSE = [1, 0.62, 0.86];
/** A card without foil has nothing else that shines, so it gets this much more gloss. */
const GLOSS_ALONE = 1.5;

function lightTable(isFoiled: boolean) {
  const table = new Float32Array(STEPS * COLUMNS);
  const bell = (x: number, wide: number) => Math.exp(-((x / wide) ** 2) / 2);
  for (let step = 0; step < STEPS; step++) {
    const x = ((step + 0.5) / STEPS - 0.5) * 2 * REACH;
    const warm = 0.9 * bell(x - 0.05, 0.026) + 0.42 * bell(x - 0.05, 0.07);
    const cool = 0.62 * bell(x + 0.075, 0.02) + 0.26 * bell(x + 0.075, 0.06);
    const rose = 0.24 * bell(x + 0.012, 0.03);
    const at = step * COLUMNS;
    const gloss = isFoiled ? 1 : GLOSS_ALONE;
    for (let channel = 0; channel < 3; channel++) {
      const [warmer, cooler] = [Number(WARM[channel]), Number(COOL[channel])];
      table[at + channel] = Math.min(1, warmer * warm + cooler * cool + Number(ROSE[channel]) * rose);
      table[at + GLOSS + channel] =
        gloss *
        (warmer * (0.36 * bell(x - 0.05, 0.026) + 0.1 * bell(x - 0.03, 0.1)) +
          cooler * 0.2 * bell(x + 0.075, 0.02));
    }
    // Metal is darker beside the light than without any: it mirrors the room.
    table[at + SHADE] = 1 - 0.42 * bell(x - 0.2, 0.06) - 0.36 * bell(x + 0.2, 0.06);
    table[at + SPOT] = 0.5 * bell(x, 0.13);
  }
  return table;
}

let tables: { foiled: Float32Array; plain: Float32Array } | undefined;

/** The direction in which the light goes: to the right and a little down, as on the living card. */
const [ACROSS, DOWN] = [0.927, 0.375];

/**
 * Draws a frame of the card.
 * @param out its pixels, not premultiplied
 * @param spare as long as `out`
 */
export function drawFrame(scene: Scene, pose: Pose, out: Uint8ClampedArray, spare: Uint8ClampedArray) {
  const isTurned = pose.angle !== 0 || pose.size !== 1;
  drawLight(scene, pose, isTurned ? spare : out);
  if (isTurned) drawTurned(scene, pose, spare, out);
  if (scene.ground) layOn(scene.ground, out);
}

function drawLight({ width, height, rgba, foil }: Scene, { bright, light }: Pose, out: Uint8ClampedArray) {
  out.set(rgba);
  if (bright < 1)
    for (let at = 0; at < out.length; at++) if ((at & 3) !== 3) out[at] = Number(out[at]) * bright;
  if (light === null) return;
  tables ??= { foiled: lightTable(true), plain: lightTable(false) };
  const table = foil ? tables.foiled : tables.plain;
  const span = width * ACROSS + height * DOWN;
  const stepsPerPixel = ((ACROSS / span) * STEPS) / (2 * REACH);
  for (let y = 0; y < height; y++) {
    // Where this row is within the band, as a step of the table, which grows with x.
    const first = (((y * DOWN) / span - light + REACH) * STEPS) / (2 * REACH);
    const from = Math.max(0, Math.ceil(-first / stepsPerPixel));
    const to = Math.min(width, Math.ceil((STEPS - first) / stepsPerPixel));
    for (let x = from; x < to; x++) {
      const pixel = y * width + x;
      const at = pixel * 4;
      // Edges that are half see-through stay as they are: laid over the frame before they would add up.
      if (rgba[at + 3] !== 255) continue;
      const row = Math.min(STEPS - 1, Math.max(0, Math.floor(first + x * stepsPerPixel))) * COLUMNS;
      const metal = foil ? Number(foil[pixel]) / 255 : 0;
      const lifted = bright + (1 - bright) * Number(table[row + SPOT]);
      const shade = lifted * (1 - metal * (1 - Number(table[row + SHADE])));
      for (let channel = 0; channel < 3; channel++) {
        const own = Number(rgba[at + channel]) * shade;
        const gloss = Number(table[row + GLOSS + channel]) * bright;
        out[at + channel] = own + (255 - own) * (gloss + (Number(table[row + channel]) - gloss) * metal);
      }
    }
  }
}

/** How far away the eye is, in widths of the card. */
const EYE = 2.4;
/** Turns the lit card about its upright middle, in perspective; each pixel from four of the card. */
function drawTurned(
  { width, height }: Scene,
  { angle, size }: Pose,
  from: Uint8ClampedArray,
  out: Uint8ClampedArray,
) {
  out.fill(0);
  const eye = EYE * width;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  // Of each column: the one of the card that is seen there, and how much smaller the card is there.
  const columns = new Float64Array(width);
  const scales = new Float64Array(width);
  for (let x = 0; x < width; x++) {
    const seen = (x + 0.5 - width / 2) / size;
    const own = (seen * eye) / (eye * cos - seen * sin);
    columns[x] = own + width / 2 - 0.5;
    scales[x] = (size * eye) / (eye + own * sin);
  }
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const column = Number(columns[x]);
      const row = (y + 0.5 - height / 2) / Number(scales[x]) + height / 2 - 0.5;
      const left = Math.floor(column);
      const top = Math.floor(row);
      if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) continue;
      const right = column - left;
      const low = row - top;
      const a = (top * width + left) * 4;
      const b = a + width * 4;
      const alphaA = (1 - right) * (1 - low) * Number(from[a + 3]);
      const alphaB = right * (1 - low) * Number(from[a + 7]);
      const alphaC = (1 - right) * low * Number(from[b + 3]);
      const alphaD = right * low * Number(from[b + 7]);
      const alpha = alphaA + alphaB + alphaC + alphaD;
      if (alpha === 0) continue;
      const to = (y * width + x) * 4;
      for (let k = 0; k < 3; k++) {
        const upper = alphaA * Number(from[a + k]) + alphaB * Number(from[a + 4 + k]);
        const lower = alphaC * Number(from[b + k]) + alphaD * Number(from[b + 4 + k]);
        out[to + k] = (upper + lower) / alpha;
      }
      out[to + 3] = alpha;
    }
}

function layOn(ground: Uint8ClampedArray, out: Uint8ClampedArray) {
  for (let at = 0; at < out.length; at += 4) {
    const alpha = Number(out[at + 3]);
    if (alpha === 255) continue;
    for (let channel = 0; channel < 3; channel++) {
      const below = Number(ground[at + channel]);
      out[at + channel] = below + ((Number(out[at + channel]) - below) * alpha) / 255;
    }
    out[at + 3] = 255;
  }
}

/** The brightest of the ground's colours, of 255. */
const GROUND = 66;

/** A dark ground in the card's own colour, brighter behind it: for formats without transparency. */
export function groundOf({ width, height, rgba }: Pick<Scene, "width" | "height" | "rgba">) {
  const sum = [0, 0, 0];
  // Every 16th pixel tells the colour as well as all.
  for (let at = 0; at < rgba.length; at += 64) {
    if (rgba[at + 3] !== 255) continue;
    for (let channel = 0; channel < 3; channel++)
      sum[channel] = Number(sum[channel]) + Number(rgba[at + channel]);
  }
  const most = Math.max(...sum);
  const colour = sum.map((of) => (most > 0 ? (of / most) ** 2 * GROUND : 0));
  const ground = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const far = Math.hypot((x / width - 0.5) * 1.5, (y / height - 0.45) * 1.3);
      const at = (y * width + x) * 4;
      // A checker of half a level: a dark gradient shows its steps otherwise.
      const dither = ((x ^ y) & 1) / 2 - 0.25;
      for (let channel = 0; channel < 3; channel++)
        ground[at + channel] = Number(colour[channel]) * Math.max(0.16, 1.15 - far) + dither;
      ground[at + 3] = 255;
    }
  return ground;
}

/** Colours that differ by no more than this are the same to the eye, and in lossy frames too. */
const SAME = 2;

/** A rectangle of a frame. It begins at even numbers, as WebP's frames do. */
export interface Change {
  x: number;
  y: number;
  width: number;
  height: number;
  /** Its other pixels are see-through, to be laid over what is shown. */
  isPatch: boolean;
}

/**
 * What of a frame differs from what is shown, and its pixels; null when nothing does.
 * @param shown updated in place
 */
export function changeOf(
  next: Uint8ClampedArray,
  shown: Uint8ClampedArray,
  width: number,
  height: number,
): { change: Change; pixels: Uint8ClampedArray<ArrayBuffer> } | null {
  let [left, top, right, bottom, isPatch] = [width, height, -1, -1, true];
  const differs = (at: number) => {
    for (let k = at; k < at + 4; k++) if (Math.abs(Number(next[k]) - Number(shown[k])) > SAME) return true;
    return false;
  };
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 4;
      if (!differs(at)) continue;
      if (next[at + 3] !== 255) isPatch = false;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  if (bottom < 0) return null;
  left -= left % 2;
  top -= top % 2;
  const change = { x: left, y: top, width: right - left + 1, height: bottom - top + 1, isPatch };
  const pixels = new Uint8ClampedArray(change.width * change.height * 4);
  for (let y = 0; y < change.height; y++)
    for (let x = 0; x < change.width; x++) {
      const at = ((top + y) * width + left + x) * 4;
      if (isPatch && !differs(at)) continue;
      const to = (y * change.width + x) * 4;
      for (let k = 0; k < 4; k++) {
        pixels[to + k] = Number(next[at + k]);
        shown[at + k] = Number(next[at + k]);
      }
    }
  return { change, pixels };
}
