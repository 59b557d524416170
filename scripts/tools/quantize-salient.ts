/**
 * Writes src/render/photo/models/u2netp_int8.onnx: the salient network with 8-bit weights and activations, a
 * third of the size and half the time of the float one. Takes the float network, which NOTICE says how to
 * obtain:
 *
 *     bun scripts/tools/quantize-salient.ts PATH/u2netp.onnx
 *
 * The scheme is static quantisation with integer operators: real = scale * (byte - zero point), weights as
 * int8 of 7 bits with one scale for each output channel, activations as uint8 with one scale for each tensor,
 * zero points 0, biases as int32. Scales of activations come from the largest value of each tensor over the
 * calibration pictures.
 *   https://onnxruntime.ai/docs/performance/model-optimizations/quantization.html
 *   Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
 *   Inference", 2018
 * The same network, photos, browser and machine give the same file; another processor's float convolutions
 * may move a scale's last digit.
 */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { offerHelp } from "../help.ts";
import { attribute, constant, type Node, readOnnx, type Tensor, TYPES, writeOnnx } from "./models/onnx.ts";
import { calibrationPictures, greatestValues } from "./salient-calibration.ts";

offerHelp(import.meta);

const FLOAT_SHA256 = "29544ea911739b8e6ff91d2baa0741dfa703973c593c97652ad62107f78a461a";
const OUT = join(import.meta.dir, "../../src/render/photo/models/u2netp_int8.onnx");

const { FLOAT, UINT8, INT8, INT32, INT64 } = TYPES;

/**
 * x64 processors without VNNI add two products of uint8 and int8 in 16 bits, where 2 * 255 * 127 saturates
 * and 2 * 255
 * * 64 does not. 7-bit weights are correct on every processor, with the same accuracy; the runtime's own
 *   remedy, session.x64quantprecision, is as slow as the float network, even where VNNI makes it unnecessary.
 */
const GREATEST_WEIGHT = 64;

/**
 * Layers that stay float. The first takes the picture itself, whose dark parts need finer steps than 1/256 of
 * the normalised range (in 8 bits a black helmet got holes), and costs a few milliseconds. In the last two of
 * the second decoder a few channels are so much larger than the rest that a common scale leaves the others
 * only a handful of steps.
 */
const FLOAT_LAYERS = new Set(["Conv_0", "Conv_765", "Conv_787"]);

/**
 * The layer whose one channel is nearly the whole answer, as log odds. In bytes it takes half the time, with
 * empty channels beside it, since with a single one the runtime takes ten times as long. Beyond 8 either way
 * a chance differs from 0 and 1 by less than the bytes of the answer can say.
 */
const ANSWER = { layer: "Conv_945", channels: 16, greatest: 8 };

/**
 * The one concatenation of a float and an 8-bit tensor whose result becomes bytes. Its float part is made
 * bytes before it, at the result's scale, which gives the same values: as floats it would be the largest
 * tensor of the network.
 */
const MIXED_IN_BYTES = new Set(["Concat_809"]);

/**
 * The one pooling that the runtime does not move to the channels-last layout of the convolutions around it,
 * since its input is also used far behind. Left channels first, it has the runtime copy whole tensors to and
 * fro.
 */
const CHANNELS_LAST_POOLS = new Set(["MaxPool_135"]);

const first = (names: string[] | null | undefined) => names?.[0] ?? "";

/** An 8-bit tensor; `names` are the graph's names of its bytes, scale and zero point. */
interface Bytes {
  names: [string, string, string];
  scale: number;
}

/**
 * The graph being rewritten: tensors by their names in the float graph, in the forms, float or 8-bit, made so
 * far.
 */
interface Rewrite {
  greatest: Map<string, number>;
  nodes: Node[];
  initializers: Map<string, Tensor>;
  bytes: Map<string, Bytes>;
  floats: Set<string>;
}

function addConstant(
  to: Rewrite,
  name: string,
  dataType: number,
  dims: number[],
  values: ArrayBufferView,
): string {
  to.initializers.set(name, constant(name, dataType, dims, values));
  return name;
}

function addNode(to: Rewrite, node: Node): void {
  to.nodes.push(node);
}

/** Fixes a tensor's scale. The zero point is 0, since nothing after a Relu is negative. */
function declareBytes(to: Rewrite, name: string): Bytes {
  const greatest = to.greatest.get(name);
  if (greatest === undefined) throw new Error(`no range was measured for tensor ${name}`);
  const scale = Math.fround(Math.max(1e-6, greatest) / 255);
  const scaleName = addConstant(to, `${name}_scale`, FLOAT, [], Float32Array.of(scale));
  const zeroName = addConstant(to, `${name}_zero`, UINT8, [], Uint8Array.of(0));
  const bytes: Bytes = { names: [`${name}_q`, scaleName, zeroName], scale };
  to.bytes.set(name, bytes);
  return bytes;
}

