/** ONNX files for tests, written as protocol buffers: no converter is needed for networks this small. */
import { NETWORK_FILES } from "../../../src/render/photo/network-files.ts";

type Field = [number: number, value: number | string | Uint8Array];

/** A message of fields: numbers as varints, all else with its length. */
function message(...fields: Field[]): Uint8Array {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
  return Uint8Array.from(
    fields.flatMap(([number, value]) => {
      if (typeof value === "number") return [...varint(number << 3), ...varint(value)];
      const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
      return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes];
    }),
  );
}

/** A tensor as a graph declares it (ValueInfoProto); type 1 is a 32-bit float. */
function tensor(name: string, sides: number[], type = 1): Uint8Array {
  const shape = message(...sides.map((side): Field => [1, message([1, side])]));
  return message([1, name], [2, message([1, message([1, type], [2, shape])])]);
}

/** One step of a graph (NodeProto). */
function node(operator: string, from: string, to: string, attributes: Uint8Array[] = []): Uint8Array {
  return message([1, from], [2, to], [4, operator], ...attributes.map((each): Field => [5, each]));
}

/**
 * A network that answers each pixel's mean of its three values: as log odds, as BiRefNet does, or as chances,
 * as IS-Net does.
 * @param side of its square input @param channels of its answer's declaration
 */
export function meanNetwork(
  side: number,
  answer: "odds" | "chances",
  input = [1, 3, side, side],
): Uint8Array {
  // AttributeProto: 2 is an integer, 7 several.
  const axes = message([1, "axes"], [8, 1], [20, 7]);
  const mean = node("ReduceMean", "picture", answer === "odds" ? "mask" : "mean", [axes]);
  const steps = answer === "odds" ? [mean] : [mean, node("Sigmoid", "mean", "mask")];
  const graph = message(
    ...steps.map((step): Field => [1, step]),
    [2, "mean"],
    [11, tensor("picture", input)],
    [12, tensor("mask", [1, 1, side, side])],
  );
  return message([1, 8], [7, graph], [8, message([2, 13])]);
}

/**
 * The built-in salient network, which takes any size, made to take 320 x 320 alone, as upstream's own files
 * do.
 */
export async function fixedSalientNetwork(): Promise<Uint8Array> {
  const bytes = Buffer.from(await Bun.file(NETWORK_FILES.salient).bytes());
  // In a Dimension "any, called h" takes as many bytes as "320".
  const size = Buffer.from(message([1, 320]));
  for (const name of ["h", "w"]) {
    const free = Buffer.from(message([2, name]));
    const named = Buffer.from(message([1, free]));
    for (let at = bytes.indexOf(named); at >= 0; at = bytes.indexOf(named, at)) size.copy(bytes, at + 2);
  }
  return bytes;
}
