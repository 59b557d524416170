import { whyNotLaunched } from "../../../src/render/browser/launch-failure.ts";

// Asks a browser that starts well why it does not, which takes until it is killed: bun ask-why.ts CHROMIUM
// PROFILES

const [, , path = "", profilesDir = ""] = process.argv;
await whyNotLaunched({ path, args: ["--no-sandbox"], env: process.env, profilesDir });
