// @ts-nocheck The compiler does not know these kinds of files; the runtime gives their text.
// They are static, so that a compiled cardpress carries every file with it.

import caddy from "../../../deploy/Caddyfile" with { type: "text" };
import env from "../../../deploy/cardpress.env" with { type: "text" };
import unit from "../../../deploy/cardpress.service" with { type: "text" };
import control from "../../../deploy/cardpressctl" with { type: "text" };
import nginx from "../../../deploy/nginx.conf" with { type: "text" };

/** Files for operators' servers, by their name in deploy/. */
const DEPLOY_FILES: Record<string, string> = {
  Caddyfile: caddy,
  "cardpress.env": env,
  cardpressctl: control,
  "cardpress.service": unit,
  "nginx.conf": nginx,
};

/** A guide's text with each file name in braces replaced by the file's content. */
export function withDeployFiles(text: string): string {
  return text.replace(/\{\{file ([\w.]+)\}\}/g, (_, name) => DEPLOY_FILES[name].trimEnd());
}
