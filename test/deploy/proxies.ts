import { expect } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { freePort } from "../../src/service/free-port.ts";
import { testFolder } from "../harness.ts";

// The proxies of deploy/, run as they are but for addresses, the certificate and what a test changes.

/** The name in the certificate of the tests. */
export const HOST = "photos.example";
const root = join(import.meta.dir, "../..");
const certificate = join(root, "test/sources/tls/test-only-photos.example.pem");
const certificateKey = join(root, "test/sources/tls/test-only-photos.example.key.pem");

type Change = [from: string, to: string];

interface Place {
  port: number;
  upstream: number;
  host?: string;
  /** The path of the host under which the service is, and whether the proxy takes it away. */
  under?: { path: string; isTakenAway: boolean };
}

export interface Proxy {
  name: string;
  /** Less patience and fewer connections, so that a test meets the bounds. */
  strict: Change[];
  /** What a path of the host changes, as the file's own words on it say. */
  underPath(path: string, isTakenAway: boolean): Change[];
  /** Writes its settings into a folder and gives the command that runs it. */
  prepare(place: Place & { dir: string; host: string }, changes: Change[]): Promise<string[]>;
}

/**
 * A file of deploy/ with each of the given texts replaced; one that is not there is a mistake of this test.
 */
async function adapted(file: string, changes: Change[]): Promise<string> {
  let text = await Bun.file(join(root, "deploy", file)).text();
  for (const [from, to] of changes) {
    expect(text).toContain(from);
    text = text.replaceAll(from, to);
  }
  return text;
}

const nginx: Proxy = {
  name: "nginx",
  strict: [
    ["client_header_timeout 10s", "client_header_timeout 1s"],
    ["client_body_timeout 10s", "client_body_timeout 1s"],
    ["limit_conn cardpress_clients 64", "limit_conn cardpress_clients 2"],
  ],
  underPath: (path, isTakenAway) => [
    ["\tlocation = /", `\tlocation = ${path}/`],
    ["\tlocation / {", `\tlocation ${path}/ {`],
    ["\tlocation /v1/ {", `\tlocation ${path}/v1/ {`],
    ["$host/docs", `$host${path}/docs`],
    ...((isTakenAway
      ? [
          [`${path}/ {\n\t\tproxy_pass http://cardpress;`, `${path}/ {\n\t\tproxy_pass http://cardpress/;`],
          [
            "@too_many;\n\t\tproxy_pass http://cardpress;",
            "@too_many;\n\t\tproxy_pass http://cardpress/v1/;",
          ],
        ]
      : []) as Change[]),
  ],
  prepare: async ({ dir, port, upstream, host }, changes) => {
    const site = await adapted("nginx.conf", [
      ["listen 80;", `listen 127.0.0.1:${await freePort("127.0.0.1")};`],
      ["listen [::]:80;", ""],
      ["listen 443 ssl http2;", `listen 127.0.0.1:${port} ssl http2;`],
      ["listen [::]:443 ssl http2;", ""],
      ["/etc/letsencrypt/live/cards.example.com/fullchain.pem", certificate],
      ["/etc/letsencrypt/live/cards.example.com/privkey.pem", certificateKey],
      ["cards.example.com", host],
      ["127.0.0.1:3000", `127.0.0.1:${upstream}`],
      ...changes,
    ]);
    const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (kind) => `${kind}_temp_path ${dir}/${kind};`,
    );
    mkdirSync(join(dir, "proxy"), { recursive: true });
    writeFileSync(join(dir, "site.conf"), site);
    writeFileSync(
      join(dir, "main.conf"),
      `daemon off; error_log stderr; pid ${dir}/nginx.pid; ${process.getuid?.() === 0 ? "user root;" : ""}
       events {} http { access_log off; ${temp.join(" ")} include ${dir}/site.conf; }`,
    );
    return ["nginx", "-p", dir, "-c", join(dir, "main.conf")];
  },
};

const caddy: Proxy = {
  name: "caddy",
  strict: [
    ["read_header 10s", "read_header 1s"],
    ["read_body 60s", "read_body 1s"],
  ],
  underPath: (path, isTakenAway) => [
    ["\t@inside path /metrics /ready", `\t@inside path ${path}/metrics ${path}/ready`],
    ...((isTakenAway
      ? [
          ["\treverse_proxy {$UPSTREAM", `\thandle_path ${path}/* {\n\treverse_proxy {$UPSTREAM`],
          ["\trespond @inside 404", "\thandle @inside {\n\t\trespond 404\n\t}"],
          ["response_header_timeout 60s\n\t\t}\n\t}", "response_header_timeout 60s\n\t\t}\n\t}\n\t}"],
        ]
      : [
          [
            "\treverse_proxy {$UPSTREAM",
            `\t@cards path ${path} ${path}/*\n\treverse_proxy @cards {$UPSTREAM`,
          ],
        ]) as Change[]),
  ],
  prepare: async ({ dir, port, upstream, host }, changes) => {
    const site = await adapted("Caddyfile", [
      ...changes,
      ["\n{\n\tservers {", "\n{\n\tadmin off\n\tauto_https off\n\tservers {"],
      [
        "cards.example.com {",
        `https://${host}:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${certificateKey}\n`,
      ],
      ["127.0.0.1:3000", `127.0.0.1:${upstream}`],
    ]);
    writeFileSync(join(dir, "Caddyfile"), site);
    return ["caddy", "run", "--config", join(dir, "Caddyfile"), "--adapter", "caddyfile"];
  },
};

export const PROXIES: readonly Proxy[] = [nginx, caddy];

/** Runs a proxy in front of a service, until it is stopped. */
export async function startProxy(proxy: Proxy, place: Place, changes: Change[] = []) {
  const { port, host = HOST, under } = place;
  const folder = testFolder();
  const command = await proxy.prepare({ ...place, dir: folder.dir, host }, [
    ...(under ? proxy.underPath(under.path, under.isTakenAway) : []),
    ...changes,
  ]);
  const home = { HOME: folder.dir, XDG_DATA_HOME: folder.dir, XDG_CONFIG_HOME: folder.dir };
  const child = Bun.spawn(command, {
    stdio: ["ignore", "ignore", "ignore"],
    env: { ...process.env, ...home },
  });
  while ((await statusOf(port, host, `${under?.path ?? ""}/live`)) !== 200) {
    if (child.exitCode !== null) throw new Error(`${proxy.name} ended with ${child.exitCode}`);
    await Bun.sleep(50);
  }
  return {
    stop: async () => {
      child.kill();
      await child.exited;
      await folder.remove();
    },
  };
}

function statusOf(port: number, host: string, path: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const to = { host: "127.0.0.1", port, path, servername: host, rejectUnauthorized: false, agent: false };
    const call = request({ ...to, headers: { Host: host } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    call.on("error", () => resolve(undefined));
    call.end();
  });
}
