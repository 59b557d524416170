/** What scripts/quantize-salient.ts measures: how large the values in the salient network become on real pictures. */
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Tensor } from "onnxruntime-common";
import { launchBrowser } from "../src/render/browser/browser.ts";
import { findChromium } from "../src/render/browser/chromium.ts";
import { valuesFor } from "../src/render/photo/matte-model.ts";
import { loadOnnxRuntime, packagedRuntime } from "../src/render/photo/onnx-runtime.ts";
import { attribute, type Graph, readOnnx, TYPES, writeOnnx } from "./models/onnx.ts";

const PHOTOS = join(import.meta.dir, "../test/photos");

/** Operators on the path from picture to saliency; all others compute shapes. */
const PICTURE_OPERATORS = new Set(["Conv", "Relu", "MaxPool", "Resize", "Concat", "Add", "Sigmoid"]);

/** Crops of a photo (x, y, width, height as fractions) and the brightness at which the network is shown them. */
const CALIBRATION_CROPS = [
  [0, 0, 1, 1, 1],
  [0.1, 0, 0.7, 0.8, 0.6],
  [0.25, 0.1, 0.5, 0.9, 1.3],
  [0.3, 0.05, 0.4, 0.5, 1],
];
/** About this many pixels are fed to the network, with sides its five halvings divide evenly. */
const CALIBRATION_CELLS = 65_536;

export interface Picture {
  width: number;
  height: number;
  values: Float32Array;
}

/** The calibration pictures: every crop of every photo in test/photos, in order of file name. */
export async function calibrationPictures(): Promise<Picture[]> {
  const cacheDir = join(tmpdir(), "cardpress-test-cache");
  mkdirSync(cacheDir, { recursive: true });
  const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
  const browser = await launchBrowser({ chromium, profilesDir: tmpdir(), noSandbox: true });
  const page = await browser.newPage();
  const pictures: Picture[] = [];
  for (const name of readdirSync(PHOTOS).sort()) {
    if (!/\.(png|jpg)$/.test(name)) continue;
    const crops = await page.evaluate(
      async (base64, shares, cells) => {
        const photo = await fetch(`data:application/octet-stream;base64,${base64}`);
        const bitmap = await createImageBitmap(await photo.blob());
        return shares.map(([x = 0, y = 0, w = 1, h = 1, brightness = 1]) => {
          const from = { width: bitmap.width * w, height: bitmap.height * h };
          const scale = Math.sqrt(cells / (from.width * from.height)) / 16;
          const width = Math.max(4, Math.round(from.width * scale)) * 16;
          const height = Math.max(4, Math.round(from.height * scale)) * 16;
          const context = new OffscreenCanvas(width, height).getContext("2d");
          if (!context) throw new Error("no canvas");
          context.filter = `brightness(${brightness})`;
          context.imageSmoothingQuality = "high";
          const at = [bitmap.width * x, bitmap.height * y] as const;
          context.drawImage(bitmap, ...at, from.width, from.height, 0, 0, width, height);
          const { data } = context.getImageData(0, 0, width, height);
          let rgb = "";
          for (let i = 0; i < data.length; i += 4) rgb += String.fromCharCode(...data.subarray(i, i + 3));
          return { width, height, rgb: btoa(rgb) };
        });
      },
      readFileSync(join(PHOTOS, name)).toString("base64"),
      CALIBRATION_CROPS,
      CALIBRATION_CELLS,
    );
    for (const { rgb, ...size } of crops)
      pictures.push({ ...size, values: valuesFor("u2net", Uint8Array.fromBase64(rgb)) });
  }
  await browser.close();
  return pictures;
}

const first = (names: string[] | null | undefined) => names?.[0] ?? "";

/** The tensors that hold pictures rather than shapes. */
function pictureTensors(graph: Graph): Set<string> {
  const tensors = new Set([graph.input[0]?.name ?? ""]);
  for (const { opType, input, output } of graph.node)
    if (PICTURE_OPERATORS.has(opType ?? "") && tensors.has(first(input))) tensors.add(first(output));
  return tensors;
}

/**
 * The largest value of every Relu, Add and Concat over all pictures. None of those being quantised is ever negative, so
 * 0 is their minimum. The network computes the maxima itself, because whole tensors would be gigabytes to hand over.
 */
export async function greatestValues(bytes: Uint8Array, pictures: Picture[]): Promise<Map<string, number>> {
  const model = readOnnx(bytes);
  const { graph } = model;
  const tensors = pictureTensors(graph);
  const measured = graph.node
    .filter(
      (node) => ["Relu", "Add", "Concat"].includes(node.opType ?? "") && tensors.has(first(node.output)),
    )
    .map((node) => first(node.output));
  graph.output = measured.map((name) => ({
    name: `${name}_max`,
    type: { tensorType: { elemType: TYPES.FLOAT } },
  }));
  const keepdims = attribute("keepdims", 0);
  for (const name of measured)
    graph.node.push({ opType: "ReduceMax", input: [name], output: [`${name}_max`], attribute: [keepdims] });
  const session = loadOnnxRuntime(packagedRuntime()).open(writeOnnx(model), 1);
  const greatest = new Map<string, number>(measured.map((name) => [name, 0]));
  for (const { values, width, height } of pictures) {
    const input = new Tensor("float32", values, [1, 3, height, width]);
    const maxima = session.run({ [session.inputNames[0] ?? ""]: input });
    for (const [name, most] of greatest)
      greatest.set(name, Math.max(most, Number(maxima[`${name}_max`]?.data[0])));
  }
  return greatest;
}
