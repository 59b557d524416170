/**
 * Writes src/render/photo/models/body_parts_int8.onnx.zst: the body parts network with its widest
 * convolutions in 8 bits, in half the time of the float one. Takes the float network that
 * scripts/tools/convert-models.ts writes:
 *
 *     bun scripts/tools/quantize-body-parts.ts FOLDER/body_parts.onnx.zst
 *
 * The scheme is that of scripts/tools/quantize-salient.ts, with zero points, since not all of these tensors
 * are behind a Relu. Before it, what the network does with single pixels is folded
 * (scripts/tools/models/fold.ts), and the channels between the convolutions of a block are brought to like
 * sizes, which leaves the results as they are and the bytes more to tell:
 *   Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", 2019
 * The same network, photos, browser and machine give the same file.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Tensor as Value } from "onnxruntime-common";
import { loadOnnxRuntime, packagedRuntime } from "../../src/render/photo/onnx-runtime.ts";
import { offerHelp } from "../help.ts";
import { calibrationCrops } from "./calibration-crops.ts";
import {
  dimsOf,
  foldEnlargements,
  foldScalings,
  inputOf,
  type Network,
  outputOf,
  putFloats,
  valuesOf,
  widened,
} from "./models/fold.ts";
import { attribute, constant, type Model, type Node, readOnnx, TYPES, writeOnnx } from "./models/onnx.ts";

offerHelp(import.meta);

const FLOAT_SHA256 = "5602d8d4cefbe13636e2fa007995500f2b1752b73063379e60cbff18f088bdf6";
const OUT = join(import.meta.dir, "../../src/render/photo/models/body_parts_int8.onnx.zst");
const SIDE = 256;
/** Zstandard level, as in scripts/tools/convert-models.ts. */
const LEVEL = 19;

/**
 * The convolutions that are made 8-bit, by the tensors they give: the encoder's, from its second block to the
 * fourth. They take more than half of the time. The first block sees the picture itself, and needs finer
 * steps than bytes have; so does the decoder, which draws the masks.
 */
const IN_BYTES = new Set(
  [204, 205, 206, 207, 208, 209, 213, 214, 215, 216, 258, 261, 262, 263, 264].map((n) => `t${n}_first`),
);
/**
 * Tensors inside a block, each behind a Relu and read by one convolution: their channels may be scaled
 * freely.
 */
const INSIDE_BLOCKS = [201, 202, 204, 205, 207, 208, 213, 214, 261, 262].map((n) => `t${n}_first`);
/** How far channels are brought towards the largest one (0 to 1), and how often at most they are enlarged. */
const EVENNESS = 0.5;
const MOST_ENLARGED = 64;
/** A channel smaller than this part of the largest one says nothing, and is enlarged no further. */
const SILENT = 1e-3;
/**
 * This part of the calibration pictures sets a tensor's range: a rare extreme would cost all others their
 * steps.
 */
const RANGE_PART = 0.97;

/**
 * The greatest weight, and the greatest sum of two of one sign that are multiplied together: x64 processors
 * without VNNI add two products of uint8 and int8 in 16 bits, where 255 * 128 is the most that fits.
 */
const GREATEST_WEIGHT = 127;
const GREATEST_PAIR = 127.5;

const path = process.argv[2];
if (!path) throw new Error("Give the float network; --help says how it is made.");
const packed = await Bun.file(path).bytes();
if (sha256(packed) !== FLOAT_SHA256)
  throw new Error(`${path} is another file than the one this script is for.`);
const model = readOnnx(await Bun.zstdDecompress(packed));
const pictures = (await calibrationCrops(SIDE)).map(({ rgb }) => rgb);
const network = widened(model.graph);
foldScalings(network);
foldEnlargements(network);
evenChannels(network);
const small = Bun.zstdCompressSync(written(model, quantized(network)), { level: LEVEL });
await Bun.write(OUT, small);
console.log(`${OUT}: ${small.length} bytes, SHA-256 ${sha256(small)}, from ${pictures.length} pictures`);
process.exit(0);

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function written(
  { graph, ...rest }: Model,
  { nodes, constants }: Network,
  outputs = graph.output,
): Uint8Array {
  const used = new Set(nodes.flatMap(({ input }) => input));
  const initializer = [...constants.values()].filter(({ name }) => used.has(name));
  const opsetImport = [...rest.opsetImport, { domain: "com.microsoft", version: 1 }];
  return writeOnnx({ ...rest, opsetImport, graph: { ...graph, node: nodes, initializer, output: outputs } });
}

/**
 * What an operator of the Reduce family makes of each tensor on each picture; the network computes it itself,
 * because whole tensors would be gigabytes to hand over.
 */
