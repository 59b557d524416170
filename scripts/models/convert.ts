/**
 * Rewrites a TensorFlow Lite network as an ONNX one. The former keeps a picture's channels last, the latter's operators
 * want them before height and width: every tensor exists in the order in which it was made, and in the other one where
 * an operator asks for it. Weights are kept as halves; the runtime widens them once, when it loads the network.
 */
import { type Attribute, attribute, constant, type Model, type Node, type Tensor, TYPES } from "./onnx.ts";
import type { Table, TfliteNetwork, TfliteOperator, TfliteTensor } from "./tflite.ts";

export interface Conversion {
  name: string;
  network: TfliteNetwork;
  /** What the bytes 0 and 255 of a picture are to the network. */
  range: [number, number];
  /** The outputs that are kept: their new names, and their places among the network's own. */
  outputs: Record<string, number>;
}

/** The version of ONNX's operators, of 2021, and of its files. */
const OPSET = 17;
const IR_VERSION = 8;

/** Constants of fewer values stay as they are: the nodes that widen them would be longer. */
const MIN_HALVES = 64;
/**
 * Constants that halves do not hold exactly are rounded to steps from so many values on. The few small ones would save a
 * fifth of the size and cost half of the accuracy.
 */
const MIN_STEPS = 40_000;

/** Where a tensor of four dimensions has its channels: last, as in the source, or before height and width. */
type Order = "last" | "first";
const TO_FIRST = [0, 3, 1, 2];
const TO_LAST = [0, 2, 3, 1];

/** The network being rewritten. */
interface Rewrite {
  network: TfliteNetwork;
  nodes: Node[];
  constants: Map<string, Tensor>;
  /** Constants that are in the graph, by the name under which they are wide. */
  named: Set<string>;
  /** The names of computed tensors by their number, in the orders in which they exist so far. */
  made: Map<number, Partial<Record<Order, string>>>;
}

const tensorOf = (to: Rewrite, index: number) => to.network.tensors[index] as TfliteTensor;
const shapeOf = (to: Rewrite, index: number) => tensorOf(to, index).shape;
const isPicture = (to: Rewrite, index: number) => shapeOf(to, index).length === 4;

/**
 * The network with one input, "rgb" (bytes, 1 x height x width x 3), and the named outputs, their channels last as in
 * the source.
 */
export function converted({ name, network, range, outputs }: Conversion): Model {
  const to: Rewrite = { network, nodes: [], constants: new Map(), named: new Set(), made: new Map() };
  const [input = 0] = network.inputs;
  addPreparation(to, input, range);
  const kept = Object.entries(outputs).map(([name, at]) => ({ name, index: network.outputs[at] as number }));
  for (const operator of neededOperators(network, kept)) addOperator(to, operator);
  for (const { name, index } of kept) {
    to.nodes.push({ opType: "Identity", input: [read(to, index, "last")], output: [name] });
  }
  const described = (name: string, elemType: number, dims: number[]) => ({
    name,
    type: { tensorType: { elemType, shape: { dim: dims.map((dimValue) => ({ dimValue })) } } },
  });
  return {
    irVersion: IR_VERSION,
    producerName: "cardpress scripts/convert-models.ts",
    graph: {
      name,
      node: to.nodes,
      initializer: [...to.constants.values()],
      input: [described("rgb", TYPES.UINT8, shapeOf(to, input))],
      output: kept.map(({ name, index }) => described(name, TYPES.FLOAT, shapeOf(to, index))),
    },
    opsetImport: [{ domain: "", version: OPSET }],
  };
}

/** What the kept outputs are computed from, in order. */
function neededOperators(network: TfliteNetwork, kept: { index: number }[]): TfliteOperator[] {
  const wanted = new Set(kept.map(({ index }) => index));
  const needed = network.operators.toReversed().filter(({ inputs, outputs }) => {
    if (!outputs.some((output) => wanted.has(output))) return false;
    for (const input of inputs) wanted.add(input);
    return true;
  });
  return needed.reverse();
}

