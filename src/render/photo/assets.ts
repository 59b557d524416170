// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.
import litert from "@litertjs/core" with { type: "file" };
import litertCompat from "@litertjs/core/wasm/litert_wasm_compat_internal.js" with { type: "file" };
import litertCompatWasm from "@litertjs/core/wasm/litert_wasm_compat_internal.wasm" with { type: "file" };
import litertRuntime from "@litertjs/core/wasm/litert_wasm_internal.js" with { type: "file" };
import litertRuntimeWasm from "@litertjs/core/wasm/litert_wasm_internal.wasm" with { type: "file" };
import litertUtils from "@litertjs/wasm-utils" with { type: "file" };
import faceDetector from "@mediapipe/face_detection/face_detection_full_range_sparse.tflite" with {
  type: "file",
};
import poseLandmarks from "@mediapipe/pose/pose_landmark_full.tflite" with { type: "file" };
import carefulPoseLandmarks from "@mediapipe/pose/pose_landmark_heavy.tflite" with { type: "file" };
// The archive holds one file with nothing around it: BlazePose's person detector.
import personDetector from "@mediapipe/pose/pose_solution_packed_assets.data" with { type: "file" };
import personMask from "@mediapipe/selfie_segmentation/selfie_segmentation.tflite" with { type: "file" };
import onnxWasm from "onnxruntime-web/ort-wasm-simd-threaded.wasm" with { type: "file" };
import onnx from "onnxruntime-web/wasm" with { type: "file" };
import salient from "./models/u2netp_int8.onnx" with { type: "file" };
import cutOut from "./page/cut_out.js" with { type: "text" };
import decode from "./page/decode.js" with { type: "text" };
import detectors from "./page/detectors.js" with { type: "text" };
import edge from "./page/edge.js" with { type: "text" };
import edgeColours from "./page/edge_colours.js" with { type: "text" };
import examine from "./page/examine.js" with { type: "text" };
import exposure from "./page/exposure.js" with { type: "text" };
import findPlayer from "./page/find_player.js" with { type: "text" };
import framing from "./page/framing.js" with { type: "text" };
import guidedFilter from "./page/guided_filter.js" with { type: "text" };
import masks from "./page/masks.js" with { type: "text" };
import matte from "./page/matte.js" with { type: "text" };
import networks from "./page/networks.js" with { type: "text" };
import quality from "./page/quality.js" with { type: "text" };
import rivals from "./page/rivals.js" with { type: "text" };
import salientPage from "./page/salient.js" with { type: "text" };
import studio from "./page/studio.js" with { type: "text" };
import upright from "./page/upright.js" with { type: "text" };

/** The page's own modules by name: their text. */
export const PAGE_MODULES: Record<string, string> = {
  "cut_out.js": cutOut,
  "decode.js": decode,
  "detectors.js": detectors,
  "edge.js": edge,
  "edge_colours.js": edgeColours,
  "examine.js": examine,
  "exposure.js": exposure,
  "find_player.js": findPlayer,
  "framing.js": framing,
  "guided_filter.js": guidedFilter,
  "masks.js": masks,
  "matte.js": matte,
  "networks.js": networks,
  "quality.js": quality,
  "rivals.js": rivals,
  "salient.js": salientPage,
  "studio.js": studio,
  "upright.js": upright,
};

/** Runtimes and networks by their address in the page: the path of the file. */
export const ASSET_PATHS: Record<string, string> = {
  "/litert/index.js": litert,
  "/litert/utils.js": litertUtils,
  "/litert/litert_wasm_internal.js": litertRuntime,
  "/litert/litert_wasm_internal.wasm": litertRuntimeWasm,
  "/litert/litert_wasm_compat_internal.js": litertCompat,
  "/litert/litert_wasm_compat_internal.wasm": litertCompatWasm,
  "/models/face_detector.tflite": faceDetector,
  "/models/person_detector.tflite": personDetector,
  "/models/person_mask.tflite": personMask,
  "/models/pose_landmarks.tflite": poseLandmarks,
  "/models/pose_landmarks_heavy.tflite": carefulPoseLandmarks,
  "/models/salient.onnx": salient,
  "/onnx/ort.js": onnx,
  "/onnx/ort.wasm": onnxWasm,
};