function measured(network: Network, tensors: string[], opType: string, axes?: number[]): Float32Array[][] {
  const options = [attribute("keepdims", 0), ...(axes ? [attribute("axes", axes)] : [])];
  const reduced = (name: string) => `${name}_${opType}`;
  const nodes = tensors.map((name) => ({
    opType,
    input: [name],
    output: [reduced(name)],
    attribute: options,
  }));
  const outputs = tensors.map((name) => ({
    name: reduced(name),
    type: { tensorType: { elemType: TYPES.FLOAT } },
  }));
  const file = written(model, { ...network, nodes: [...network.nodes, ...nodes] }, outputs);
  const session = loadOnnxRuntime(packagedRuntime()).open(file, 1);
  return pictures.map((rgb) => {
    const found = session.run({ rgb: new Value("uint8", rgb.slice(), [1, SIDE, SIDE, 3]) });
    return tensors.map((name) => Float32Array.from(found[reduced(name)]?.data as Float32Array));
  });
}

/**
 * Brings the channels inside the blocks to like sizes: what a channel is enlarged by, its reader's weights
 * are reduced by.
 */
function evenChannels(network: Network): void {
  const found = measured(network, INSIDE_BLOCKS, "ReduceMax", [0, 2, 3]);
  for (const [at, name] of INSIDE_BLOCKS.entries()) {
    const relu = network.nodes.find((node) => outputOf(node) === name) as Node;
    const writer = network.nodes.find((node) => outputOf(node) === inputOf(relu)) as Node;
    const reader = network.nodes.find(({ input }) => input[0] === name) as Node;
    const greatest = Array.from(found[0]?.[at] ?? [], (_, channel) =>
      Math.max(...found.map((picture) => Number(picture[at]?.[channel]))),
    );
    const most = Math.max(...greatest);
    const factors = greatest.map((one) =>
      Math.min(MOST_ENLARGED, (most / Math.max(one, SILENT * most)) ** EVENNESS),
    );
    const factor = (channel: number) => factors[channel] as number;
    scale(network, writer, 1, (channel) => factor(channel));
    scale(network, writer, 2, (channel) => factor(channel));
    scale(network, reader, 1, (out, channel) => 1 / factor(readsOneChannel(network, reader) ? out : channel));
  }
}

function readsOneChannel(network: Network, conv: Node): boolean {
  return dimsOf(network, inputOf(conv, 1))[1] === 1;
}

/**
 * Scales a convolution's weights (its input 1) or biases (2) in place.
 * @param by the factor for an outgoing and an incoming channel
 */
function scale(network: Network, conv: Node, at: 1 | 2, by: (out: number, channel: number) => number): void {
  const name = inputOf(conv, at);
  const dims = dimsOf(network, name);
  const values = valuesOf(network, name);
  const [outs = 1, channels = 1] = dims;
  const size = values.length / outs;
  const scaled = values.map(
    (value, i) => value * by(Math.floor(i / size), Math.floor(((i % size) * channels) / size)),
  );
  conv.input[at] = putFloats(network, `${name}_even`, dims, scaled);
}

/** An 8-bit tensor; `names` are the graph's names of its bytes, scale and zero point. */
interface Bytes {
  names: [string, string, string];
  scale: number;
}

/**
 * The network with the convolutions of IN_BYTES in 8 bits, each with the Relu after it: bytes end at 0 of
 * themselves.
 */
function quantized(network: Network): Network {
  const relus = new Map(
    network.nodes.filter(({ opType }) => opType === "Relu").map((node) => [inputOf(node), outputOf(node)]),
  );
  const resultOf = (node: Node) => relus.get(outputOf(node)) ?? outputOf(node);
  const isInBytes = (node: Node) => node.opType === "Conv" && IN_BYTES.has(resultOf(node));
  const convs = network.nodes.filter(isInBytes);
  const ranges = rangesOf(network, new Set(convs.flatMap((node) => [inputOf(node), resultOf(node)])));
  const means = meansOf(network, new Set(convs.map((node) => inputOf(node))));
  const to: Network = { nodes: [], constants: network.constants };
  const known = new Map<string, Bytes>();
  const floats = new Set<string>();
  const declare = (name: string): Bytes => {
    const [lowest, highest] = ranges.get(name) as [number, number];
    const scale = Math.fround((highest - lowest) / 255);
    const zero = Math.round(-lowest / scale);
    const bytes: Bytes = {
      names: [
        `${name}_q`,
        putFloats(to, `${name}_scale`, [], Float32Array.of(scale)),
        put(to, `${name}_zero`, TYPES.UINT8, [], Uint8Array.of(zero)),
      ],
      scale,
    };
    known.set(name, bytes);
    return bytes;
  };
  const bytesOf = (name: string): Bytes => {
    const made = known.get(name);
    if (made) return made;
    const bytes = declare(name);
    const [output, ...parameters] = bytes.names;
    to.nodes.push({ opType: "QuantizeLinear", input: [name, ...parameters], output: [output] });
    floats.add(name);
    return bytes;
  };
  const makeFloat = (name: string) => {
    const bytes = known.get(name);
    if (!bytes || floats.has(name)) return;
    to.nodes.push({ opType: "DequantizeLinear", input: bytes.names, output: [name] });
    floats.add(name);
  };
  const done = new Set<string>();
  for (const node of network.nodes) {
    if (isInBytes(node)) {
      const mean = means.get(inputOf(node)) as Float32Array;
      addConvolution(to, node, { ...bytesOf(inputOf(node)), mean }, declare(resultOf(node)));
      if (resultOf(node) !== outputOf(node)) done.add(resultOf(node));
    } else if (!done.has(outputOf(node))) {
      for (const name of node.input) makeFloat(name);
      to.nodes.push(node);
    }
  }
  return to;
}

