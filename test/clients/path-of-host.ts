/** A proxy that passes a path of its host on to a service, and has nothing else. */
export function pathOfHost(target: string, path: string) {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // A batch's archive is silent until its first card is there.
    idleTimeout: 240,
    fetch: async (request) => {
      const { pathname, search } = new URL(request.url);
      if (!pathname.startsWith(`${path}/`)) return new Response("nothing of yours", { status: 404 });
      const { method, headers } = request;
      const body = method === "GET" ? null : await request.arrayBuffer();
      return fetch(target + pathname + search, { method, headers, body, redirect: "manual" });
    },
  });
  return { baseUrl: `http://127.0.0.1:${server.port}${path}`, stop: () => server.stop(true) };
}
