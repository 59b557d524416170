/**
 * Makes values inside an ONNX network outputs of it, after those it has. The file is a protocol buffer, and such messages
 * merge when they follow each other: what comes last adds to the lists of what came first.
 * @param file the network @param names of float tensors in its graph
 */
export function withOutputs(file: Uint8Array, names: string[]): Uint8Array {
  // ModelProto.graph is field 7; GraphProto.output 12; ValueInfoProto.name 1 and .type 2; TypeProto.tensor_type 1; its elem_type 1.
  const float = field(2, field(1, [1 << 3, FLOAT]));
  const outputs = names.flatMap((name) =>
    field(12, [...field(1, [...new TextEncoder().encode(name)]), ...float]),
  );
  return Buffer.concat([file, Uint8Array.from(field(7, outputs))]);
}

/** TensorProto.DataType. */
const FLOAT = 1;

/** A field with a length, as a protocol buffer has it. */
function field(number: number, bytes: number[]): number[] {
  const varint = (value: number): number[] =>
    value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
  return [...varint((number << 3) | 2), ...varint(bytes.length), ...bytes];
}
