/**
 * A network being rewritten: its nodes so far, its constants, and the names under which its tensors exist.
 */
import { attribute, constant, type Node, type Tensor, TYPES } from "./onnx.ts";
import type { TfliteNetwork, TfliteTensor } from "./tflite.ts";

/** Smaller constants stay float32: the nodes to widen them would take more space. */
const MIN_HALVES = 64;
/**
 * Constants of at least this many values that float16 cannot represent exactly are rounded to 16-bit steps.
 * The few smaller ones would save a fifth of the size and cost half of the accuracy.
 */
const MIN_STEPS = 40_000;

/** Where a four-dimensional tensor has its channels: last, as in the source, or before height and width. */
export type Order = "last" | "first";
export const TO_FIRST = [0, 3, 1, 2];
const TO_LAST = [0, 2, 3, 1];

/** The network being rewritten. */
export interface Rewrite {
  network: TfliteNetwork;
  nodes: Node[];
  constants: Map<string, Tensor>;
  /** Constants already in the graph, by their float32 name. */
  named: Set<string>;
  /** The names of computed tensors by their number, in the orders created so far. */
  made: Map<number, Partial<Record<Order, string>>>;
}

export const tensorOf = (to: Rewrite, index: number) => to.network.tensors[index] as TfliteTensor;
export const shapeOf = (to: Rewrite, index: number) => tensorOf(to, index).shape;
export const isPicture = (to: Rewrite, index: number) => shapeOf(to, index).length === 4;

export function number(to: Rewrite, value: number): string {
  return put(to, constant(`number_${value}`, TYPES.FLOAT, [], Float32Array.of(value)));
}

export function integers(to: Rewrite, values: number[]): string {
  const name = `integers_${values.join("_")}`;
  return put(to, constant(name, TYPES.INT64, [values.length], BigInt64Array.from(values, BigInt)));
}

function put(to: Rewrite, tensor: Tensor): string {
  to.constants.set(tensor.name, tensor);
  return tensor.name;
}

/**
 * A constant's name in the graph: float32, or 16-bit with nodes that widen it, which the runtime evaluates
 * once.
 */
export function floats(to: Rewrite, name: string, dims: number[], values: Float32Array): string {
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

/** Values as 16-bit integers, with one scale per equal part, which is finer than float16. */
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

/** A tensor's name in the requested order. Only four-dimensional tensors have an order. */
export function read(to: Rewrite, index: number, order: Order): string {
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

/** An operand of a sum or product; a list of one value per channel is broadcast over height and width. */
function readConstant(to: Rewrite, index: number, order: Order): string {
  const { shape, constant: values } = tensorOf(to, index);
  if (!(values instanceof Float32Array)) throw new Error(`Constant ${index} is no operand.`);
  const filled = [1, 1, 1, 1, ...shape].slice(-4);
  if (order === "last") return floats(to, `c${index}`, shape, values);
  return floats(to, `c${index}_first`, permuted(filled, TO_FIRST), transposed(values, filled, TO_FIRST));
}

/** A constant's values as stored, or null for an omitted operand. */
export function valuesOf(to: Rewrite, index: number | undefined): Float32Array | Int32Array | null {
  return index === undefined || index < 0 ? null : tensorOf(to, source(to, index)).constant;
}

/** In the source, nodes widen constants and make them dense; returns the constant behind those nodes. */
export function source(to: Rewrite, index: number): number {
  const maker = to.network.operators.find(({ outputs }) => outputs.includes(index));
  return maker && (maker.type === "DEQUANTIZE" || maker.type === "DENSIFY")
    ? source(to, maker.inputs[0] as number)
    : index;
}

export const permuted = (shape: number[], order: number[]) => order.map((from) => shape[from] as number);

export function transposed(values: Float32Array, shape: number[], order: number[]): Float32Array {
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

/** Adds a node that creates a tensor in the given order, and the activation the source fuses with it. */
export function make(
  to: Rewrite,
  index: number,
  order: Order,
  node: Omit<Node, "output">,
  activation = 0,
): void {
  const name = `t${index}_${isPicture(to, index) ? order : "last"}`;
  const fused = ACTIVATIONS[activation];
  if (fused === undefined) throw new Error(`Activation ${activation} is not known here.`);
  to.nodes.push({ ...node, output: [fused ? `${name}_raw` : name] });
  if (fused) to.nodes.push({ ...fused(to), input: [`${name}_raw`, ...fused(to).input], output: [name] });
  to.made.set(index, { [isPicture(to, index) ? order : "last"]: name });
}

/**
 * Activations by their number in the source's schema: none, Relu, Relu6; with their inputs after the first.
 */
const ACTIVATIONS: Record<number, null | ((to: Rewrite) => Omit<Node, "output">)> = {
  0: null,
  1: () => ({ opType: "Relu", input: [] }),
  3: (to) => ({ opType: "Clip", input: [number(to, 0), number(to, 6)] }),
};