/** From bytes to what the network was trained on. */
function addPreparation(to: Rewrite, input: number, [low, high]: [number, number]): void {
  to.nodes.push(
    { opType: "Cast", input: ["rgb"], output: ["rgb_float"], attribute: [attribute("to", TYPES.FLOAT)] },
    {
      opType: "Transpose",
      input: ["rgb_float"],
      output: ["rgb_first"],
      attribute: [attribute("perm", TO_FIRST)],
    },
    { opType: "Mul", input: ["rgb_first", number(to, (high - low) / 255)], output: ["rgb_scaled"] },
    { opType: "Add", input: ["rgb_scaled", number(to, low)], output: ["rgb_ready"] },
  );
  to.made.set(input, { first: "rgb_ready" });
}

function number(to: Rewrite, value: number): string {
  return put(to, constant(`number_${value}`, TYPES.FLOAT, [], Float32Array.of(value)));
}

function integers(to: Rewrite, values: number[]): string {
  const name = `integers_${values.join("_")}`;
  return put(to, constant(name, TYPES.INT64, [values.length], BigInt64Array.from(values, BigInt)));
}

function put(to: Rewrite, tensor: Tensor): string {
  to.constants.set(tensor.name, tensor);
  return tensor.name;
}

/** A constant's name in the graph: wide, or in 16 bits with nodes that widen it, which the runtime runs once. */
function floats(to: Rewrite, name: string, dims: number[], values: Float32Array): string {
  if (to.named.has(name)) return name;
  to.named.add(name);
  const halves = new Float16Array(values);
  if (values.length >= MIN_HALVES && values.every((value, i) => value === halves[i])) {
    put(to, constant(`${name}_half`, TYPES.FLOAT16, dims, halves));
    widen(to, `${name}_half`, name);
  } else if (values.length >= MIN_STEPS) {
    const { steps, scales } = inSteps(values, dims[0] as number);
    put(to, constant(`${name}_steps`, TYPES.INT16, dims, steps));
    put(to, constant(`${name}_scale`, TYPES.FLOAT, [scales.length, ...dims.slice(1).map(() => 1)], scales));
    widen(to, `${name}_steps`, `${name}_wide`);
    to.nodes.push({ opType: "Mul", input: [`${name}_wide`, `${name}_scale`], output: [name] });
  } else put(to, constant(name, TYPES.FLOAT, dims, values));
  return name;
}

function widen(to: Rewrite, from: string, name: string): void {
  to.nodes.push({ opType: "Cast", input: [from], output: [name], attribute: [attribute("to", TYPES.FLOAT)] });
}

/** Values as whole numbers of 16 bits, with one scale for each of so many equal parts: finer than halves are. */
function inSteps(values: Float32Array, parts: number) {
  const size = values.length / parts;
  const scales = Float32Array.from({ length: parts }, (_, part) => {
    const greatest = values
      .subarray(part * size, (part + 1) * size)
      .reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    return Math.max(greatest, 1e-30) / 32_767;
  });
  const scaleOf = (i: number) => scales[Math.floor(i / size)] as number;
  return { steps: Int16Array.from(values, (value, i) => Math.round(value / scaleOf(i))), scales };
}

/** A tensor's name in the order that is asked for. Those without four dimensions have no order. */
function read(to: Rewrite, index: number, order: Order): string {
  const tensor = tensorOf(to, index);
  if (tensor.constant) return readConstant(to, index, order);
  const made = to.made.get(index);
  if (!made) throw new Error(`Tensor ${tensor.name} is asked for before it is made.`);
  if (!isPicture(to, index)) return made.last as string;
  const known = made[order];
  if (known) return known;
  const other = (order === "first" ? made.last : made.first) as string;
  const name = `t${index}_${order}`;
  const perm = attribute("perm", order === "first" ? TO_FIRST : TO_LAST);
  to.nodes.push({ opType: "Transpose", input: [other], output: [name], attribute: [perm] });
  made[order] = name;
  return name;
}

/** An operand of a sum or product; a list of one value a channel is spread over height and width. */
function readConstant(to: Rewrite, index: number, order: Order): string {
  const { shape, constant: values } = tensorOf(to, index);
  if (!(values instanceof Float32Array)) throw new Error(`Constant ${index} is no operand.`);
  const filled = [1, 1, 1, 1, ...shape].slice(-4);
  if (order === "last") return floats(to, `c${index}`, shape, values);
  return floats(to, `c${index}_first`, permuted(filled, TO_FIRST), transposed(values, filled, TO_FIRST));
}

