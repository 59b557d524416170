import { existsSync, statSync } from "node:fs";
import type { Config } from "../../../config.ts";
import { API_PATHS } from "../../../core/api-paths.ts";
import { basePathOf } from "../../../core/base-path.ts";
import type { DataFolder } from "../../../system/data-folder.ts";
import { readIfThere } from "../../../system/machine-size.ts";
import type { Diagnosis } from "./diagnosis.ts";

// How this installation is run: its proxy, its supervisor, and what the kernel allows its browser.

type Finding = Omit<Diagnosis, "check">;

/** Access to the machine, replaceable in tests. */
export interface Machine {
  /** A small text file; undefined when it does not exist. */
  read(path: string): string | undefined;
  /** A command's output; undefined when it does not exist or fails. */
  run(command: string[]): string | undefined;
  /** Requests a URL without following redirects. Rejects when it cannot be reached. */
  request(url: string, headers?: Record<string, string>): Promise<Response>;
  isRoot: boolean;
}

/** A proxy on the same continent answers within tenths of a second. */
const ADDRESS_TIMEOUT_MS = 5_000;

export const thisMachine: Machine = {
  read: readIfThere,
  run: ([name = "", ...rest]) => {
    const path = Bun.which(name);
    if (path === null) return undefined;
    const { exitCode, stdout } = Bun.spawnSync([path, ...rest], { stderr: "ignore" });
    return exitCode === 0 ? stdout.toString() : undefined;
  },
  request: (url, headers = {}) =>
    fetch(url, { headers, redirect: "manual", signal: AbortSignal.timeout(ADDRESS_TIMEOUT_MS) }),
  isRoot: process.getuid?.() === 0,
};

/** Kernel settings that deny the user namespaces Chromium's sandbox needs, and how to change each. */
const NAMESPACE_SETTINGS = [
  { path: "/proc/sys/user/max_user_namespaces", bad: "0", remedy: "sysctl user.max_user_namespaces=15000" },
  {
    path: "/proc/sys/kernel/unprivileged_userns_clone",
    bad: "0",
    remedy: "sysctl kernel.unprivileged_userns_clone=1",
  },
  {
    path: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    bad: "1",
    remedy:
      "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for the browser that says userns",
  },
];

/**
 * Whether Chromium may run in its sandbox; if a kernel setting is in the way, which. The browser's check
 * tries it.
 */
export function checkSandbox({ allowRoot }: Pick<Config, "allowRoot">, machine: Machine): Finding {
  if (machine.isRoot)
    return allowRoot
      ? {
          status: "warning",
          message:
            "Chromium runs as root, without its sandbox (CARDPRESS_ALLOW_ROOT=1). Run cardpress as another user.",
        }
      : {
          status: "failed",
          message:
            "Chromium has no sandbox as root. Run cardpress as another user, or set CARDPRESS_ALLOW_ROOT=1.",
        };
  const inTheWay = NAMESPACE_SETTINGS.filter(({ path, bad }) => machine.read(path)?.trim() === bad);
  if (inTheWay.length === 0)
    return { status: "ok", message: "no known kernel setting is in the way of Chromium's sandbox" };
  return {
    status: "warning",
    message: `the kernel may refuse the user namespaces of Chromium's sandbox. If the browser does not start: ${inTheWay.map(({ remedy }) => remedy).join("; ")}.`,
  };
}

/** Properties from `systemctl show` of our unit. */
function unitProperties(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.includes("="))
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}

const UNIT = "cardpress.service";
const UNIT_PROPERTIES = "LoadState,ActiveState,User,Restart,OOMPolicy,NoNewPrivileges,NRestarts";

