/** What a walk through a service's pages found. */
export interface Walk {
  /** The paths that were read, and those of them that are pages, without the base path. */
  paths: string[];
  pages: string[];
  /** Links that fail, and every address of the service that is not under its base path. */
  faults: string[];
}

/** What people wrote, or what the service reads back: no address for a browser. */
const TEXTS = new Set(["value", "placeholder", "title", "alt", "aria-label", "data-path", "data-base"]);
/** Elements whose `href` or `src` the browser opens for the reader. */
const LEADING = new Set(["href", "src", "poster", "back"]);

/**
 * Reads the pages of a service, from `start` on, and every file they lead to, each once. `start` are paths
 * without the base path, as all of the service's own are.
 */
export async function crawl(options: {
  baseUrl: string;
  start: readonly string[];
  /** Paths that were read before. */
  known?: ReadonlySet<string>;
  headers?: Record<string, string>;
}): Promise<Walk> {
  const { baseUrl, start, known = new Set(), headers = {} } = options;
  const { origin, pathname: basePath } = new URL(baseUrl);
  const named = new RegExp(`^${basePath}(?![\\w-])`);
  const isOurs = (path: string) => path.startsWith(`${basePath}/`);
  const seen = new Set(start.map((path) => basePath + path));
  const faults = new Set<string>();
  const pages: string[] = [];
  for (const path of seen) {
    // PDFs are printed by a browser, which the services of most tests have not.
    if (known.has(path.slice(basePath.length)) || path.endsWith(".pdf")) continue;
    const response = await fetch(origin + path, { headers, redirect: "manual" });
    const where = path.slice(basePath.length);
    const lead = response.headers.get("location");
    const addresses = lead === null ? [] : [{ name: "location", address: lead }];
    const type = response.headers.get("content-type") ?? "";
    const text = /text|json|xml/.test(type) ? await response.text() : "";
    for (const rest of text.split(origin).slice(1))
      if (!named.test(rest)) faults.add(`${where} names ${origin}${rest.slice(0, 40)}`);
    if (text.includes(basePath + basePath)) faults.add(`${where} names the base path twice`);
    if (type.startsWith("text/html")) {
      pages.push(where);
      addresses.push(...addressesIn(text));
    }
    for (const [, address = ""] of type.startsWith("text/css") ? text.matchAll(/url\("?([^")]*)/g) : [])
      addresses.push({ name: "src", address });
    if (response.status >= 400 && !start.includes(where)) faults.add(`${where} answers ${response.status}`);
    for (const { name, address } of addresses) {
      const url = new URL(address.replaceAll("&amp;", "&"), origin + path);
      if (url.origin !== origin) continue;
      if (!isOurs(url.pathname)) faults.add(`${where} has ${name}="${address}"`);
      else if (LEADING.has(name) || name === "location") seen.add(url.pathname + url.search);
    }
  }
  return { paths: [...seen].map((path) => path.slice(basePath.length)), pages, faults: [...faults] };
}

/** Every address in a page's attributes: whatever begins with a slash, and whatever leads on. */
function addressesIn(html: string): { name: string; address: string }[] {
  const found: { name: string; address: string }[] = [];
  new HTMLRewriter()
    .on("*", {
      element: ({ attributes }) => {
        for (const [name = "", value = ""] of attributes)
          for (const address of value.split(/,? /))
            if (!TEXTS.has(name) && (LEADING.has(name) || address.startsWith("/")))
              found.push({ name, address });
      },
    })
    .transform(html);
  return found.filter(({ address }) => !/^(data|mailto|javascript):/.test(address));
}
