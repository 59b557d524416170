import { basePathOf, withoutBasePath } from "../../core/base-path.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { slug } from "./markdown.tsx";

// biome-ignore lint/suspicious/noExplicitAny: parts of an OpenAPI document, which the linters check, not the types.
export type Json = any;

/** One operation of an OpenAPI document. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  operation: Json;
  /** Webhooks are sent to the partner, so there is no request of theirs to show. */
  incoming: boolean;
}

/** Every operation of the API, then every webhook event. */
export function operationsOf(document: OpenApiDocument): Operation[] {
  const basePath = basePathOf(document.servers[0]?.url ?? "");
  const pathOf = (server: string) => {
    const { pathname } = new URL(server);
    return withoutBasePath(pathname, basePath) ?? pathname;
  };
  const of = (group: Json, incoming: boolean): Operation[] =>
    Object.entries<Json>(group).flatMap(([path, item]) =>
      ["post", "get", "patch", "delete"].flatMap((method) =>
        item[method]
          ? [
              {
                id: slug(item[method].operationId.replaceAll(/[A-Z]/g, (letter: string) => `-${letter}`)),
                method,
                path: item.servers ? pathOf(item.servers[0].url) + path : path,
                operation: item[method],
                incoming,
              },
            ]
          : [],
      ),
    );
  return [...of(document.paths, false), ...of(document.webhooks, true)];
}
