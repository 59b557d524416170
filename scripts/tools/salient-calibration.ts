/**
 * What scripts/tools/quantize-salient.ts measures: how large the values in the salient network become on real
 * pictures.
 */
import { Tensor } from "onnxruntime-common";
import { valuesFor } from "../../src/render/photo/matte-model.ts";
import { loadOnnxRuntime, packagedRuntime } from "../../src/render/photo/onnx-runtime.ts";
import { calibrationCrops } from "./calibration-crops.ts";
import { attribute, type Graph, readOnnx, TYPES, writeOnnx } from "./models/onnx.ts";

/** Operators on the path from picture to saliency; all others compute shapes. */
const PICTURE_OPERATORS = new Set(["Conv", "Relu", "MaxPool", "Resize", "Concat", "Add", "Sigmoid"]);

export interface Picture {
  width: number;
  height: number;
  values: Float32Array;
}

/** The calibration pictures, as the network takes them. */
export async function calibrationPictures(): Promise<Picture[]> {
  const crops = await calibrationCrops();
  return crops.map(({ rgb, ...size }) => ({ ...size, values: valuesFor("u2net", rgb) }));
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
 * The largest value of every Relu, Add and Concat over all pictures. None of those being quantised is ever
 * negative, so 0 is their minimum. The network computes the maxima itself, because whole tensors would be
 * gigabytes to hand over.
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
