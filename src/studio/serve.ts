import { timingSafeEqual } from "node:crypto";
import { Elysia } from "elysia";
import { OperatorError } from "../core/errors.ts";
import type { Random } from "../core/ports.ts";
import { KIT } from "../web/kit.ts";
import { PAGE_HEADERS } from "../web/policy.ts";
import { STUDIO_ASSETS } from "./assets.ts";
import type { PictureRequest } from "./messages.ts";
import { studioPage } from "./page.tsx";
import type { Studio } from "./studio.ts";

export interface RunningStudio {
  /** The address including its token, which grants access to the studio. */
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Longer than cutting out any photo takes, in seconds. */
const IDLE_TIMEOUT_SECONDS = 90;
/** The API's limit for photos. */
const MAX_UPLOAD_BYTES = 16 * 1024 * 1024;

const json = (value: unknown, status = 200) =>
  Response.json(value, { status, headers: { "Cache-Control": "no-store" } });

/**
 * Serves the studio to this machine only, at an unguessable address. Throws an OperatorError when the port
 * cannot be had.
 */
export function serveStudio(studio: Studio, options: { port: number; random: Random }): RunningStudio {
  const token = Buffer.from(options.random.bytes(24)).toString("base64url");
  const server = listen(options.port, {
    hostname: "127.0.0.1",
    port: options.port,
    reusePort: false,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxRequestBodySize: MAX_UPLOAD_BYTES,
    development: false,
    fetch: async (request, bun) => {
      const path = new URL(request.url).pathname;
      const refused = refusal(request, path, token, bun.port ?? 0);
      if (refused) return refused;
      // The event stream is silent until somebody saves.
      if (path.endsWith("/events")) bun.timeout(request, 0);
      return app.fetch(new Request(withoutToken(request, token), request));
    },
  });
  const app = routes(studio, `/${token}`);
  const port = server.port ?? options.port;
  return {
    url: `http://127.0.0.1:${port}/${token}/`,
    port,
    stop: async () => {
      studio.events.close();
      await server.stop(true);
    },
  };
}

function listen(port: number, options: Parameters<typeof Bun.serve>[0]) {
  try {
    return Bun.serve(options);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    const remedy = "Name another with --port; without it a free one is taken.";
    if (code === "EADDRINUSE")
      throw new OperatorError(`Port ${port} of 127.0.0.1 is taken by another program. ${remedy}`);
    if (code === "EACCES") throw new OperatorError(`This user may not listen on port ${port}. ${remedy}`);
    throw cause;
  }
}

/**
 * Other pages in the same browser can send requests here, but they do not know the token and cannot hide
 * their origin, and a host name of theirs that resolves to this machine shows in Host.
 */
function refusal(request: Request, path: string, token: string, port: number): Response | null {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`];
  const host = request.headers.get("host") ?? "";
  if (!hosts.includes(host)) return new Response("This studio answers to 127.0.0.1 only.\n", { status: 421 });
  const origin = request.headers.get("origin");
  if (origin !== null && !hosts.some((name) => origin === `http://${name}`))
    return new Response("Another page asked.\n", { status: 403 });
  const given = Buffer.from(path.split("/")[1] ?? "");
  const wanted = Buffer.from(token);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted))
    return new Response("Open the address that cardpress studio printed: it ends in a token.\n", {
      status: 404,
    });
  return null;
}

function withoutToken(request: Request, token: string): string {
  const url = new URL(request.url);
  url.pathname = url.pathname.slice(token.length + 1) || "/";
  return url.href;
}

function asset(request: Request): Response | undefined {
  const url = new URL(request.url);
  return STUDIO_ASSETS.answer(request, url, {}) ?? KIT.answer(request, url, {});
}

/** What a request of the page must be: an object with these texts. Throws an OperatorError. */
function sent<T>(body: unknown, ...texts: (keyof T & string)[]): T {
  if (body === null || typeof body !== "object" || Array.isArray(body))
    throw new OperatorError("The request is no JSON object. Send it as application/json.");
  for (const name of texts)
    if (typeof (body as Record<string, unknown>)[name] !== "string")
      throw new OperatorError(`The request has no text "${name}".`);
  return body as T;
}

/** What the page sends to one of the studio's requests. */
type Sent<Name extends "compare" | "accept" | "wall" | "saveSample" | "create" | "curl"> = Parameters<
  Studio[Name]
>[0];

function routes(studio: Studio, base: string) {
  const page = () =>
    new Response(studioPage(), {
      headers: {
        "Content-Type": "text/html; charset=utf-8",
        "Cache-Control": "no-store",
        ...PAGE_HEADERS,
        // The address contains the token.
        "Referrer-Policy": "no-referrer",
      },
    });
  return new Elysia()
    .onError(({ error, code }) => {
      if (code === "NOT_FOUND") return json({ error: "There is nothing at this address." }, 404);
      if (code === "PARSE") return json({ error: "The request is not JSON." }, 400);
      if (error instanceof OperatorError) return json({ error: error.message }, 400);
      return json({ error: error instanceof Error ? error.message : String(error) }, 500);
    })
    .get("/", page)
    .get("/assets/*", ({ request }) => asset(request) ?? json({ error: "No such file." }, 404))
    .get("/events", ({ request }) => studio.events.open(request.signal))
    .get("/state", ({ query }) => studio.state(query.template).then((state) => json(state)))
    .get("/style", async ({ query }) => json(await studio.style(String(query.template))))
    .post("/picture", async ({ body }) =>
      json(await studio.picture(sent<PictureRequest>(body, "template"), base)),
    )
    .get("/pictures/:key", ({ params, query }) => studio.file(params.key, query.download))
    .post("/compare", async ({ body }) =>
      json(await studio.compare(sent<Sent<"compare">>(body, "template"), base)),
    )
    .get("/goldens", async ({ query }) => json(await studio.goldens(String(query.template))))
    .post("/accept", async ({ body }) => json(await studio.accept(sent<Sent<"accept">>(body, "template"))))
    .post("/wall", async ({ body }) =>
      json(await studio.wall(sent<Sent<"wall">>(body, "template", "wall", "sample"))),
    )
    .post("/samples", async ({ body }) =>
      json(await studio.saveSample(sent<Sent<"saveSample">>(body, "template", "name", "text"))),
    )
    .post("/photo", async ({ request }) => json(await studio.addPhoto(await request.bytes())), {
      parse: "none",
    })
    .post("/new", async ({ body }) => json(await studio.create(sent<Sent<"create">>(body, "name"))))
    .post("/curl", async ({ body }) =>
      json(await studio.curl(sent<Sent<"curl">>(body, "template", "format"))),
    );
}
