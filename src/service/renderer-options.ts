import type { Config } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { findChromium } from "../render/browser/chromium.ts";
import { checkMp4Encoder } from "../render/card/formats/mp4-trial.ts";
import { checkMatteModel, type MatteModel } from "../render/photo/matte-model.ts";
import { findOnnxRuntime } from "../render/photo/onnx-runtime.ts";
import type { RendererOptions } from "../render/protocol.ts";
import type { DataFolder } from "../system/data-folder.ts";

/** Checked once per process: workers compare the file's hash again. */
let checked: MatteModel | undefined;
/** The encoder that was tried, which is known to work. */
let tried: string | undefined;

/**
 * The browser, networks and folders a renderer works with. Throws an OperatorError when running as root
 * without CARDPRESS_ALLOW_ROOT=1, or when CARDPRESS_MATTE_MODEL or CARDPRESS_MP4_ENCODER names an unusable
 * file.
 */
export async function rendererOptions(
  config: Config,
  folder: Pick<DataFolder, "cache" | "profiles" | "cutouts">,
): Promise<RendererOptions> {
  const isRoot = process.getuid?.() === 0;
  if (isRoot && !config.allowRoot) {
    throw new OperatorError(
      "Chromium refuses to run as root with its sandbox. Run cardpress as another user, or set CARDPRESS_ALLOW_ROOT=1 to run Chromium without its sandbox.",
    );
  }
  const onnxRuntime = await findOnnxRuntime(folder.cache);
  const { matteModel, mp4Encoder } = config;
  if (matteModel && checked?.path !== matteModel) checked = await checkMatteModel(matteModel, onnxRuntime);
  if (mp4Encoder !== undefined && tried !== mp4Encoder) {
    await checkMp4Encoder({ encoder: mp4Encoder, scratch: folder.profiles });
    tried = mp4Encoder;
  }
  return {
    chromium: await findChromium({ configuredPath: config.chromiumPath, cacheDir: folder.cache }),
    onnxRuntime,
    matteModel: (matteModel && checked) || null,
    mp4Encoder: mp4Encoder ?? null,
    profilesDir: folder.profiles,
    cutoutsDir: folder.cutouts,
    templatesDir: config.templatesDir ?? null,
    presets: [...config.presets],
    noSandbox: isRoot,
  };
}
