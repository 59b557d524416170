import { expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { readConfig } from "../../src/config.ts";
import type { ErrorCode } from "../../src/core/errors.ts";
import { DRAIN_TIMEOUT_MS, EXIT_TIMEOUT_MS, RENDER_GRACE_MS } from "../../src/core/stop-limits.ts";
import { ERROR_STATUS } from "../../src/http/http-refusal.ts";
import { ErrorResponse } from "../../src/http/schemas.ts";

const deploy = join(import.meta.dir, "../../deploy");
const text = (file: string) => Bun.file(join(deploy, file)).text();

/** The settings of a file of `NAME=value` lines, also those that are commented out. */
const settings = (env: string) =>
  Object.fromEntries(
    [...env.matchAll(/^#?(CARDPRESS_\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );

test("the service takes every setting of the example file, and keeps to itself behind its proxy", async () => {
  const config = readConfig(settings(await text("cardpress.env")));
  expect(config).toMatchObject({ baseUrl: "https://cards.example.com", host: "127.0.0.1", port: 3000 });
});

test("no file sets what the service does not know, such as a misspelt name", async () => {
  const files = [
    "cardpress.env",
    "compose.yaml",
    "cluster/compose.yaml",
    "cluster/kubernetes.yaml",
    "Dockerfile",
  ];
  for (const file of files) {
    const names = new Set((await text(file)).match(/CARDPRESS_\w+/g));
    expect([file, names.size]).not.toEqual([file, 0]);
    // For the program's build, not for the service.
    names.delete("CARDPRESS_BUILD_COMMIT");
    const { unknownSettings } = readConfig(Object.fromEntries([...names].map((name) => [name, ""])));
    expect([file, unknownSettings]).toEqual([file, []]);
  }
});

test("cardpressctl runs a command as the service's user with its folder and settings, whatever is in their values", async () => {
  const dir = mkdtempSync(join(tmpdir(), "cardpress-ctl-"));
  const write = (name: string, content: string) => writeFileSync(join(dir, name), content, { mode: 0o755 });
  write("settings.env", `${await text("cardpress.env")}CARDPRESS_MAIL_FROM='Cards & more <c@example.com>'\n`);
  write("sudo", '#!/bin/sh\necho "$1 $2"\nshift 2\nexec "$@"\n');
  write("cardpress", `#!/bin/sh\nprintf '%s\\n' "$@"\nenv\n`);
  write(
    "ctl",
    (await text("cardpressctl")).replaceAll("/etc/cardpress/cardpress.env", join(dir, "settings.env")),
  );
  const { stdout, exitCode } = Bun.spawnSync([join(dir, "ctl"), "account", "rename", "--name", "A & B"], {
    env: { PATH: `${dir}:${process.env.PATH}` },
  });
  rmSync(dir, { recursive: true });
  const lines = stdout.toString().split("\n");
  expect(exitCode).toBe(0);
  expect(lines.slice(0, 5)).toEqual(["-u cardpress", "account", "rename", "--name", "A & B"]);
  for (const setting of [
    "CARDPRESS_DATA_DIR=/var/lib/cardpress",
    "CARDPRESS_BASE_URL=https://cards.example.com",
    "CARDPRESS_MAIL_FROM=Cards & more <c@example.com>",
    // What the command advises next begins with this name.
    "CARDPRESS_CALLED_AS=cardpressctl",
  ])
    expect(lines).toContain(setting);
  // `doctor` names what is no setting.
  const given = lines.filter((line) => line.startsWith("CARDPRESS_")).map((line) => line.split("=", 2));
  expect(readConfig(Object.fromEntries(given)).unknownSettings).toEqual([]);
});

test("the container has no rights, a folder of its own on a volume, and only the proxy's ports open", async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document of others.
  const { services } = Bun.YAML.parse(await text("compose.yaml")) as any;
  const { cardpress, proxy } = services;
  expect(cardpress).toMatchObject({ cap_drop: ["ALL"], read_only: true, restart: "always" });
  // A network of the two, since one container in another's network loses it when Docker starts that one
  // again.
  for (const name of ["ports", "network_mode"]) expect(cardpress).not.toHaveProperty(name);
  expect(proxy).not.toHaveProperty("network_mode");
  expect(proxy.ports).toEqual(["80:80", "443:443", "443:443/udp"]);
  expect(await text("Caddyfile")).toContain("reverse_proxy {$UPSTREAM:127.0.0.1:3000}");
  expect(proxy.environment).toEqual({ UPSTREAM: `cardpress:${readConfig({}).port}` });
  const dockerfile = await text("Dockerfile");
  expect(dockerfile).toMatch(/^USER cardpress$/m);
  expect(cardpress.volumes).toEqual(["cards:/data"]);
  expect(dockerfile).toMatch(/^VOLUME \/data$/m);
  // A user of any number, as on OpenShift, has the group root and no other right.
  expect(dockerfile).toContain("install -d -o cardpress -g root -m 770 /data");
});

test("the service ends by itself within the time that is promised, and whatever stops it waits longer than that", async () => {
  const readme = await Bun.file(join(deploy, "../README.md")).text();
  const promisedS = Number(/the process ends within (\d+) seconds/.exec(readme)?.[1]);
  expect(RENDER_GRACE_MS).toBeLessThan(DRAIN_TIMEOUT_MS);
  expect(DRAIN_TIMEOUT_MS).toBeLessThan(EXIT_TIMEOUT_MS);
  expect(EXIT_TIMEOUT_MS).toBeLessThan(1_000 * promisedS);
  const waits = {
    "cardpress.service": /^TimeoutStopSec=(\d+)$/m,
    "compose.yaml": /^ +stop_grace_period: (\d+)s$/m,
    "cluster/compose.yaml": /^ +stop_grace_period: (\d+)s$/m,
    "cluster/kubernetes.yaml": /^ +terminationGracePeriodSeconds: (\d+)$/m,
  };
  for (const [file, wait] of Object.entries(waits)) {
    const [, seconds] = wait.exec(await text(file)) ?? [];
    expect([file, Number(seconds) > promisedS]).toEqual([file, true]);
  }
});

test("the container's system calls allow Chromium's sandbox, and nothing that changes the machine", async () => {
  const { defaultAction, syscalls } = JSON.parse(await text("seccomp.json"));
  const [{ names, action }] = syscalls;
  expect([defaultAction, action, syscalls.length]).toEqual(["SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO", 1]);
  for (const name of ["mount", "bpf", "init_module", "kexec_load", "ptrace", "reboot"])
    expect(names).toContain(name);
  for (const name of ["clone", "clone3", "unshare", "chroot", "seccomp"]) expect(names).not.toContain(name);
});

test.skipIf(Bun.which("systemd-analyze") === null)(
  "systemd knows every line of the unit, and calls what is left open little",
  async () => {
    const root = mkdtempSync(join(tmpdir(), "cardpress-unit-"));
    for (const folder of ["etc/systemd/system", "usr/local/bin"])
      mkdirSync(join(root, folder), { recursive: true });
    writeFileSync(join(root, "usr/local/bin/cardpress"), "#!/bin/sh\n", { mode: 0o755 });
    const unit = join(root, "etc/systemd/system/cardpress.service");
    writeFileSync(unit, await text("cardpress.service"));
    const run = (...args: string[]) => {
      const { stdout, stderr } = Bun.spawnSync(["systemd-analyze", ...args, `--root=${root}`]);
      return `${stdout}${stderr}`;
    };
    // The rest of the system is missing here, which is reported as well.
    const complaints = run("verify", unit)
      .split("\n")
      .filter((line) => /cardpress\.service:\d+:/.test(line));
    expect(complaints).toEqual([]);
    const exposure = /exposure level for cardpress.service: ([\d.]+)/.exec(
      run("security", "--offline=true", "cardpress.service"),
    );
    expect(Number(exposure?.[1])).toBeLessThan(2.5);
    rmSync(root, { recursive: true });
  },
);

test("the cluster's servers differ in their data folders alone, and take their settings and every part they name", async () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document of others.
  const file = Bun.YAML.parse(await text("cluster/compose.yaml")) as any;
  const nodes = [1, 2, 3].map((n) => file.services[`node${n}`]);
  expect(nodes.map(({ volumes }) => volumes)).toEqual([["node1:/data"], ["node2:/data"], ["node3:/data"]]);
  for (const { volumes: _, ...node } of nodes) {
    expect(readConfig(node.environment).cluster?.bucket.bucket).toBe("cards");
    expect(node).toMatchObject({ cap_drop: ["ALL"], read_only: true, secrets: Object.keys(file.secrets) });
    expect(Object.keys(file.services)).toContainValues(Object.keys(node.depends_on));
    expect(node.ports).toBeUndefined();
  }
  const named = Object.values<{ volumes?: string[] }>(file.services).flatMap(({ volumes = [] }) => volumes);
  const volumes = named.map((volume) => volume.split(":")[0] ?? "").filter((name) => !name.startsWith("."));
  expect(Object.keys(file.volumes).toSorted()).toEqual([...new Set(volumes)].toSorted());
  const caddy = await text("cluster/Caddyfile");
  expect(caddy).toContain("reverse_proxy node1:3000 node2:3000 node3:3000");
});

test("what nginx refuses itself it answers in the envelope of the API, and only there", async () => {
  const nginx = await text("nginx.conf");
  expect(nginx).toMatch(/location \/v1\/ \{\s+error_page 413 @too_large;\s+error_page 429 @too_many;/);
  expect(nginx.match(/error_page/g)).toHaveLength(2);
  for (const [place, status, code] of [
    ["@too_large", 413, "PAYLOAD_TOO_LARGE"],
    ["@too_many", 429, "RATE_LIMIT_EXCEEDED"],
  ] as const) {
    const [, body = ""] = nginx.split(`location ${place} {`);
    const [, said = ""] = new RegExp(`return ${status} '([^']+)';`).exec(body) ?? [];
    const answer = JSON.parse(said.replaceAll("$host", "cards.example.com"));
    expect([...Value.Errors(ErrorResponse, answer)]).toEqual([]);
    expect(answer.error.code).toBe(code);
    expect(ERROR_STATUS[answer.error.code as ErrorCode]).toBe(status);
  }
});

test.skipIf(Bun.which("caddy") === null)("Caddy knows every line of the cluster's file", () => {
  const adapted = Bun.spawnSync(["caddy", "adapt", "--config", join(deploy, "cluster/Caddyfile")]);
  expect([adapted.exitCode, adapted.stderr.toString()]).toEqual([0, expect.not.stringContaining("Error")]);
});

test("Kubernetes gives the service every setting of a cluster, and asks for its readiness and its life", async () => {
  const file = await text("cluster/kubernetes.yaml");
  // biome-ignore lint/suspicious/noExplicitAny: documents of others.
  const documents = Bun.YAML.parse(file) as any[];
  expect(documents.map(({ kind }) => kind)).toEqual(["Deployment", "Service", "PodDisruptionBudget"]);
  const { spec, metadata } = documents[0].spec.template;
  const [container] = spec.containers;
  const { mountPath } = container.volumeMounts.find(({ name }: { name: string }) => name === "secrets");
  const dir = mkdtempSync(join(tmpdir(), "cardpress-secrets-"));
  // The command that makes the secret, and the folder Kubernetes makes of it.
  for (const [, name = "", value = ""] of file.matchAll(/--from-\w+=([\w.-]+)(?:=(\S+))?/g))
    writeFileSync(join(dir, name), value);
  const environment = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [
      name,
      value.replace(mountPath, dir),
    ]),
  );
  // What Kubernetes sets in each pod for a Service named so.
  const links: Record<string, string> =
    spec.enableServiceLinks === false ? {} : { CARDPRESS_PORT: "tcp://10.0.0.1:80" };
  const { cluster } = readConfig({ ...environment, ...links });
  expect(cluster?.bucket).toMatchObject({ bucket: "cardpress-cards", secretAccessKey: "SECRET" });
  expect(existsSync(cluster?.secretKeyFile ?? "")).toBe(true);
  rmSync(dir, { recursive: true });
  expect([container.livenessProbe.httpGet.path, container.readinessProbe.httpGet.path]).toEqual([
    "/live",
    "/ready",
  ]);
  expect(documents[1].spec.selector).toEqual(metadata.labels);
  const mounted = container.volumeMounts.map(({ name }: { name: string }) => name);
  expect(spec.volumes.map(({ name }: { name: string }) => name)).toEqual(mounted);
});
