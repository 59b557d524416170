/**
 * Reads a TensorFlow Lite network: its tensors, constants and operators, in order. The file is a FlatBuffer;
 * field numbers are from the schema:
 *   https://github.com/tensorflow/tensorflow/blob/master/tensorflow/compiler/mlir/lite/schema/schema.fbs
 */

/** A table in the file: where it starts, and where its field offsets are. */
export class Table {
  constructor(
    private readonly view: DataView,
    private readonly at: number,
  ) {}

  private field(index: number): number {
    const fields = this.at - this.view.getInt32(this.at, true);
    const place = 4 + 2 * index;
    if (place >= this.view.getUint16(fields, true)) return 0;
    const offset = this.view.getUint16(fields + place, true);
    return offset === 0 ? 0 : this.at + offset;
  }

  /** A field's value, or the schema's default for an absent field. */
  byte(index: number, missing = 0): number {
    const at = this.field(index);
    return at === 0 ? missing : this.view.getInt8(at);
  }

  int(index: number, missing = 0): number {
    const at = this.field(index);
    return at === 0 ? missing : this.view.getInt32(at, true);
  }

  private follow(at: number): number {
    return at + this.view.getUint32(at, true);
  }

  table(index: number): Table | null {
    const at = this.field(index);
    return at === 0 ? null : new Table(this.view, this.follow(at));
  }

  tables(index: number): Table[] {
    const [at, length] = this.vector(index);
    return Array.from({ length }, (_, i) => new Table(this.view, this.follow(at + 4 * i)));
  }

  /** Where a vector's items start, and how many there are. */
  private vector(index: number): [number, number] {
    const at = this.field(index);
    if (at === 0) return [0, 0];
    const start = this.follow(at);
    return [start + 4, this.view.getUint32(start, true)];
  }

  ints(index: number): number[] {
    const [at, length] = this.vector(index);
    return Array.from({ length }, (_, i) => this.view.getInt32(at + 4 * i, true));
  }

  shorts(index: number): number[] {
    const [at, length] = this.vector(index);
    return Array.from({ length }, (_, i) => this.view.getUint16(at + 2 * i, true));
  }

  bytes(index: number): Uint8Array {
    const [at, length] = this.vector(index);
    return new Uint8Array(this.view.buffer, this.view.byteOffset + at, length);
  }

  text(index: number): string {
    return new TextDecoder().decode(this.bytes(index));
  }
}

/** Operators by their number in the schema; only those used by these networks. */
const OPERATORS: Record<number, string> = {
  0: "ADD",
  1: "AVERAGE_POOL_2D",
  2: "CONCATENATION",
  3: "CONV_2D",
  4: "DEPTHWISE_CONV_2D",
  5: "DEPTH_TO_SPACE",
  6: "DEQUANTIZE",
  9: "FULLY_CONNECTED",
  14: "LOGISTIC",
  17: "MAX_POOL_2D",
  18: "MUL",
  19: "RELU",
  21: "RELU6",
  22: "RESHAPE",
  23: "RESIZE_BILINEAR",
  25: "SOFTMAX",
  34: "PAD",
  39: "TRANSPOSE",
  40: "MEAN",
  54: "PRELU",
  67: "TRANSPOSE_CONV",
  114: "QUANTIZE",
  117: "HARD_SWISH",
  74: "SUM",
  97: "RESIZE_NEAREST_NEIGHBOR",
  124: "DENSIFY",
};

const FLOAT32 = 0;
const FLOAT16 = 1;
const INT32 = 2;

export interface TfliteTensor {
  name: string;
  shape: number[];
  /** The values of a constant, with float16 widened. Null for computed tensors. */
  constant: Float32Array | Int32Array | null;
  /** Whether the file stores the values as float16. */
  isHalf: boolean;
}

export interface TfliteOperator {
  type: string;
  inputs: number[];
  outputs: number[];
  /** The operator's options, a table of its own type in the schema. */
  options: Table | null;
}

export interface TfliteNetwork {
  tensors: TfliteTensor[];
  operators: TfliteOperator[];
  inputs: number[];
  outputs: number[];
}

