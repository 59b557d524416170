// Loaded before every test file. Tests launch Chromium, which as root only runs without its sandbox.
if (process.getuid?.() === 0 && !process.env.CARDPRESS_ALLOW_ROOT) {
  console.log("Running as root: tests set CARDPRESS_ALLOW_ROOT=1, so Chromium runs without its sandbox.");
  process.env.CARDPRESS_ALLOW_ROOT = "1";
}
