/** A path of the console, whatever was asked for: never another site. */
export function ownPath(next: string): string {
  const url = URL.parse(next, "http://own.invalid");
  // Judged after parsing: "/console/..//evil.example" begins well and leads away.
  const isOwn = url?.origin === "http://own.invalid" && url.pathname.startsWith("/console/");
  return isOwn ? url.pathname + url.search : "/console";
}
