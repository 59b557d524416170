// @ts-nocheck The compiler reads these imports as modules; the runtime gives their text, or a path to the file.
// They are static, so that a compiled cardpress carries every file with it.
import belongings from "./page/belongings.js" with { type: "text" };
import bodyEnd from "./page/body_end.js" with { type: "text" };
import bodyParts from "./page/body_parts.js" with { type: "text" };
import byFace from "./page/by_face.js" with { type: "text" };
import checkPlayer from "./page/check_player.js" with { type: "text" };
import company from "./page/company.js" with { type: "text" };
import cutOut from "./page/cut_out.js" with { type: "text" };
import decode from "./page/decode.js" with { type: "text" };
import detectors from "./page/detectors.js" with { type: "text" };
import dieCut from "./page/die_cut.js" with { type: "text" };
import dilate from "./page/dilate.js" with { type: "text" };
import distant from "./page/distant.js" with { type: "text" };
import examine from "./page/examine.js" with { type: "text" };
import exposure from "./page/exposure.js" with { type: "text" };
import findPlayer from "./page/find_player.js" with { type: "text" };
import focus from "./page/focus.js" with { type: "text" };
import framing from "./page/framing.js" with { type: "text" };
import grade from "./page/grade.js" with { type: "text" };
import head from "./page/head.js" with { type: "text" };
import isPlayer from "./page/is_player.js" with { type: "text" };
import masks from "./page/masks.js" with { type: "text" };
import matte from "./page/matte.js" with { type: "text" };
import networks from "./page/networks.js" with { type: "text" };
import ownParts from "./page/own_parts.js" with { type: "text" };
import partsFaults from "./page/parts_faults.js" with { type: "text" };
import pixels from "./page/pixels.js" with { type: "text" };
import playerMasks from "./page/player_masks.js" with { type: "text" };
import prominence from "./page/prominence.js" with { type: "text" };
import quality from "./page/quality.js" with { type: "text" };
import rects from "./page/rects.js" with { type: "text" };
import reducedJpeg from "./page/reduced_jpeg.js" with { type: "text" };
import rivals from "./page/rivals.js" with { type: "text" };
import salientPage from "./page/salient.js" with { type: "text" };
import scores from "./page/scores.js" with { type: "text" };
import sharedFile from "./page/shared_file.js" with { type: "text" };
import signs from "./page/signs.js" with { type: "text" };
import steps from "./page/steps.js" with { type: "text" };
import upright from "./page/upright.js" with { type: "text" };

/** The page's own modules by name: their text. */
export const PAGE_MODULES: Record<string, string> = {
  "belongings.js": belongings,
  "body_end.js": bodyEnd,
  "body_parts.js": bodyParts,
  "by_face.js": byFace,
  "check_player.js": checkPlayer,
  "company.js": company,
  "cut_out.js": cutOut,
  "decode.js": decode,
  "die_cut.js": dieCut,
  "detectors.js": detectors,
  "dilate.js": dilate,
  "distant.js": distant,
  "examine.js": examine,
  "exposure.js": exposure,
  "find_player.js": findPlayer,
  "focus.js": focus,
  "framing.js": framing,
  "grade.js": grade,
  "head.js": head,
  "is_player.js": isPlayer,
  "masks.js": masks,
  "matte.js": matte,
  "networks.js": networks,
  "own_parts.js": ownParts,
  "parts_faults.js": partsFaults,
  "pixels.js": pixels,
  "player_masks.js": playerMasks,
  "prominence.js": prominence,
  "quality.js": quality,
  "rects.js": rects,
  "reduced_jpeg.js": reducedJpeg,
  "rivals.js": rivals,
  "salient.js": salientPage,
  "scores.js": scores,
  "shared_file.js": sharedFile,
  "signs.js": signs,
  "steps.js": steps,
  "upright.js": upright,
};
