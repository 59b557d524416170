import { CString, dlopen, type Pointer } from "bun:ffi";

/**
 * The version of glibc this process runs with, such as "2.36"; undefined on systems with another C library,
 * where the single file does not start at all.
 */
export function glibcVersion(): string | undefined {
  try {
    const { symbols } = dlopen("libc.so.6", { gnu_get_libc_version: { args: [], returns: "ptr" } });
    return String(new CString(symbols.gnu_get_libc_version() as Pointer));
  } catch {
    return undefined;
  }
}

/** Whether a version such as "2.9" is older than another, such as "2.34". */
export function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [wantedMajor = 0, wantedMinor = 0] = than.split(".").map(Number);
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor);
}
