import { dlopen } from "bun:ffi";

/** Waits until everything written so far is on the disks: sync(2). One call for any number of files. */
export function syncDisks(): void {
  for (const name of ["libc.so.6", "libc.so"]) {
    try {
      dlopen(name, { sync: { args: [], returns: "void" } }).symbols.sync();
      return;
    } catch {
      // Another libc, or none that can be loaded: the kernel writes everything within half a minute by itself.
    }
  }
}