function bytesOf(to: Rewrite, name: string): Bytes {
  const known = to.bytes.get(name);
  if (known) return known;
  const bytes = declareBytes(to, name);
  const [output, ...parameters] = bytes.names;
  addNode(to, { opType: "QuantizeLinear", input: [name, ...parameters], output: [output] });
  return bytes;
}

function makeFloat(to: Rewrite, name: string): void {
  const bytes = to.bytes.get(name);
  if (!bytes || to.floats.has(name)) return;
  addNode(to, { opType: "DequantizeLinear", input: bytes.names, output: [name] });
  to.floats.add(name);
}

const floatsOf = (tensor: Tensor | undefined) =>
  // Copied, because the bytes may be unaligned in the file and floats need a multiple of four.
  new Float32Array(new Uint8Array(tensor?.rawData ?? []).buffer);

/**
 * A convolution and the Relu after it: where the output's zero point is 0, it cannot be negative, so the Relu
 * needs no operator.
 * @param channels at least the convolution's own; those beyond are empty
 */
function addConvolution(
  to: Rewrite,
  conv: Node,
  [bytes, ...parameters]: Bytes["names"],
  channels?: number,
): void {
  const [x = "", weight = "", bias = ""] = conv.input ?? [];
  const input = bytesOf(to, x);
  const [own = 0, ...dims] = (to.initializers.get(weight)?.dims ?? []).map(Number);
  const all = channels ?? own;
  const weights = floatsOf(to.initializers.get(weight));
  const biases = floatsOf(to.initializers.get(bias));
  const size = weights.length / own;
  const scales = new Float32Array(all).fill(1);
  const weightBytes = new Int8Array(all * size);
  for (let channel = 0; channel < own; channel++) {
    const [from, end] = [channel * size, (channel + 1) * size];
    let greatest = 0;
    for (let i = from; i < end; i++) greatest = Math.max(greatest, Math.abs(weights[i] ?? 0));
    const scale = Math.fround(Math.max(1e-8, greatest / GREATEST_WEIGHT));
    for (let i = from; i < end; i++) weightBytes[i] = Math.round((weights[i] ?? 0) / scale);
    scales[channel] = scale;
  }
  // Biases use the scale of the sums they are added to.
  const sums = Int32Array.from(scales, (scale, i) => Math.round((biases[i] ?? 0) / (input.scale * scale)));
  const constants = [
    addConstant(to, `${weight}_q`, INT8, [all, ...dims], weightBytes),
    addConstant(to, `${weight}_scale`, FLOAT, [all], scales),
    addConstant(to, `${weight}_zero`, INT8, [all], new Int8Array(all)),
    ...parameters,
    addConstant(to, `${bias}_q`, INT32, [all], sums),
  ];
  const names = { opType: "QLinearConv", input: [...input.names, ...constants], output: [bytes] };
  addNode(to, { ...names, attribute: conv.attribute ?? [] });
}

/** Adds the layer of the answer in bytes, of which only its own channel is kept, as floats. */
function addAnswer(to: Rewrite, conv: Node): void {
  const name = first(conv.output);
  const parameters = [
    addConstant(to, `${name}_scale`, FLOAT, [], Float32Array.of((2 * ANSWER.greatest) / 255)),
    addConstant(to, `${name}_zero`, UINT8, [], Uint8Array.of(128)),
  ] as const;
  addConvolution(to, conv, [`${name}_all`, ...parameters], ANSWER.channels);
  const [none, one] = [0n, 1n].map((value) =>
    addConstant(to, `${name}_${value}`, INT64, [1], BigInt64Array.of(value)),
  ) as [string, string];
  addNode(to, { opType: "Slice", input: [`${name}_all`, none, one, one], output: [`${name}_q`] });
  addNode(to, { opType: "DequantizeLinear", input: [`${name}_q`, ...parameters], output: [name] });
  to.floats.add(name);
}

/**
 * Adds a max-pooling of bytes in the channels-last layout, between two transpositions that the runtime
 * removes.
 */
function addPoolChannelsLast(to: Rewrite, pool: Node, input: string, output: string): void {
  const transposed = (from: string, name: string, perm: number[]) =>
    addNode(to, { opType: "Transpose", input: [from], output: [name], attribute: [attribute("perm", perm)] });
  const [before, after] = [`${input}_last`, `${output}_last`];
  const node = { opType: "NhwcMaxPool", domain: "com.microsoft", attribute: pool.attribute };
  transposed(input, before, [0, 2, 3, 1]);
  addNode(to, { ...node, input: [before], output: [after] });
  transposed(after, output, [0, 3, 1, 2]);
}

