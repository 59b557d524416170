/** How to express each TensorFlow Lite operator in ONNX. */
import { type Attribute, attribute } from "./onnx.ts";
import {
  floats,
  integers,
  isPicture,
  make,
  number,
  type Order,
  permuted,
  type Rewrite,
  read,
  shapeOf,
  TO_FIRST,
  tensorOf,
  transposed,
  valuesOf,
} from "./rewrite.ts";
import type { Table, TfliteOperator } from "./tflite.ts";

interface Operator extends Omit<TfliteOperator, "options"> {
  /** The first input and the first output. */
  x: number;
  y: number;
  options: Table;
}
type Writer = (to: Rewrite, operator: Operator) => void;

/** The order in which a node takes its operands with the fewest transpositions. */
function orderOf(to: Rewrite, indices: number[]): Order {
  const pictures = indices.filter((index) => isPicture(to, index) && to.made.has(index));
  return pictures.length > 0 && pictures.some((index) => to.made.get(index)?.first) ? "first" : "last";
}

/** A node that treats each value independently. */
const elementwise =
  (opType: string, attributes: Attribute[] = [], activation = false): Writer =>
  (to, { inputs, x, y, options }) => {
    const order = orderOf(to, inputs);
    const input = inputs.map((index) => read(to, index, order));
    const operands = opType === "Clip" ? [read(to, x, order), number(to, 0), number(to, 6)] : input;
    make(to, y, order, { opType, input: operands, attribute: attributes }, activation ? options.byte(0) : 0);
  };

/** How far a window of `size` extends beyond the edges so that `from` values give `to`: before and after. */
function padding(isSame: boolean, from: number, to: number, stride: number, size: number): [number, number] {
  const total = isSame ? Math.max(0, (to - 1) * stride + size - from) : 0;
  return [Math.floor(total / 2), Math.ceil(total / 2)];
}

/** The attributes of windows sliding over a picture; padding 0 means "same" in the source. */
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

/** Both kinds of convolution; the depthwise one has one more option before the activation in the source. */
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

/** An enlarging convolution; the source's two forms order their inputs differently. */
const transposedConvolution =
  (places: { x: number; weights: number; bias: number }): Writer =>
  (to, { inputs, y }) => {
    const [x, weights] = [inputs[places.x] as number, inputs[places.weights] as number];
    const kernel = shapeOf(to, weights).slice(1, 3);
    const strides = [1, 2].map((side) => (shapeOf(to, y)[side] as number) / (shapeOf(to, x)[side] as number));
    // Windows that neither overlap nor leave gaps need no padding, so the source's options need not be read.
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

/** @param at the position of the option "align corners"; "half pixel centres" follows it */
const resizing =
  (mode: string, at: number): Writer =>
  (to, { options, x, y }) => {
    if (options.byte(at) !== 0) throw new Error("Aligned corners are not known here.");
    const [batch = 1, height = 1, width = 1, channels = 1] = shapeOf(to, y);
    // When every value is repeated equally often, its copies are the nearest with and without half pixel
    // centres.
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

/** How each source operator is written. */
export const WRITERS: Record<string, Writer> = {
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