function put(to: Network, name: string, dataType: number, dims: number[], values: ArrayBufferView): string {
  to.constants.set(name, constant(name, dataType, dims, values));
  return name;
}

/** The ranges of tensors, each including 0. */
function rangesOf(network: Network, tensors: Set<string>): Map<string, [number, number]> {
  const names = [...tensors];
  const lowest = measured(network, names, "ReduceMin");
  const highest = measured(network, names, "ReduceMax");
  const quantile = (found: Float32Array[][], at: number, part: number) => {
    const sorted = found.map((picture) => Number(picture[at]?.[0])).toSorted((a, b) => a - b);
    return sorted[Math.round(part * (sorted.length - 1))] as number;
  };
  return new Map(
    names.map((name, at) => [
      name,
      [Math.min(0, quantile(lowest, at, 1 - RANGE_PART)), Math.max(1e-6, quantile(highest, at, RANGE_PART))],
    ]),
  );
}

/** The mean of each channel of tensors. */
function meansOf(network: Network, tensors: Set<string>): Map<string, Float32Array> {
  const found = measured(network, [...tensors], "ReduceMean", [0, 2, 3]);
  const mean = (at: number) =>
    Float32Array.from(
      found[0]?.[at] ?? [],
      (_, channel) => found.reduce((sum, picture) => sum + Number(picture[at]?.[channel]), 0) / found.length,
    );
  return new Map([...tensors].map((name, at) => [name, mean(at)]));
}

/**
 * @param input with the means of its channels, by which biases make up for what rounding the weights adds or
 *   takes on average
 */
function addConvolution(to: Network, conv: Node, input: Bytes & { mean: Float32Array }, result: Bytes): void {
  const [, weight = "", bias = ""] = conv.input;
  const weights = valuesOf(to, weight);
  const biases = valuesOf(to, bias);
  const size = weights.length / biases.length;
  const channels = dimsOf(to, weight)[1] as number;
  const scales = Float32Array.from(biases, (_, out) => {
    const own = weights.subarray(out * size, (out + 1) * size);
    const greatest = own.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    // Convolutions of one channel add in 32 bits everywhere.
    const pair = readsOneChannel(to, conv) ? 0 : greatestPair(own, channels);
    return Math.max(1e-8, greatest / GREATEST_WEIGHT, pair / GREATEST_PAIR);
  });
  const scaleOf = (out: number) => scales[out] as number;
  const inBytes = Int8Array.from(weights, (value, i) => Math.round(value / scaleOf(Math.floor(i / size))));
  for (const [i, value] of weights.entries()) {
    const out = Math.floor(i / size);
    const channel = channels === 1 ? out : Math.floor(((i % size) * channels) / size);
    const lost = value - (inBytes[i] as number) * scaleOf(out);
    biases[out] = (biases[out] as number) + lost * (input.mean[channel] as number);
  }
  // Biases use the scale of the sums they are added to.
  const sums = Int32Array.from(biases, (value, out) => Math.round(value / (input.scale * scaleOf(out))));
  const [bytes, ...parameters] = result.names;
  const constants = [
    put(to, `${weight}_q`, TYPES.INT8, dimsOf(to, weight), inBytes),
    putFloats(to, `${weight}_scale`, [scales.length], scales),
    put(to, `${weight}_zero`, TYPES.INT8, [scales.length], new Int8Array(scales.length)),
    ...parameters,
    put(to, `${bias}_q`, TYPES.INT32, [sums.length], sums),
  ];
  const node = { opType: "QLinearConv", input: [...input.names, ...constants], output: [bytes] };
  to.nodes.push({ ...node, attribute: conv.attribute });
}

/**
 * The greatest sum of two neighbouring weights of one sign, in either layout: channels apart, or those of a
 * pixel together.
 */
function greatestPair(weights: Float32Array, channels: number): number {
  const pixels = weights.length / channels;
  const together = weights.map(
    (_, i) => weights[(i % channels) * pixels + Math.floor(i / channels)] as number,
  );
  let greatest = 0;
  for (const order of [weights, together]) {
    for (let i = 0; i + 1 < order.length; i += 2) {
      const [one, other] = [order[i] as number, order[i + 1] as number];
      const positive = Math.max(0, one) + Math.max(0, other);
      greatest = Math.max(greatest, positive, positive - one - other);
    }
  }
  return greatest;
}
