/** Rewrites of ONNX networks that change no result beyond rounding and leave fewer operators to run. */
import { attribute, constant, type Graph, type Node, type Tensor, TYPES } from "./onnx.ts";

/** A constant's values as float32, copied, because its bytes may lie unaligned in the file. */
const floatsOf = (tensor: Tensor | undefined) =>
  new Float32Array(new Uint8Array(tensor?.rawData ?? []).buffer);

/** A graph with its constants by name. */
export interface Network {
  nodes: Node[];
  constants: Map<string, Tensor>;
}

export const inputOf = (node: Node, at = 0) => node.input[at] ?? "";
export const outputOf = (node: Node) => node.output[0] ?? "";
export const dimsOf = ({ constants }: Network, name: string) => (constants.get(name)?.dims ?? []).map(Number);
export const valuesOf = ({ constants }: Network, name: string) => floatsOf(constants.get(name));

export function putFloats(to: Network, name: string, dims: number[], values: Float32Array): string {
  to.constants.set(name, constant(name, TYPES.FLOAT, dims, values));
  return name;
}

/** The network with float32 constants, without the nodes that widen them from 16 bits. */
export function widened(graph: Graph): Network {
  const constants = new Map(graph.initializer.map((tensor) => [tensor.name, tensor]));
  const to: Network = { nodes: [], constants };
  for (const node of graph.node) {
    const tensor = constants.get(inputOf(node));
    const other = constants.get(inputOf(node, 1));
    if (tensor && node.opType === "Cast") putFloats(to, outputOf(node), tensor.dims, widenedFrom(tensor));
    else if (tensor && other && node.opType === "Mul") {
      const scales = floatsOf(other);
      const values = floatsOf(tensor);
      const size = values.length / scales.length;
      const scaled = values.map((value, i) => value * (scales[Math.floor(i / size)] as number));
      putFloats(to, outputOf(node), tensor.dims, scaled);
    } else to.nodes.push(node);
  }
  return to;
}

function widenedFrom({ name, dataType, rawData }: Tensor): Float32Array {
  const { buffer } = new Uint8Array(rawData);
  if (dataType === TYPES.INT16) return Float32Array.from(new Int16Array(buffer));
  if (dataType === TYPES.FLOAT16) return Float32Array.from(new Float16Array(buffer));
  throw new Error(`Constant ${name} is neither float16 nor int16.`);
}

/** Whether a node is a convolution of single pixels: of each channel for itself, or of all of them. */
function isPointwise(to: Network, node: Node | undefined, byChannel: boolean): node is Node {
  const [, channels, height, width] = dimsOf(to, node ? inputOf(node, 1) : "");
  return node?.opType === "Conv" && height === 1 && width === 1 && byChannel === (channels === 1);
}

/**
 * Puts each convolution that scales and shifts channels into the one of single pixels that alone follows it.
 */
export function foldScalings(to: Network): void {
  for (const scaling of to.nodes.filter((node) => isPointwise(to, node, true))) {
    const [next, ...others] = to.nodes.filter(({ input }) => input.includes(outputOf(scaling)));
    if (others.length > 0 || !isPointwise(to, next, false)) continue;
    const [weights, biases] = [valuesOf(to, inputOf(next, 1)), valuesOf(to, inputOf(next, 2))];
    const [scales, shifts] = [valuesOf(to, inputOf(scaling, 1)), valuesOf(to, inputOf(scaling, 2))];
    for (const [i, weight] of weights.entries()) {
      const [to, from] = [Math.floor(i / scales.length), i % scales.length];
      biases[to] = (biases[to] as number) + weight * (shifts[from] as number);
      weights[i] = weight * (scales[from] as number);
    }
    const [weight, bias] = [inputOf(next, 1), inputOf(next, 2)];
    next.input = [
      inputOf(scaling),
      putFloats(to, `${weight}_scaled`, dimsOf(to, weight), weights),
      putFloats(to, `${bias}_scaled`, dimsOf(to, bias), biases),
    ];
    to.nodes.splice(to.nodes.indexOf(scaling), 1);
  }
}

/**
 * Puts a transposed convolution whose steps are as large as its kernel, and the convolution of single pixels
 * after it, into one convolution of single pixels, whose channels are then laid out in squares.
 */
export function foldEnlargements(to: Network): void {
  for (const enlarging of to.nodes.filter(({ opType }) => opType === "ConvTranspose")) {
    const next = to.nodes.find(({ input }) => input[0] === outputOf(enlarging));
    if (!isPointwise(to, next, false)) continue;
    const [from = 0, middle = 0, side = 0, other = 0] = dimsOf(to, inputOf(enlarging, 1));
    const strides = enlarging.attribute?.find(({ name }) => name === "strides")?.ints?.map(Number);
    if (side !== other || strides?.some((stride) => stride !== side)) continue;
    const [first, firstBias] = [valuesOf(to, inputOf(enlarging, 1)), valuesOf(to, inputOf(enlarging, 2))];
    const [second, secondBias] = [valuesOf(to, inputOf(next, 1)), valuesOf(to, inputOf(next, 2))];
    const out = secondBias.length;
    const weights = new Float32Array(side * side * out * from);
    const biases = new Float32Array(side * side * out);
    for (let place = 0; place < side * side; place++) {
      for (let channel = 0; channel < out; channel++) {
        // DepthToSpace takes the channels of one place in the square together.
        const row = place * out + channel;
        biases[row] = secondBias[channel] as number;
        for (let k = 0; k < middle; k++) {
          const factor = second[channel * middle + k] as number;
          biases[row] = (biases[row] as number) + factor * (firstBias[k] as number);
          for (let i = 0; i < from; i++)
            weights[row * from + i] =
              (weights[row * from + i] as number) +
              factor * (first[(i * middle + k) * side * side + place] as number);
        }
      }
    }
    const name = outputOf(enlarging);
    const input = [
      inputOf(enlarging),
      putFloats(to, `${name}_weights`, [biases.length, from, 1, 1], weights),
      putFloats(to, `${name}_biases`, [biases.length], biases),
    ];
    to.nodes.splice(
      to.nodes.indexOf(enlarging),
      1,
      { opType: "Conv", input, output: [name], attribute: [attribute("kernel_shape", [1, 1])] },
      {
        opType: "DepthToSpace",
        input: [name],
        output: [outputOf(next)],
        attribute: [attribute("blocksize", side)],
      },
    );
    to.nodes.splice(to.nodes.indexOf(next), 1);
  }
}
