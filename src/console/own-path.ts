/** A path of the console, whatever was asked for: never another site. */
export function ownPath(next: string): string {
  const url = URL.parse(next, "http://own.invalid");
  // Checked after parsing: "/console/..//evil.example" has the right prefix and leads elsewhere.
  const isOwn = url?.origin === "http://own.invalid" && url.pathname.startsWith("/console/");
  return isOwn ? url.pathname + url.search : "/console";
}