/** A constant as it stands, or null for what an operator leaves out. */
function valuesOf(to: Rewrite, index: number | undefined): Float32Array | Int32Array | null {
  return index === undefined || index < 0 ? null : tensorOf(to, source(to, index)).constant;
}

/** Constants are widened and made dense by nodes of the source; this is the constant behind those. */
function source(to: Rewrite, index: number): number {
  const maker = to.network.operators.find(({ outputs }) => outputs.includes(index));
  return maker && (maker.type === "DEQUANTIZE" || maker.type === "DENSIFY")
    ? source(to, maker.inputs[0] as number)
    : index;
}

const permuted = (shape: number[], order: number[]) => order.map((from) => shape[from] as number);

function transposed(values: Float32Array, shape: number[], order: number[]): Float32Array {
  const steps = shape.map((_, i) => shape.slice(i + 1).reduce((a, b) => a * b, 1));
  const sizes = permuted(shape, order);
  const strides = permuted(steps, order);
  const result = new Float32Array(values.length);
  const [a = 1, b = 1, c = 1, d = 1] = sizes;
  const [sa = 0, sb = 0, sc = 0, sd = 0] = strides;
  let at = 0;
  for (let i = 0; i < a; i++)
    for (let j = 0; j < b; j++)
      for (let k = 0; k < c; k++)
        for (let l = 0; l < d; l++) result[at++] = values[i * sa + j * sb + k * sc + l * sd] as number;
  return result;
}

/** Adds a node that makes a tensor in the given order, and the activation that the source fuses with it. */
function make(to: Rewrite, index: number, order: Order, node: Omit<Node, "output">, activation = 0): void {
  const name = `t${index}_${isPicture(to, index) ? order : "last"}`;
  const fused = ACTIVATIONS[activation];
  if (fused === undefined) throw new Error(`Activation ${activation} is not known here.`);
  to.nodes.push({ ...node, output: [fused ? `${name}_raw` : name] });
  if (fused) to.nodes.push({ ...fused(to), input: [`${name}_raw`, ...fused(to).input], output: [name] });
  to.made.set(index, { [isPicture(to, index) ? order : "last"]: name });
}

/** Activations by their number in the source's schema: none, Relu, Relu6; their inputs after the first. */
const ACTIVATIONS: Record<number, null | ((to: Rewrite) => Omit<Node, "output">)> = {
  0: null,
  1: () => ({ opType: "Relu", input: [] }),
  3: (to) => ({ opType: "Clip", input: [number(to, 0), number(to, 6)] }),
};

function addOperator(to: Rewrite, operator: TfliteOperator): void {
  if (operator.type === "DEQUANTIZE" || operator.type === "DENSIFY") {
    const [output = 0] = operator.outputs;
    tensorOf(to, output).constant = tensorOf(to, source(to, output)).constant;
    return;
  }
  const write = WRITERS[operator.type];
  if (!write) throw new Error(`Operator ${operator.type} is not known here.`);
  const [x = 0] = operator.inputs;
  const [y = 0] = operator.outputs;
  write(to, { ...operator, x, y, options: operator.options as Table });
}

interface Operator extends Omit<TfliteOperator, "options"> {
  /** The first input and the first output. */
  x: number;
  y: number;
  options: Table;
}
type Writer = (to: Rewrite, operator: Operator) => void;

/** The order in which a node takes its operands without turning more of them than it must. */
function orderOf(to: Rewrite, indices: number[]): Order {
  const pictures = indices.filter((index) => isPicture(to, index) && to.made.has(index));
  return pictures.length > 0 && pictures.some((index) => to.made.get(index)?.first) ? "first" : "last";
}

/** A node that takes each value by itself. */
const elementwise =
  (opType: string, attributes: Attribute[] = [], activation = false): Writer =>
  (to, { inputs, x, y, options }) => {
    const order = orderOf(to, inputs);
    const input = inputs.map((index) => read(to, index, order));
    const operands = opType === "Clip" ? [read(to, x, order), number(to, 0), number(to, 6)] : input;
    make(to, y, order, { opType, input: operands, attribute: attributes }, activation ? options.byte(0) : 0);
  };

