import { insideBasePath, underBasePath } from "../core/base-path.ts";

/** A request as the service reads it, whether or not a proxy took the base path away. */
export function withoutBasePath(request: Request, basePath: string): Request {
  if (basePath === "") return request;
  const url = URL.parse(request.url);
  const inside = url && insideBasePath(url, basePath);
  return inside === url ? request : new Request(inside as URL, request);
}

/** The headers that lead a reader on. */
const LEADING = ["Location", "HX-Redirect"];

/** Has a response lead its reader on under the base path. */
export function addBasePath(response: Response, basePath: string): void {
  if (basePath === "") return;
  const { headers } = response;
  for (const name of LEADING) {
    const address = headers.get(name);
    if (address !== null) headers.set(name, underBasePath(address, basePath));
  }
}
