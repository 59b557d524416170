/**
 * Rewrites a TensorFlow Lite network as an ONNX one. The former keeps a picture's channels last, the latter's
 * operators expect them before height and width: every tensor exists in the order in which it was created,
 * and also in the other if an operator needs it. Weights are stored in 16 bits; the runtime widens them once,
 * when it loads the network.
 */
import { attribute, type Model, TYPES } from "./onnx.ts";
import { WRITERS } from "./operators.ts";
import { number, type Rewrite, read, shapeOf, source, TO_FIRST, tensorOf } from "./rewrite.ts";
import type { Table, TfliteNetwork, TfliteOperator } from "./tflite.ts";

export interface Conversion {
  name: string;
  network: TfliteNetwork;
  /** The values that bytes 0 and 255 of a picture have for the network. */
  range: [number, number];
  /** The outputs to keep: their new names, and their positions among the network's own. */
  outputs: Record<string, number>;
}

/** The ONNX operator set, of 2021, and the file version. */
const OPSET = 17;
const IR_VERSION = 8;

/**
 * The network with a single input, "rgb" (bytes, 1 x height x width x 3), and the named outputs, channels
 * last as in the source.
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
    // The path of its day: it is part of the files whose SHA-256 NOTICE gives.
    producerName: "cardpress scripts/convert-models.ts",
    graph: {
      name,
      node: to.nodes,
      initializer: [...to.constants.values()],
      input: [described("rgb", TYPES.UINT8, shapeOf(to, input))],
      output: kept.map(({ name, index }) => described(name, TYPES.FLOAT, shapeOf(to, index))),
    },
    opsetImport: [{ version: OPSET }],
  };
}

/** The operators that the kept outputs depend on, in order. */
function neededOperators(network: TfliteNetwork, kept: { index: number }[]): TfliteOperator[] {
  const wanted = new Set(kept.map(({ index }) => index));
  const needed = network.operators.toReversed().filter(({ inputs, outputs }) => {
    if (!outputs.some((output) => wanted.has(output))) return false;
    for (const input of inputs) wanted.add(input);
    return true;
  });
  return needed.reverse();
}

/** Converts bytes to the range the network was trained on. */
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
