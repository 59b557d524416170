import { expect, test } from "bun:test";
import { hasUseForLibraries } from "../../src/render/browser/chromium.ts";
import { explain } from "../../src/render/browser/launch-failure.ts";
import { refuseOldSystem } from "../../src/render/photo/onnx-runtime.ts";
import { glibcVersion } from "../../src/system/c-library.ts";

test("a system too old for the networks' runtime gets its version named and what would do", () => {
  for (const old of ["2.9", "2.23", "2.27"])
    expect(() => refuseOldSystem(old)).toThrow(`needs glibc 2.28 or later, and this system has ${old}`);
  for (const fine of ["2.28", "2.36", "3.0", undefined]) expect(() => refuseOldSystem(fine)).not.toThrow();
});

test("the packaged browser goes by the system's libraries where its own are too new, and says which packages have them", () => {
  expect(["2.28", "2.33", "2.34", "2.41"].map(hasUseForLibraries)).toEqual([false, false, true, true]);
  const words = "chromium: error while loading shared libraries: libnspr4.so: cannot open shared object file";
  expect(explain(words)).toContain("library libnspr4.so");
  expect(explain(words)).toContain("libnss3");
});

test("the version is the one that the system itself reports", () => {
  const reported = Bun.spawnSync(["getconf", "GNU_LIBC_VERSION"]).stdout.toString().trim();
  expect(`glibc ${glibcVersion()}`).toBe(reported);
});
