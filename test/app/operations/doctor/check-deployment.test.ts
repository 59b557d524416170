import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  checkAddress,
  checkDescriptors,
  checkSandbox,
  checkSupervision,
  type Machine,
  thisMachine,
} from "../../../../src/app/operations/doctor/check-deployment.ts";
import { testFolder } from "../../../harness.ts";

const plain: Machine = {
  read: () => undefined,
  run: () => undefined,
  request: () => Promise.reject(new Error("nobody is there")),
  isRoot: false,
};

const files = (contents: Record<string, string>): Machine => ({ ...plain, read: (path) => contents[path] });
const unit = (properties: string): Machine => ({ ...plain, run: () => properties });

test("a kernel that refuses user namespaces is reported with the setting that allows them", () => {
  expect(checkSandbox({ allowRoot: false }, plain).status).toBe("ok");
  const ubuntu = files({ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n" });
  const found = checkSandbox({ allowRoot: false }, ubuntu);
  expect([found.status, found.message]).toEqual(["warning", expect.stringContaining("apparmor_restrict")]);
  expect(checkSandbox({ allowRoot: false }, { ...plain, isRoot: true }).status).toBe("failed");
});

const SOUND =
  "LoadState=loaded\nActiveState=active\nUser=cardpress\nRestart=always\nOOMPolicy=continue\nNoNewPrivileges=yes\nNRestarts=2\n";
const SITE = { baseUrl: "https://cards.example.com", dataDir: "/var/lib/cardpress" };

test("what a unit lacks is reported with the line that fixes it", () => {
  expect(checkSupervision(SITE, unit(SOUND))).toEqual({
    status: "ok",
    message: "systemd runs it as cardpress, started again 2 times",
  });
  const weak = SOUND.replace("always", "no").replace("continue", "stop").replace("User=cardpress", "User=");
  const { status, message } = checkSupervision(SITE, unit(weak));
  expect(status).toBe("warning");
  for (const remedy of ["Restart=always", "OOMPolicy=continue", "User=cardpress"])
    expect(message).toContain(remedy);
});

test("a public service that nothing starts again is a warning, a trial on this machine is not", () => {
  expect(checkSupervision(SITE, plain).status).toBe("warning");
  expect(checkSupervision({ ...SITE, baseUrl: "http://127.0.0.1:3000" }, plain).status).toBe("ok");
});

test("data inside a container's own folder is reported to go with it", () => {
  const container = files({ "/.dockerenv": "" });
  expect(checkSupervision({ ...SITE, dataDir: "/" }, container)).toMatchObject({
    status: "warning",
    message: expect.stringContaining("Mount a volume"),
  });
  expect(checkSupervision({ ...SITE, dataDir: "/proc" }, container).status).toBe("ok");
});

test("a container is detected where no file marks it: Podman with a read-only root, and Kubernetes", () => {
  for (const variable of ["container=podman", "KUBERNETES_SERVICE_HOST=10.0.0.1"]) {
    const container = files({ "/proc/self/environ": `PATH=/bin\0${variable}\0HOME=/data\0` });
    expect(checkSupervision({ ...SITE, dataDir: "/proc" }, container).message).toContain("in a container");
  }
  const service = files({ "/proc/self/environ": "PATH=/bin\0CONTAINERS_CONF=/etc/containers\0" });
  expect(checkSupervision({ ...SITE, dataDir: "/proc" }, service).message).not.toContain("in a container");
});

/** A proxy that answers as given; `budget` counts clients by the address they claim, or all as one. */
function proxy(answer: Record<string, number>, isFooled = false): Machine {
  const used = new Map<string, number>();
  return {
    ...plain,
    request: async (url, headers = {}) => {
      const { pathname } = new URL(url);
      const client = isFooled ? (headers["X-Forwarded-For"] ?? "") : "one";
      used.set(client, (used.get(client) ?? 0) + 1);
      const rest = String(100 - (used.get(client) ?? 0));
      return new Response(JSON.stringify({ status: "ok" }), {
        status: answer[pathname] ?? 404,
        headers: { "x-request-id": "req_1", "x-ratelimit-remaining": rest },
      });
    },
  };
}

const HTTPS = { baseUrl: "https://cards.example.com", host: "127.0.0.1" };

test("a proxy that leads here and keeps to itself what it should is sound", async () => {
  expect(await checkAddress(HTTPS, proxy({ "/live": 200, "/v1/usage": 401 }))).toEqual({
    status: "ok",
    message: "https://cards.example.com leads here",
  });
});

test.each([
  ["cannot be reached", plain],
  ["does not reach the service", proxy({ "/live": 502 })],
  ["something else answers", proxy({ "/live": 301 })],
  ["shows /metrics", proxy({ "/live": 200, "/metrics": 200 })],
  ["clients choose the address", proxy({ "/live": 200, "/v1/usage": 401 }, true)],
] as const)("a proxy of which it must be said that it %s", async (words, machine) => {
  const { status, message } = await checkAddress(HTTPS, machine);
  expect([status, message]).toEqual(["warning", expect.stringContaining(words)]);
});

/** The same under /cards, with where it leads from some paths. */
function proxyOfPath(leads: Record<string, string>): Machine {
  const { request, ...machine } = proxy({ "/cards/live": 200, "/cards/v1/usage": 401 });
  return {
    ...machine,
    request: async (url, headers) => {
      const answer = await request(url, headers);
      const location = leads[new URL(url).pathname];
      if (location !== undefined) answer.headers.set("location", location);
      return answer;
    },
  };
}

const UNDER_PATH = { ...HTTPS, baseUrl: "https://club.example/cards" };

test("a proxy that leads a path of its host here is sound", async () => {
  const leads = { "/cards": "https://club.example/cards/", "/cards/": "/cards/console" };
  expect(await checkAddress(UNDER_PATH, proxyOfPath(leads))).toEqual({
    status: "ok",
    message: "https://club.example/cards leads here",
  });
});

test.each([
  ["/cards without a slash", { "/cards/": "/cards/console" }],
  ["/cards without a slash", { "/cards": "/", "/cards/": "/cards/console" }],
  ["leads to /cards/cards/console", { "/cards": "/cards/", "/cards/": "/cards/cards/console" }],
  ["leads to nothing", { "/cards": "/cards/" }],
])("a proxy of a path of which it must be said that %s", async (words, leads) => {
  const { status, message } = await checkAddress(UNDER_PATH, proxyOfPath(leads));
  expect([status, message]).toEqual(["warning", expect.stringContaining(words)]);
});

test("a public address without TLS, and a port without TLS beside the proxy, are reported", async () => {
  expect((await checkAddress({ ...HTTPS, baseUrl: "http://cards.example.com" }, plain)).message).toContain(
    "not encrypted",
  );
  const open = await checkAddress({ ...HTTPS, host: "0.0.0.0" }, proxy({ "/live": 200, "/v1/usage": 401 }));
  expect(open.message).toContain("CARDPRESS_HOST=127.0.0.1");
  const container: Machine = {
    ...proxy({ "/live": 200, "/v1/usage": 401 }),
    read: (path) => (path === "/.dockerenv" ? "" : undefined),
  };
  expect((await checkAddress({ ...HTTPS, host: "0.0.0.0" }, container)).status).toBe("ok");
});

const limits = (n: number) => `Max open files            ${n}   ${n}  files\n`;

describe("too few open files are reported before clients are refused", () => {
  const folder = testFolder();
  const place = { serverLock: join(folder.dir, "server.lock") };
  afterAll(() => folder.remove());

  test("of whoever starts it from here, where nothing else is known", () => {
    const here = (n: number) => files({ "/proc/self/limits": limits(n) });
    expect(checkDescriptors(place, here(1024)).status).toBe("warning");
    expect(checkDescriptors(place, here(65536)).status).toBe("ok");
  });

  test("of the unit rather than of the shell that asks", () => {
    const found = (n: number, shell: number) =>
      checkDescriptors(place, {
        ...files({ "/proc/self/limits": limits(shell) }),
        run: () => `LoadState=loaded\nLimitNOFILE=${n}\n`,
      });
    expect(found(65536, 1024)).toMatchObject({ status: "ok", message: expect.stringContaining("service") });
    expect(found(1024, 65536)).toMatchObject({
      status: "warning",
      message: expect.stringMatching(/only 1024 .* as cardpress\.service starts it/),
    });
  });

  test("of the process that runs rather than of either", async () => {
    const held = join(import.meta.dir, "../../../../src/system/file-lock.ts");
    const script = `const { lockFile } = await import(${JSON.stringify(held)}); globalThis.lock = lockFile(${JSON.stringify(place.serverLock)}); console.log("held"); setInterval(() => {}, 1e6);`;
    const service = Bun.spawn(
      ["sh", "-c", 'ulimit -n 200; exec "$@"', "sh", process.execPath, "-e", script],
      {
        stdout: "pipe",
      },
    );
    try {
      for await (const text of service.stdout.pipeThrough(new TextDecoderStream()))
        if (text.includes("held")) break;
      const machine = { ...thisMachine, run: () => "LoadState=loaded\nLimitNOFILE=65536\n" };
      expect(checkDescriptors(place, machine)).toMatchObject({
        status: "warning",
        message: expect.stringContaining(
          `only 200 open files at a time for the service that runs (process ${service.pid})`,
        ),
      });
    } finally {
      service.kill("SIGKILL");
      await service.exited;
    }
  });
});
