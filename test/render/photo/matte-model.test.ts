import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { judged } from "../../../src/app/operations/doctor/check-matte.ts";
import type { Cutout } from "../../../src/core/card.ts";
import {
  checkMatteModel,
  type MatteModel,
  matteNetwork,
  tryMatteModel,
} from "../../../src/render/photo/matte-model.ts";
import { NETWORK_FILES } from "../../../src/render/photo/network-files.ts";
import { loadOnnxRuntime, packagedRuntime } from "../../../src/render/photo/onnx-runtime.ts";
import { openPhotoCutter, visionOf } from "../../../src/render/photo/photo.ts";
import { toolsOf } from "../../../src/render/tools.ts";
import { rendererOptions } from "../../../src/service/renderer-options.ts";
import { openDataFolder } from "../../../src/system/data-folder.ts";
import { testConfig } from "../../harness.ts";
import { fixedSalientNetwork, meanNetwork } from "./onnx-files.ts";
import { openLab } from "./photo-lab.ts";

const runtime = packagedRuntime();
const photo = join(import.meta.dir, "../../photos/astronaut.png");
let lab: Awaited<ReturnType<typeof openLab>>;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "cardpress-matte-"));
  lab = await openLab();
});

afterAll(async () => {
  await lab?.close();
  rmSync(folder, { recursive: true });
});

function fileOf(name: string, bytes: Uint8Array | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

async function cutoutWith(model: MatteModel | null): Promise<Cutout> {
  const cutter = await openPhotoCutter(lab.browser, runtime, model);
  const result = await cutter.cutOut(photo);
  await cutter.close();
  if (!result.ok) throw new Error(result.reason);
  return result.cutout;
}

test("the operator's network cuts the player out in place of the built-in one, with the same rules around it", async () => {
  const builtIn = await cutoutWith(null);
  const same = await cutoutWith(await checkMatteModel(NETWORK_FILES.salient, runtime));
  expect(Bun.hash(same.bytes)).toBe(Bun.hash(builtIn.bytes));

  // One exported for 320 x 320 alone sees the photo squeezed, and its answer is laid back over the photo.
  const squeezed = await cutoutWith(
    await checkMatteModel(fileOf("fixed.onnx", await fixedSalientNetwork()), runtime),
  );
  const [one, other] = await Promise.all([lab.pixelsOf(builtIn.bytes), lab.pixelsOf(squeezed.bytes)]);
  const solid = ({ rgba }: { rgba: Uint8ClampedArray }) =>
    rgba.filter((value, i) => i % 4 === 3 && value > 128).length;
  expect(Math.abs(solid(other) / solid(one) - 1)).toBeLessThan(0.03);
  expect(Math.abs(squeezed.framing.head.x - builtIn.framing.head.x)).toBeLessThan(12);
});

test("a network that sees nothing leaves its mark: the built-in one is not asked behind its back", async () => {
  const blind = await checkMatteModel(fileOf("mean.onnx", meanNetwork(64, "chances")), runtime);
  const { bytes } = await cutoutWith(blind);
  expect(Bun.hash(bytes)).not.toBe(Bun.hash((await cutoutWith(null)).bytes));
});

test("cutouts and receipts tell one network from another by the hash of its file", async () => {
  const model = await checkMatteModel(NETWORK_FILES.salient, runtime);
  const bytes = await Bun.file(NETWORK_FILES.salient).bytes();
  expect(model.sha256).toBe(new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
  expect(visionOf(model)).toBe(`${visionOf(null)}-${model.sha256.slice(0, 16)}`);
  expect(await toolsOf(lab.browser, model)).toMatchObject({ matte_model_sha256: model.sha256 });
  expect(await toolsOf(lab.browser)).not.toHaveProperty("matte_model_sha256");
});

test("a large network is read as BiRefNet where it answers log odds, and as IS-Net where it answers chances", async () => {
  const ort = loadOnnxRuntime(runtime);
  const grey = { rgb: new Uint8Array(3 * 640 * 640).fill(51), width: 640, height: 640 };
  const answers = (["odds", "chances"] as const).map((answer) => {
    const network = matteNetwork(ort.open(meanNetwork(640, answer), 1));
    const [first, again] = [network.run(grey), network.run(grey)];
    expect(again[0]).toBe(first[0] as number);
    return [network.kind(), first[0]];
  });
  // (0.2 - mean) / deviation of each channel of ImageNet; and 0.2 - 0.5 of a sixth for IS-Net.
  const odds = (0.2 - 0.485) / 0.229 / 3 + (0.2 - 0.456) / 0.224 / 3 + (0.2 - 0.406) / 0.225 / 3;
  const chance = (value: number) => 1 / (1 + Math.exp(-value));
  expect(answers).toEqual([
    ["birefnet", expect.closeTo(chance(odds), 4)],
    ["isnet", expect.closeTo(chance(-0.3), 4)],
  ]);
});

test("a wrong file ends the start with what is wrong with it and what to name instead", async () => {
  const missing = join(folder, "missing.onnx");
  const wrong: [path: string, problem: string][] = [
    [missing, "there is no such file"],
    [folder, "it is a folder"],
    [fileOf("page.onnx", "<!doctype html><title>Not found</title>"), "it does not load"],
    [
      fileOf("grey.onnx", meanNetwork(64, "odds", [1, 4, 64, 64])),
      "it must have one of [1, 3, height, width]",
    ],
    [fileOf("large.onnx", meanNetwork(2048, "odds")), "its input is 2048 x 2048"],
  ];
  for (const [path, problem] of wrong) {
    const refused = checkMatteModel(path, runtime);
    await expect(refused).rejects.toThrow(`CARDPRESS_MATTE_MODEL is ${path}: `);
    await expect(refused).rejects.toThrow(problem);
    await expect(refused).rejects.toThrow("or unset it to use the built-in network");
  }
  const dir = join(folder, "data");
  mkdirSync(dir);
  const config = testConfig(dir, { CARDPRESS_MATTE_MODEL: missing });
  await expect(rendererOptions(config, openDataFolder(dir))).rejects.toThrow("CARDPRESS_MATTE_MODEL");
});

test("a worker takes no other file than the one the service started with", async () => {
  const path = fileOf("changing.onnx", meanNetwork(64, "chances"));
  const model = await checkMatteModel(path, runtime);
  writeFileSync(path, meanNetwork(64, "odds"));
  await expect(openPhotoCutter(lab.browser, runtime, model)).rejects.toThrow("has changed since the service");
});

test("doctor runs the network, reports its kind, time and memory, and what they mean", async () => {
  const trial = await tryMatteModel(NETWORK_FILES.salient, runtime);
  expect(trial).toMatchObject({ kind: "u2net", size: null, sees: true });
  expect(trial.runMs).toBeGreaterThan(0);
  const usual = { ...trial, runMs: 900, memoryBytes: 300 * 1024 ** 2 };
  const limit = 1_600 * 1024 ** 2;
  expect(judged(usual, limit)).toMatchObject({ status: "ok", message: expect.stringContaining("U^2-Net") });
  expect(judged({ ...usual, runMs: 12_000 }, limit).status).toBe("warning");
  expect(judged({ ...usual, runMs: 25_000 }, limit).status).toBe("failed");
  expect(judged({ ...usual, memoryBytes: 3_000 * 1024 ** 2 }, limit).message).toContain(
    "CARDPRESS_WORKER_MEMORY_MB=3800",
  );
  expect(judged({ ...usual, sees: false }, limit).message).toContain("is not a matte network");
});
