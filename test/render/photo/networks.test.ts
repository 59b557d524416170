import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { OperatorError } from "../../../src/core/errors.ts";
import { NETWORK_FILES, NETWORKS_DIGEST } from "../../../src/render/photo/network-files.ts";
import { type NetworkName, openNetworks, tryNetworks } from "../../../src/render/photo/networks.ts";
import { packagedRuntime, returnFreedMemory } from "../../../src/render/photo/onnx-runtime.ts";
import { pngPixels } from "./png-pixels.ts";

// What LiteRT 2.5.3 answered for MediaPipe's own files, given the same bytes: some values of each output by
// their places. Detectors: the surest finding, with its box. The networks here are those files rewritten, so
// only rounding may differ.
const ORIGINALS: [NetworkName, size: number, outputs: Record<number, number>[]][] = [
  [
    "faceDetector",
    192,
    [
      // Boxes, scores.
      { 11968: -1.077, 11969: -2.109, 11970: 54.158, 11971: 54.178 },
      { 748: 1.9872, 100: -2.6535 },
    ],
  ],
  [
    "personDetector",
    224,
    [
      // Boxes, scores.
      { 20640: 2.136, 20641: -1.767, 20642: 44.855, 20643: 44.823 },
      { 1720: 2.0733, 100: -243.0594 },
    ],
  ],
  [
    "poseLandmarks",
    256,
    [
      // Landmarks, presence, mask.
      { 0: 117.2768, 1: 59.441, 3: 12.8758, 60: 73.1878 },
      { 0: 0.9691 },
      { 6553: -1116.2133, 21626: 136.1739, 32768: 0.0455, 43253: -17.7825, 58982: 1.0224 },
    ],
  ],
  [
    "heavyPoseLandmarks",
    256,
    [
      // Landmarks, presence, mask.
      { 0: 110.894, 1: 60.1645, 3: 19.6598, 60: 73.8283 },
      { 0: 1 },
      { 6553: -25.9819, 21626: 14.444, 32768: -12.1404, 43253: -67.0482, 58982: -26.1047 },
    ],
  ],
  ["personMask", 256, [{ 6553: 0, 21626: 1, 32768: 0, 43253: 0, 58982: 1 }]],
  ["bodyParts", 256, [{ 39321: -1.0617, 129761: -1.0864, 196608: 2.9469, 259522: -1.0606, 353894: -0.9455 }]],
];

const networks = openNetworks(packagedRuntime(), 1);
const photo = pngPixels(await Bun.file(join(import.meta.dir, "../../photos/astronaut.png")).bytes());

/** Every second pixel of the photo, from its top left. */
function smallPhoto(size: number) {
  const rgb = new Uint8Array(size * size * 3);
  for (let i = 0; i < rgb.length; i++) {
    const [pixel, channel] = [Math.floor(i / 3), i % 3];
    const from = 2 * Math.floor(pixel / size) * photo.width + 2 * (pixel % size);
    rgb[i] = photo.rgb[3 * from + channel] ?? 0;
  }
  return { rgb, width: size, height: size };
}

for (const [name, size, originals] of ORIGINALS) {
  test(`${name} answers as the network that it was converted from`, async () => {
    const outputs = await networks.run(name, smallPhoto(size));
    expect(outputs.length).toBe(originals.length);
    for (const [i, values] of originals.entries()) {
      for (const [place, original] of Object.entries(values)) {
        const value = outputs[i]?.[Number(place)] ?? Number.NaN;
        expect(Math.abs(value - original)).toBeLessThan(0.002 + 0.001 * Math.abs(original));
      }
    }
  });
}

test("doctor's look loads every network, and says what the machine lacks where the runtime does not load", async () => {
  expect(await tryNetworks(packagedRuntime())).toBe(Object.keys(NETWORK_FILES).length);
  const missing = tryNetworks("/nowhere/at/all");
  await expect(missing).rejects.toBeInstanceOf(OperatorError);
  await expect(missing).rejects.toThrow("needs a Linux with glibc 2.28 or newer");
});

test.if(process.platform === "linux")(
  "what networks have freed is given back to the system, and they answer the same afterwards",
  async () => {
    const networks = openNetworks(packagedRuntime(), 1);
    const picture = { rgb: new Uint8Array(256 * 256 * 3).fill(90), width: 256, height: 256 };
    const [before] = await networks.run("bodyParts", picture);
    const kept = privateMb();
    returnFreedMemory();
    // One of its tensors alone has 16 MB.
    expect(privateMb()).toBeLessThan(kept - 16);
    expect((await networks.run("bodyParts", picture))[0]).toEqual(before as Float32Array);
  },
);

test.if(process.platform === "linux")(
  "a large network that is rarely used is freed, and loaded again when it is used",
  async () => {
    const networks = openNetworks(packagedRuntime(), 1);
    const picture = smallPhoto(256);
    const answer = () => networks.run("heavyPoseLandmarks", picture);
    const [before] = await answer();
    const tidiedMb = () => {
      Bun.gc(true);
      returnFreedMemory();
      return privateMb();
    };
    const held = tidiedMb();
    networks.releaseRare();
    await Promise.resolve();
    // Its weights have 52 MB.
    expect(tidiedMb()).toBeLessThan(held - 40);
    // Somebody who waits for it while it is let go gets an answer all the same.
    const waiting = answer();
    networks.releaseRare();
    expect((await waiting)[0]).toEqual(before as Float32Array);
    expect((await answer())[0]).toEqual(before as Float32Array);
  },
);

const privateMb = () =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) / 1024;

test("the networks' digest, part of a cutout's name, is that of their files", async () => {
  const hash = new Bun.CryptoHasher("sha256");
  const paths = Object.values(NETWORK_FILES).sort((a, b) => basename(a).localeCompare(basename(b)));
  for (const path of paths) hash.update(await Bun.file(path).bytes());
  expect(NETWORKS_DIGEST).toBe(hash.digest("hex").slice(0, 16));
});
