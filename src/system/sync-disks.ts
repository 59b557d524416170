import { dlopen } from "bun:ffi";

/** Flushes everything written so far to disk: sync(2). One call for any number of files. */
export function syncDisks(): void {
  for (const name of ["libc.so.6", "libc.so"]) {
    try {
      dlopen(name, { sync: { args: [], returns: "void" } }).symbols.sync();
      return;
    } catch {
      // Another libc, or none that can be loaded: the kernel flushes everything within half a minute anyway.
    }
  }
}
