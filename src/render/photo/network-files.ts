// @ts-nocheck The compiler reads these imports as modules; the runtime gives the path to the file.
// They are static, so that a compiled cardpress carries every file with it.
import bodyParts from "./models/body_parts_int8.onnx.zst" with { type: "file" };
import faceDetector from "./models/face_detector.onnx.zst" with { type: "file" };
import heavyPoseLandmarks from "./models/heavy_pose_landmarks.onnx.zst" with { type: "file" };
import personDetector from "./models/person_detector.onnx.zst" with { type: "file" };
import personMask from "./models/person_mask.onnx.zst" with { type: "file" };
import poseLandmarks from "./models/pose_landmarks.onnx.zst" with { type: "file" };
import salient from "./models/u2netp_int8.onnx" with { type: "file" };

/** The beginning of the SHA-256 of all network files in a row, sorted by name; a test compares it. */
export const NETWORKS_DIGEST = "f7952c8685be0824";

const FILES = {
  bodyParts,
  heavyPoseLandmarks,
  faceDetector,
  personDetector,
  personMask,
  poseLandmarks,
  salient,
};

/** The network files. NOTICE gives the origin and licence of each. */
export const NETWORK_FILES: Record<keyof typeof FILES, string> = FILES;
