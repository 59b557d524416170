import { afterAll } from "bun:test";
import { closeSharedBrowsers } from "./shared-browser.ts";

// Loaded before the first test file of a process. Tests launch Chromium, which as root only runs without
// its sandbox.
if (process.getuid?.() === 0 && !process.env.CARDPRESS_ALLOW_ROOT) {
  console.log("Running as root: tests set CARDPRESS_ALLOW_ROOT=1, so Chromium runs without its sandbox.");
  process.env.CARDPRESS_ALLOW_ROOT = "1";
}

// What is said here is done once for all test files of this process.
afterAll(closeSharedBrowsers);