/** Which supervisor restarts the service, and with which rights it runs. */
export function checkSupervision(
  { baseUrl, dataDir }: Pick<Config, "baseUrl" | "dataDir">,
  machine: Machine,
): Finding {
  if (isContainer(machine)) return checkContainer(dataDir);
  const unit = unitProperties(
    machine.run(["systemctl", "show", UNIT, `--property=${UNIT_PROPERTIES}`]) ?? "",
  );
  if (unit.LoadState !== "loaded") {
    const message = "nothing known here starts the service again when it ends or the machine boots";
    return baseUrl.startsWith("https://")
      ? {
          status: "warning",
          message: `${message}. Install deploy/cardpress.service, or use deploy/compose.yaml.`,
        }
      : { status: "ok", message: `${message}: enough to try it out` };
  }
  const problems = [
    unit.ActiveState !== "active" && `it is ${unit.ActiveState}: look at "journalctl -u cardpress"`,
    ["", "root"].includes(unit.User ?? "") && "it runs as root: set User=cardpress",
    unit.Restart === "no" && "it stays down when it ends: set Restart=always",
    unit.OOMPolicy === "stop" &&
      "it is stopped when a browser runs out of memory: set OOMPolicy=continue, as in deploy/cardpress.service",
    unit.NoNewPrivileges === "no" &&
      "it may gain rights: take the hardening of deploy/cardpress.service over",
  ].filter((problem) => problem !== false);
  const found = `systemd runs it as ${unit.User || "root"}, started again ${unit.NRestarts ?? 0} times`;
  return problems.length === 0
    ? { status: "ok", message: found }
    : { status: "warning", message: `${found}; ${problems.join("; ")}` };
}

/**
 * Whether this process is in a container. Docker leaves a file. Podman leaves one too unless the root is
 * read-only; it and Kubernetes tell the container's processes by a variable.
 */
function isContainer(machine: Machine): boolean {
  const files = ["/.dockerenv", "/run/.containerenv"];
  const variables = (machine.read("/proc/self/environ") ?? "").split("\0");
  return (
    files.some((path) => machine.read(path) !== undefined) ||
    variables.some((variable) => /^(container=(podman|oci|docker)$|KUBERNETES_SERVICE_HOST=)/.test(variable))
  );
}

/** A folder inside the container disappears with it. */
function checkContainer(dataDir: string): Finding {
  const isVolume = existsSync(dataDir) && statSync(dataDir).dev !== statSync("/").dev;
  if (isVolume) return { status: "ok", message: `in a container, with ${dataDir} on a volume` };
  return {
    status: "warning",
    message: `in a container whose ${dataDir} is part of it: all data goes with the container. Mount a volume there, as in deploy/compose.yaml.`,
  };
}

const LOCAL_HOSTS = ["127.0.0.1", "localhost", "::1"];

/** Whether the public address reaches this service, through a proxy that hides what is for operators. */
export async function checkAddress(
  { baseUrl, host }: Pick<Config, "baseUrl" | "host">,
  machine: Machine,
): Promise<Finding> {
  if (!baseUrl.startsWith("https://")) {
    if (LOCAL_HOSTS.includes(new URL(baseUrl).hostname))
      return { status: "ok", message: `${baseUrl}: this machine only` };
    return {
      status: "warning",
      message: `${baseUrl} is not encrypted: keys and passwords can be read on the way. Put a proxy with TLS in front, as in deploy/, and set CARDPRESS_BASE_URL to its https:// address.`,
    };
  }
  const live = await machine.request(`${baseUrl}/live`).catch((error: Error) => error);
  if (live instanceof Error)
    return {
      status: "warning",
      message: `${baseUrl} cannot be reached from here: ${live.message}. Look whether its name points to the proxy, the proxy runs, and its certificate is valid.`,
    };
  const problems = [
    await wrongAnswer(live, baseUrl),
    ...(live.ok ? [...(await leaks(baseUrl, machine)), ...(await pathFaults(baseUrl, machine))] : []),
    !LOCAL_HOSTS.includes(host) &&
      !isContainer(machine) &&
      `the service listens on ${host} without TLS beside the proxy: let a firewall keep others out, or set CARDPRESS_HOST=127.0.0.1 where the proxy is on this machine`,
  ].filter((problem) => typeof problem === "string");
  return problems.length === 0
    ? { status: "ok", message: `${baseUrl} leads here` }
    : { status: "warning", message: `${baseUrl}: ${problems.join("; ")}` };
}

async function wrongAnswer(live: Response, baseUrl: string): Promise<string | undefined> {
  if ([502, 503, 504].includes(live.status))
    return `the proxy answers ${live.status}, since it does not reach the service: start it, and compare CARDPRESS_HOST and CARDPRESS_PORT with the proxy's settings`;
  const body = (await live.json().catch(() => null)) as { status?: string } | null;
  if (live.status === 200 && body?.status === "ok" && live.headers.has("x-request-id")) return undefined;
  return `something else answers there (${live.status} to ${baseUrl}/live): look at the proxy's settings`;
}