/** How far a window of `size` goes over the edges so that `from` values give `to`: before and after. */
function padding(isSame: boolean, from: number, to: number, stride: number, size: number): [number, number] {
  const total = isSame ? Math.max(0, (to - 1) * stride + size - from) : 0;
  return [Math.floor(total / 2), Math.ceil(total / 2)];
}

/** The attributes of windows that slide over a picture; padding 0 is "same" in the source. */
function windows(
  to: Rewrite,
  { x, y }: Operator,
  isSame: boolean,
  kernel: number[],
  strides: number[],
  dilations = [1, 1],
) {
  const [top, bottom, left, right] = [0, 1].flatMap((side) => {
    const size = ((kernel[side] as number) - 1) * (dilations[side] as number) + 1;
    const [from, into] = [x, y].map((index) => shapeOf(to, index)[side + 1] as number);
    return padding(isSame, from as number, into as number, strides[side] as number, size);
  });
  return [
    attribute("kernel_shape", kernel),
    attribute("strides", strides),
    attribute("pads", [top, left, bottom, right] as number[]),
  ];
}

function weightsOf(to: Rewrite, index: number, order: number[]): string {
  const values = valuesOf(to, index);
  const { shape } = tensorOf(to, index);
  if (!(values instanceof Float32Array)) throw new Error(`Tensor ${index} holds no weights.`);
  return floats(to, `w${index}`, permuted(shape, order), transposed(values, shape, order));
}

function biasOf(to: Rewrite, index: number | undefined): string[] {
  const values = valuesOf(to, index);
  return values instanceof Float32Array ? [floats(to, `b${index}`, [values.length], values)] : [];
}

/** Both kinds of convolution; the source's options of the depthwise one have a field more before the activation. */
const convolution =
  (isDepthwise: boolean): Writer =>
  (to, operator) => {
    const { inputs, options, x, y } = operator;
    const [, weights = 0, bias] = inputs;
    const at = isDepthwise ? 4 : 3;
    const [, height = 1, width = 1] = shapeOf(to, weights);
    const dilations = [options.int(at + 2, 1), options.int(at + 1, 1)];
    const strides = [options.int(2), options.int(1)];
    const channels = shapeOf(to, x)[3] as number;
    const node = {
      opType: "Conv",
      input: [
        read(to, x, "first"),
        weightsOf(to, weights, isDepthwise ? [3, 0, 1, 2] : [0, 3, 1, 2]),
        ...biasOf(to, bias),
      ],
      attribute: [
        ...windows(to, operator, options.byte(0) === 0, [height, width], strides, dilations),
        attribute("dilations", dilations),
        attribute("group", isDepthwise ? channels : 1),
      ],
    };
    make(to, y, "first", node, options.byte(at));
  };

/** A convolution that enlarges; the two forms of the source name their inputs in another order. */
const transposedConvolution =
  (places: { x: number; weights: number; bias: number }): Writer =>
  (to, { inputs, y }) => {
    const [x, weights] = [inputs[places.x] as number, inputs[places.weights] as number];
    const kernel = shapeOf(to, weights).slice(1, 3);
    const strides = [1, 2].map((side) => (shapeOf(to, y)[side] as number) / (shapeOf(to, x)[side] as number));
    // Windows that neither overlap nor leave gaps need no padding, and the source's options need not be read.
    if (String(kernel) !== String(strides))
      throw new Error("An enlarging convolution has overlapping windows.");
    const node = {
      opType: "ConvTranspose",
      input: [read(to, x, "first"), weightsOf(to, weights, [3, 0, 1, 2]), ...biasOf(to, inputs[places.bias])],
      attribute: [attribute("kernel_shape", kernel), attribute("strides", strides)],
    };
    make(to, y, "first", node);
  };

const pooling =
  (opType: string): Writer =>
  (to, operator) => {
    const { options, x, y } = operator;
    const kernel = [options.int(4), options.int(3)];
    const strides = [options.int(2), options.int(1)];
    const attributes = windows(to, operator, options.byte(0) === 0, kernel, strides);
    make(to, y, "first", { opType, input: [read(to, x, "first")], attribute: attributes }, options.byte(5));
  };