/** Adds a concatenation of float and 8-bit tensors in bytes. */
function addMixedConcat(to: Rewrite, { input, output, attribute }: Node): void {
  const [bytes, ...parameters] = declareBytes(to, first(output)).names;
  const operands = input.flatMap((name) => {
    const known = to.bytes.get(name);
    if (known) return known.names;
    addNode(to, { opType: "QuantizeLinear", input: [name, ...parameters], output: [`${name}_q`] });
    return [`${name}_q`, ...parameters];
  });
  const node = { opType: "QLinearConcat", domain: "com.microsoft", attribute };
  addNode(to, { ...node, input: [...parameters, ...operands], output: [bytes] });
}

/** Adds a node's 8-bit form if its operator has one and its inputs are 8-bit; returns whether it did. */
function addInBytes(to: Rewrite, node: Node): boolean {
  const { opType, input, output, attribute, name: layer = "" } = node;
  if (MIXED_IN_BYTES.has(layer)) {
    addMixedConcat(to, node);
    return true;
  }
  const inputs = input.map((name) => to.bytes.get(name));
  const [picture] = inputs;
  if (!picture) return false;
  const [name = ""] = output;
  if (opType === "Shape") {
    addNode(to, { opType, input: [picture.names[0]], output });
  } else if (opType === "MaxPool" || opType === "Resize") {
    // Neither operator leaves the range of its input.
    const [bytes, ...parameters] = picture.names;
    to.bytes.set(name, { names: [`${name}_q`, ...parameters], scale: picture.scale });
    if (CHANNELS_LAST_POOLS.has(layer)) addPoolChannelsLast(to, node, bytes, `${name}_q`);
    else addNode(to, { opType, input: [bytes, ...input.slice(1)], output: [`${name}_q`], attribute });
  } else if ((opType === "Concat" || opType === "Add") && inputs.every((one) => one !== undefined)) {
    const operands = inputs.flatMap((one) => one.names);
    const [bytes, ...parameters] = declareBytes(to, name).names;
    const ordered = opType === "Concat" ? [...parameters, ...operands] : [...operands, ...parameters];
    const inBytes = { opType: `QLinear${opType}`, domain: "com.microsoft", attribute };
    addNode(to, { ...inBytes, input: ordered, output: [bytes] });
  } else return false;
  return true;
}

/** Rewrites the float network as an 8-bit one with only the first output. */
function quantized(network: Uint8Array, greatest: Map<string, number>): Uint8Array {
  const model = readOnnx(network);
  const { graph } = model;
  const initializers = new Map(graph.initializer.map((tensor) => [tensor.name ?? "", tensor]));
  const to: Rewrite = {
    greatest,
    initializers,
    nodes: [],
    bytes: new Map(),
    floats: new Set([graph.input[0]?.name ?? ""]),
  };
  const relus = new Map(
    graph.node
      .filter(({ opType }) => opType === "Relu")
      .map((node) => [first(node.input), first(node.output)]),
  );
  const done = new Set<string>();
  for (const node of graph.node as Node[]) {
    if (done.has(first(node.output))) continue;
    const relu = relus.get(first(node.output));
    if (node.opType === "Conv" && relu && !FLOAT_LAYERS.has(node.name ?? "")) {
      addConvolution(to, node, declareBytes(to, relu).names);
      done.add(relu);
    } else if (node.name === ANSWER.layer) {
      addAnswer(to, node);
    } else if (!addInBytes(to, node)) {
      for (const name of node.input) makeFloat(to, name);
      addNode(to, node);
      to.floats.add(first(node.output));
    }
  }
  graph.output = graph.output.slice(0, 1);
  // Walks backwards and drops what nothing uses.
  const wanted = new Set([graph.output[0]?.name ?? ""]);
  graph.node = to.nodes.reverse().filter(({ input, output }) => {
    if (!output?.some((name) => wanted.has(name))) return false;
    for (const name of input ?? []) wanted.add(name);
    return true;
  });
  graph.node.reverse();
  graph.initializer = [...initializers.values()].filter(({ name }) => wanted.has(name ?? ""));
  model.opsetImport = [
    // The first version in which MaxPool accepts bytes.
    { domain: "", version: 12 },
    { domain: "com.microsoft", version: 1 },
  ];
  return writeOnnx(model);
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

const path = process.argv[2];
if (!path)
  throw new Error("Give the float network's path: bun scripts/tools/quantize-salient.ts PATH/u2netp.onnx");
const network = readFileSync(path);
if (sha256(network) !== FLOAT_SHA256) throw new Error(`${path} is another file than the one NOTICE names`);
const pictures = await calibrationPictures();
const small = quantized(network, await greatestValues(network, pictures));
writeFileSync(OUT, small);
console.log(`${OUT}: ${small.length} bytes, SHA-256 ${sha256(small)}, from ${pictures.length} pictures`);
process.exit(0);