/** Throws on an operator or constant type that none of these networks uses. */
export function readTflite(file: Uint8Array): TfliteNetwork {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const model = new Table(view, view.getUint32(0, true));
  const codes = model.tables(1).map((code) => {
    const number = Math.max(code.byte(0), code.int(3));
    const custom = code.text(1);
    const type = custom || OPERATORS[number];
    if (!type) throw new Error(`Operator ${number} is not known here.`);
    return type;
  });
  const [graph] = model.tables(2);
  if (!graph) throw new Error("The file holds no network.");
  const buffers = model.tables(4);
  return {
    tensors: graph.tables(0).map((tensor) => readTensor(tensor, buffers)),
    inputs: graph.ints(1),
    outputs: graph.ints(2),
    operators: graph.tables(3).map((operator) => ({
      type: codes[operator.int(0)] as string,
      inputs: operator.ints(1),
      outputs: operator.ints(2),
      options: operator.table(4),
    })),
  };
}

function readTensor(tensor: Table, buffers: Table[]): TfliteTensor {
  const shape = tensor.ints(0);
  const type = tensor.byte(1);
  const sparsity = tensor.table(6);
  // Copied, because the bytes may be unaligned in the file.
  const bytes = buffers[tensor.int(2)]?.bytes(0).slice() ?? new Uint8Array();
  const described = { name: tensor.text(3), shape, isHalf: type === FLOAT16 };
  if (bytes.length === 0) return { ...described, constant: null };
  if (type === INT32) return { ...described, constant: new Int32Array(bytes.buffer) };
  if (type !== FLOAT32 && type !== FLOAT16) throw new Error(`Tensor ${described.name} has type ${type}.`);
  const values =
    type === FLOAT16 ? Float32Array.from(new Float16Array(bytes.buffer)) : new Float32Array(bytes.buffer);
  return { ...described, constant: sparsity ? densified(values, shape, sparsity) : values };
}

const COMPRESSED = 1;

/**
 * Expands a sparse constant, level by level in traversal order: a dense level counts through its size, a
 * compressed one lists the positions of its values. A level beyond the shape's dimensions is a block inside
 * one of them.
 */
function densified(values: Float32Array, shape: number[], sparsity: Table): Float32Array {
  const order = sparsity.ints(0);
  const blocks = sparsity.ints(1);
  const levels = sparsity.tables(2).map((level) => ({
    isCompressed: level.byte(0) === COMPRESSED,
    size: level.int(1),
    segments: indices(level, 2),
    places: indices(level, 4),
  }));
  const sizes = order.map((dimension) => levels[order.indexOf(dimension)]?.size ?? 1);
  const blockOf = new Map(blocks.map((dimension, i) => [dimension, shape.length + i]));
  const blockSize = (dimension: number) => sizes[order.indexOf(blockOf.get(dimension) ?? -1)] ?? 1;
  const dense = new Float32Array(shape.reduce((a, b) => a * b, 1));
  const at: number[] = Array(order.length).fill(0);
  const place = () =>
    shape.reduce((sum, size, dimension) => {
      const inner = at[blockOf.get(dimension) ?? -1] ?? 0;
      return sum * size + (at[dimension] ?? 0) * blockSize(dimension) + inner;
    }, 0);
  const visit = (depth: number, position: number): void => {
    const level = levels[depth];
    if (!level) {
      dense[place()] = values[position] ?? 0;
      return;
    }
    const dimension = order[depth] ?? 0;
    if (!level.isCompressed) {
      for (let i = 0; i < level.size; i++) {
        at[dimension] = i;
        visit(depth + 1, position * level.size + i);
      }
      return;
    }
    for (let i = level.segments[position] ?? 0; i < (level.segments[position + 1] ?? 0); i++) {
      at[dimension] = level.places[i] ?? 0;
      visit(depth + 1, i);
    }
  };
  visit(0, 0);
  return dense;
}

/** A list of indices, stored as 32, 16 or 8 bits: the union's type precedes its value. */
function indices(level: Table, field: number): number[] {
  const list = level.table(field + 1);
  if (!list) return [];
  const width = level.byte(field);
  return width === 1 ? list.ints(0) : width === 2 ? list.shorts(0) : [...list.bytes(0)];
}