/** @param at the place of the options "align corners" and, after it, "half pixel centres" */
const resizing =
  (mode: string, at: number): Writer =>
  (to, { options, x, y }) => {
    if (options.byte(at) !== 0) throw new Error("Aligned corners are not known here.");
    const [batch = 1, height = 1, width = 1, channels = 1] = shapeOf(to, y);
    // When every value is repeated as often, its copies are the nearest with and without half pixel centres.
    const centred = options.byte(at + 1) !== 0 && mode !== "nearest";
    if (mode === "nearest" && height % (shapeOf(to, x)[1] as number) !== 0)
      throw new Error("Only whole enlargements to the nearest are known here.");
    const node = {
      opType: "Resize",
      input: [read(to, x, "first"), "", "", integers(to, [batch, channels, height, width])],
      attribute: [
        attribute("mode", mode),
        attribute("coordinate_transformation_mode", centred ? "half_pixel" : "asymmetric"),
        ...(mode === "nearest" ? [attribute("nearest_mode", "floor")] : []),
      ],
    };
    make(to, y, "first", node);
  };

const pad: Writer = (to, { inputs, x, y }) => {
  const pairs = valuesOf(to, inputs[1]) as Int32Array;
  const [before, after] = [0, 1].map((end) =>
    TO_FIRST.map((dimension) => pairs[2 * dimension + end] as number),
  );
  const ends = integers(to, [...(before as number[]), ...(after as number[])]);
  make(to, y, "first", { opType: "Pad", input: [read(to, x, "first"), ends] });
};

const reshape: Writer = (to, { x, y }) => {
  make(to, y, "last", { opType: "Reshape", input: [read(to, x, "last"), integers(to, shapeOf(to, y))] });
};

const transpose: Writer = (to, { inputs, x, y }) => {
  const perm = attribute("perm", [...(valuesOf(to, inputs[1]) as Int32Array)]);
  make(to, y, "last", { opType: "Transpose", input: [read(to, x, "last")], attribute: [perm] });
};

const concatenation: Writer = (to, { inputs, options, y }) => {
  const axis = attribute("axis", options.int(0));
  make(to, y, "last", { opType: "Concat", input: inputs.map((i) => read(to, i, "last")), attribute: [axis] });
};

const sum: Writer = (to, { inputs, options, x, y }) => {
  const axes = integers(to, [...(valuesOf(to, inputs[1]) as Int32Array)]);
  const keep = attribute("keepdims", options.byte(0));
  make(to, y, "last", { opType: "ReduceSum", input: [read(to, x, "last"), axes], attribute: [keep] });
};

const softmax: Writer = (to, { x, y }) => {
  make(to, y, "last", {
    opType: "Softmax",
    input: [read(to, x, "last")],
    attribute: [attribute("axis", -1)],
  });
};

const depthToSpace: Writer = (to, { options, x, y }) => {
  const attributes = [attribute("blocksize", options.int(0)), attribute("mode", "DCR")];
  make(to, y, "first", { opType: "DepthToSpace", input: [read(to, x, "first")], attribute: attributes });
};

const WRITERS: Record<string, Writer> = {
  ADD: elementwise("Add", [], true),
  MUL: elementwise("Mul", [], true),
  RELU: elementwise("Relu"),
  RELU6: elementwise("Clip"),
  LOGISTIC: elementwise("Sigmoid"),
  HARD_SWISH: elementwise("HardSwish"),
  CONV_2D: convolution(false),
  DEPTHWISE_CONV_2D: convolution(true),
  TRANSPOSE_CONV: transposedConvolution({ x: 2, weights: 1, bias: 3 }),
  Convolution2DTransposeBias: transposedConvolution({ x: 0, weights: 1, bias: 2 }),
  MAX_POOL_2D: pooling("MaxPool"),
  AVERAGE_POOL_2D: pooling("AveragePool"),
  RESIZE_BILINEAR: resizing("linear", 2),
  RESIZE_NEAREST_NEIGHBOR: resizing("nearest", 0),
  PAD: pad,
  RESHAPE: reshape,
  TRANSPOSE: transpose,
  CONCATENATION: concatenation,
  SUM: sum,
  SOFTMAX: softmax,
  DEPTH_TO_SPACE: depthToSpace,
};
