/** Reads and writes ONNX files, for the scripts that produce the networks in src/render/photo/models. */
import { join } from "node:path";
import protobuf from "protobufjs";

export interface Attribute {
  name: string;
  type: number;
  f?: number;
  i?: number;
  s?: Uint8Array;
  floats?: number[];
  ints?: number[];
}

export interface Node {
  opType: string;
  input: string[];
  output: string[];
  name?: string | undefined;
  domain?: string | undefined;
  attribute?: Attribute[] | undefined;
}

export interface Tensor {
  name: string;
  dataType: number;
  dims: number[];
  rawData: Uint8Array;
}

export interface ValueInfo {
  name: string;
  type?: { tensorType: { elemType: number; shape?: { dim: { dimValue?: number; dimParam?: string }[] } } };
}

export interface Graph {
  name: string;
  node: Node[];
  initializer: Tensor[];
  input: ValueInfo[];
  output: ValueInfo[];
}

export interface Model {
  irVersion: number;
  producerName: string;
  graph: Graph;
  opsetImport: { domain?: string; version: number }[];
}

/** The numbers of tensor element types. */
export const TYPES = { FLOAT: 1, UINT8: 2, INT8: 3, INT16: 5, INT32: 6, INT64: 7, FLOAT16: 10 };

const schema = protobuf.loadSync(join(import.meta.dir, "onnx.proto")).lookupType("onnx.ModelProto");

/** 64-bit integers are returned as numbers: none here is near 2^53. */
export function readOnnx(file: Uint8Array): Model {
  return schema.toObject(schema.decode(file), { longs: Number, arrays: true }) as Model;
}

export function writeOnnx(model: Model): Uint8Array {
  return schema.encode(schema.fromObject(model)).finish();
}

/** A node's attribute: integers are stored as such, a string as its bytes. */
export function attribute(name: string, value: number | number[] | string): Attribute {
  if (typeof value === "string") return { name, type: 3, s: new TextEncoder().encode(value) };
  if (typeof value === "number") return { name, type: 2, i: value };
  return { name, type: 7, ints: value };
}

/** A constant from typed values; their byte order is the file's on every machine that Bun supports. */
export function constant(name: string, dataType: number, dims: number[], values: ArrayBufferView): Tensor {
  const rawData = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return { name, dataType, dims, rawData };
}
