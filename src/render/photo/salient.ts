/** Mean and deviation of ImageNet's colours, with which U^2-Net was trained. */
const MEAN = [0.485, 0.456, 0.406] as const;
const DEVIATION = [0.229, 0.224, 0.225] as const;

/** Colours as U^2-Net wants them: divided by the brightest channel, normalised, one plane after the other. */
export function salientValues(rgb: Uint8Array): Float32Array {
  const cells = rgb.length / 3;
  const brightest = Math.max(
    1,
    rgb.reduce((most, value) => Math.max(most, value), 0),
  );
  const values = new Float32Array(rgb.length);
  for (let channel = 0; channel < 3; channel++) {
    const scale = 1 / (brightest * (DEVIATION[channel] ?? 1));
    const offset = (MEAN[channel] ?? 0) / (DEVIATION[channel] ?? 1);
    for (let i = 0; i < cells; i++)
      values[channel * cells + i] = (rgb[3 * i + channel] ?? 0) * scale - offset;
  }
  return values;
}