/** Whether the proxy leads the service's whole path here, and leaves the redirects alone. */
async function pathFaults(baseUrl: string, machine: Machine): Promise<string[]> {
  const basePath = basePathOf(baseUrl);
  if (basePath === "") return [];
  const leadsTo = async (address: string) => {
    const answer = await machine.request(address).catch(() => undefined);
    const location = answer?.headers.get("location");
    return location ? URL.parse(location, address)?.pathname : undefined;
  };
  const [bare, root] = [await leadsTo(baseUrl), await leadsTo(`${baseUrl}/`)];
  return [
    ...(bare?.startsWith(`${basePath}/`)
      ? []
      : [`${basePath} without a slash at its end does not lead here: let the proxy pass it on as well`]),
    ...(root === `${basePath}/console`
      ? []
      : [
          `${basePath}/ leads to ${root ?? "nothing"} instead of ${basePath}/console: let the proxy pass paths on as they are, or take ${basePath} away and nothing else, and leave the header Location as it is`,
        ]),
  ];
}

/** Proxy misconfigurations that are visible from outside. */
async function leaks(baseUrl: string, machine: Machine): Promise<string[]> {
  const metrics = await machine.request(`${baseUrl}/metrics`).catch(() => undefined);
  const remaining = async (claimed: string) => {
    const headers = { "X-API-Key": "sk_doctor", "X-Forwarded-For": claimed };
    const answer = await machine.request(baseUrl + API_PATHS.usage, headers).catch(() => undefined);
    return answer?.headers.get("x-ratelimit-remaining");
  };
  const [first, second] = [await remaining("192.0.2.1"), await remaining("192.0.2.2")];
  return [
    ...(metrics?.status === 200
      ? ["it shows /metrics to everybody: let the proxy answer 404 there, as in deploy/"]
      : []),
    ...(first !== undefined && first !== null && first === second
      ? [
          "clients choose the address they are counted by: let the proxy overwrite X-Forwarded-For, or append to it, as in deploy/",
        ]
      : []),
  ];
}

/** Open files of the busiest service: 128 deliveries, 16 fetches, and the clients of a peak. */
const ENOUGH_DESCRIPTORS = 4_096;

/**
 * Whether connections of the service would run out before anything else: of the one that runs, of the unit
 * that would start it, or, where there is neither, of a process started as this command was. A shell's
 * limit says nothing about a unit's.
 */
export function checkDescriptors({ serverLock }: Pick<DataFolder, "serverLock">, machine: Machine): Finding {
  const pid = lockHolder(serverLock, machine);
  const running = pid === undefined ? undefined : openFiles(machine.read(`/proc/${pid}/limits`));
  if (running !== undefined) return judged(running, `for the service that runs (process ${pid})`);
  const unit = unitProperties(
    machine.run(["systemctl", "show", UNIT, "--property=LoadState,LimitNOFILE"]) ?? "",
  );
  // The program raises the soft limit to the hard one, which this is.
  if (unit.LoadState === "loaded" && unit.LimitNOFILE)
    return judged(unit.LimitNOFILE, `for the service as ${UNIT} starts it`);
  return judged(openFiles(machine.read("/proc/self/limits")), "for what is started from here");
}

/** The hard limit in a file of `/proc/PID/limits`. */
const openFiles = (limits = "") => /^Max open files\s+\S+\s+(\d+|unlimited)/m.exec(limits)?.[1];

function judged(limit: string | undefined, whose: string): Finding {
  const isEnough = !/^\d+$/.test(limit ?? "") || Number(limit) >= ENOUGH_DESCRIPTORS;
  if (isEnough)
    return { status: "ok", message: `${limit ?? "an unknown number of"} open files at a time ${whose}` };
  return {
    status: "warning",
    message: `only ${limit} open files at a time ${whose}: many clients would be refused. Set LimitNOFILE=65536 in the unit, or "ulimit -n 65536" where it is started by hand, and start it again.`,
  };
}

/** The process that holds the lock on this file, where it can be seen from here. */
function lockHolder(path: string, machine: Machine): string | undefined {
  const file = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (!file) return undefined;
  // As the C library makes the two numbers of one.
  const major = (file.dev >> 8n) & 0xfffn;
  const minor = (file.dev & 0xffn) | ((file.dev >> 12n) & 0xfff00n);
  const hex = (n: bigint) => n.toString(16).padStart(2, "0");
  const id = `${hex(major)}:${hex(minor)}:${file.ino}`;
  const held = (machine.read("/proc/locks") ?? "").split("\n").map((line) => line.trim().split(/\s+/));
  return held.find(([, , , mode, , on]) => mode === "WRITE" && on === id)?.[4];
}
