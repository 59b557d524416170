/** @type {Promise<import("onnxruntime-web").InferenceSession> | undefined} */
let session;

/**
 * Runs the salient network in the page: some four times slower than in the worker process, for machines on which the
 * native runtime does not load. The runtime and the network are fetched on first use only.
 * @param {Float32Array} values 1 x 3 x height x width
 * @param {{ width: number, height: number }} size
 * @returns {Promise<Float32Array<ArrayBuffer>>} height x width
 */
export async function runSalient(values, size) {
  const ort = await import("onnxruntime-web/wasm");
  session ??= (async () => {
    ort.env.wasm.wasmPaths = { wasm: "/onnx/ort.wasm" };
    ort.env.wasm.numThreads = 1;
    const network = new Uint8Array(await (await fetch("/models/salient.onnx")).arrayBuffer());
    return ort.InferenceSession.create(network, { executionProviders: ["wasm"] });
  })();
  const network = await session;
  const input = new ort.Tensor("float32", values, [1, 3, size.height, size.width]);
  const outputs = await network.run({ [String(network.inputNames[0])]: input });
  const answer = /** @type {Float32Array} */ (outputs[String(network.outputNames[0])]?.data);
  return /** @type {Float32Array<ArrayBuffer>} */ (answer.slice());
}
