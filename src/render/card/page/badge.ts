// What a partner's badge looks like.

/** A tiny badge stays a little soft rather than being blurred by enlargement. */
const MAX_BADGE_ENLARGEMENT = 2.5;

/** A badge is light from this brightness (0 to 255). */
const LIGHT_BADGE = 150;
/** The brightness that its outline needs to stand out from a deep, or a pale, foot of the card. */
const EDGE_ON_DEEP = 100;
const EDGE_ON_PALE = 110;

/** Corners that differ by no more than this, of 255, are one colour: a JPEG has noise. */
const SAME_COLOUR = 12;

/**
 * Tells the style sheet the badge's shape, whether it is light, whether it needs a plate, and how large it
 * may get before it blurs.
 */
export function describeBadge(card: HTMLElement) {
  const image = card.querySelector<HTMLImageElement>('img[data-picture="badge"]');
  if (!image) return;
  const { light, edge, isCutOut, ground } = inspectBadge(image);
  const stands = card.dataset.ground === "pale" ? edge < EDGE_ON_PALE : edge > EDGE_ON_DEEP;
  card.dataset.badge = light > LIGHT_BADGE ? "light" : "dark";
  card.dataset.mount = !isCutOut ? "plate" : stands ? "bare" : "outlined";
  const { naturalWidth: width, naturalHeight: height } = image;
  const { style } = document.documentElement;
  style.setProperty("--badge-aspect", String(width / height));
  if (ground) style.setProperty("--badge-ground", ground);
  style.setProperty("--badge-max", `${Math.max(width, height) * MAX_BADGE_ENLARGEMENT}px`);
}

/**
 * The mean brightness of a picture and of its outline (0 to 255), whether its corners are transparent, and
 * its background colour if all corners have the same.
 */
function inspectBadge(image: HTMLImageElement) {
  const size = 32;
  const context = new OffscreenCanvas(size, size).getContext("2d", {
    willReadFrequently: true,
  }) as OffscreenCanvasRenderingContext2D;
  context.drawImage(image, 0, 0, size, size);
  const { data } = context.getImageData(0, 0, size, size);
  const alphaAt = (x: number, y: number) =>
    x < 0 || y < 0 || x >= size || y >= size ? 0 : (data[(y * size + x) * 4 + 3] ?? 0);
  let [weight, light, edges, edgeLight] = [0, 0, 0, 0];
  for (let i = 0; i < size * size; i++) {
    const [r = 0, g = 0, b = 0, alpha = 0] = data.subarray(i * 4, i * 4 + 4);
    const brightness = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    weight += alpha;
    light += alpha * brightness;
    const [x, y] = [i % size, Math.floor(i / size)];
    const neighbours = [alphaAt(x - 1, y), alphaAt(x + 1, y), alphaAt(x, y - 1), alphaAt(x, y + 1)];
    if (alpha < 128 || Math.min(...neighbours) >= 128) continue;
    edges++;
    edgeLight += brightness;
  }
  const last = size - 1;
  const corners = [alphaAt(0, 0), alphaAt(last, 0), alphaAt(0, last), alphaAt(last, last)];
  const ground = [0, last, size * last, size * size - 1].map((i) => [...data.subarray(i * 4, i * 4 + 4)]);
  const [first = []] = ground;
  const isOne = ground.every((colour) =>
    colour.every((value, k) => Math.abs(value - (first[k] ?? 0)) <= SAME_COLOUR),
  );
  return {
    ground: isOne && first[3] === 255 ? `rgb(${first.slice(0, 3).join(" ")})` : null,
    light: light / Math.max(1, weight),
    edge: edgeLight / Math.max(1, edges),
    isCutOut: corners.filter((alpha) => alpha < 40).length >= 2 && weight > 0,
  };
}
