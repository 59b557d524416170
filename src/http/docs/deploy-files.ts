// @ts-nocheck The compiler does not know these kinds of files; the runtime gives their text.
// They are static, so that a compiled cardpress carries every file with it.

import caddy from "../../../deploy/Caddyfile" with { type: "text" };
import env from "../../../deploy/cardpress.env" with { type: "text" };
import unit from "../../../deploy/cardpress.service" with { type: "text" };
import nginx from "../../../deploy/nginx.conf" with { type: "text" };

/** What operators put on their servers, by the name it has in deploy/. */
const DEPLOY_FILES: Record<string, string> = {
  Caddyfile: caddy,
  "cardpress.env": env,
  "cardpress.service": unit,
  "nginx.conf": nginx,
};

/** A guide's text with the files themselves where it names them in braces. */
export function withDeployFiles(text: string): string {
  return text.replace(/\{\{file ([\w.]+)\}\}/g, (_, name) => DEPLOY_FILES[name].trimEnd());
}
