/** The last step of scripts/quantize-salient.ts: the same network with two of its largest tensors handled faster. */
import { onnx } from "../node_modules/onnxruntime-web/lib/onnxjs/ort-schema/protobuf/onnx.js";

const { INT64 } = onnx.TensorProto.DataType;
/** Channels last, which the runtime's 8-bit pooling and scaling are several times faster with, and back. */
const LAST = [0, 2, 3, 1];
const FIRST = [0, 3, 1, 2];

const transposed = (from: string, to: string, perm: number[]) =>
  onnx.NodeProto.create({
    opType: "Transpose",
    input: [from],
    output: [to],
    attribute: [
      onnx.AttributeProto.create({
        name: "perm",
        type: onnx.AttributeProto.AttributeType.INTS,
        ints: perm,
      }),
    ],
  });

/**
 * Where the second stage's answer meets the first one's, it is turned into bytes before it is enlarged, not after the two
 * are joined; and it and the first pooling work with channels last. A fifth less time.
 */
export function quickened(graph: onnx.GraphProto): void {
  const axes = new Uint8Array(new BigInt64Array(LAST.map(BigInt)).buffer);
  graph.initializer.push(
    onnx.TensorProto.create({ name: "last_axes", dataType: INT64, dims: [4], rawData: axes }),
  );
  const create = (node: onnx.INodeProto) => onnx.NodeProto.create(node);
  graph.node = (graph.node as onnx.NodeProto[]).flatMap((node) => {
    const { name, opType, input, attribute } = node;
    const [output = ""] = node.output;
    const custom = { attribute, domain: "com.microsoft" };
    if (name === "Resize_808") {
      return [
        create({ opType: "QuantizeLinear", input: ["1686", "1706_scale", "1706_zero"], output: ["1686_q"] }),
        transposed("1686_q", "1686_last", LAST),
        create({ opType: "Gather", input: [input[3] ?? "", "last_axes"], output: ["1704_last"] }),
        create({
          opType,
          attribute,
          input: ["1686_last", ...input.slice(1, 3), "1704_last"],
          output: ["1705_last"],
        }),
        transposed("1705_last", "1705_q", FIRST),
      ];
    }
    if (name === "Concat_809") {
      const operands = ["1705_q", "1706_scale", "1706_zero", "947_q", "947_scale", "947_zero"];
      const joined = { opType: "QLinearConcat", ...custom, output: ["1706_q"] };
      return [create({ ...joined, input: ["1706_scale", "1706_zero", ...operands] })];
    }
    if (opType === "MaxPool" && input[0] === "947_q") {
      return [
        transposed("947_q", "947_last", LAST),
        create({ opType: "NhwcMaxPool", ...custom, input: ["947_last"], output: [`${output}_last`] }),
        transposed(`${output}_last`, output, FIRST),
      ];
    }
    const isNeedless = output === "947" || (opType === "QuantizeLinear" && output === "1706_q");
    return isNeedless ? [] : [node];
  });
}
