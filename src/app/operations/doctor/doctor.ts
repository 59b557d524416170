import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { access, constants, mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Blobs } from "../../../blobs/blobs.ts";
import type { Config } from "../../../config.ts";
import { counted } from "../../../core/counted.ts";
import { OperatorError } from "../../../core/errors.ts";
import { CLOCK_HOLD_MS, CLOCK_TOLERANCE_MS, MIN_FREE_DISK_BYTES } from "../../../core/limits.ts";
import { secretBox } from "../../../core/secret-box.ts";
import { MINUTE_MS } from "../../../core/time.ts";
import { launchBrowser } from "../../../render/browser/browser.ts";
import { findChromium } from "../../../render/browser/chromium.ts";
import { NO_CANVAS } from "../../../render/card/capture.ts";
import { checkMp4Encoder } from "../../../render/card/formats/mp4-trial.ts";
import { openCardPage } from "../../../render/card/page.ts";
import { databaseProblems } from "../../../store/engine/check-database.ts";
import { openSqliteStore } from "../../../store/engine/sqlite.ts";
import { sealedBucketSecrets } from "../../../store/exports/exports.ts";
import { latestPictures } from "../../../store/images/image-search.ts";
import { findAccount } from "../../../store/people/accounts.ts";
import type { Store } from "../../../store/store.ts";
import { enabledEndpoints } from "../../../store/webhooks/webhooks.ts";
import { readClockMark, systemClock } from "../../../system/clock-file.ts";
import {
  type DataFolder,
  FOLDER_ACCESS,
  forbidden,
  isForbidden,
  openDataFolder,
  refuseLostDatabase,
} from "../../../system/data-folder.ts";
import { inUnits } from "../../../system/disk-space.ts";
import { machineSize } from "../../../system/machine-size.ts";
import { loadSecretKey } from "../../../system/secret-key.ts";
import { unpackedIn } from "../../../system/unpacked.ts";
import { DEFAULT_TEMPLATE } from "../../../templates/built-in.ts";
import { loadTemplate } from "../../../templates/load.ts";
import { templateRegistry } from "../../../templates/registry.ts";
import { openFolderFiles } from "../../bucket-files.ts";
import { unreadableBuckets } from "../../exports/manage-bucket.ts";
import { openPlaces } from "../../places.ts";
import { unreadableEndpoints } from "../../webhooks/manage-webhooks.ts";
import { audit } from "../audit/audit.ts";
import { checkBackups } from "../backup/check-backups.ts";
import { checkBucket } from "./check-bucket.ts";
import {
  checkAddress,
  checkDescriptors,
  checkSandbox,
  checkSupervision,
  thisMachine,
} from "./check-deployment.ts";
import { checkMatte } from "./check-matte.ts";
import { checkOidc } from "./check-oidc.ts";
import { checkWorkers } from "./check-workers.ts";
import type { Diagnosis } from "./diagnosis.ts";

/** Below this the operator should make room before the service has to refuse cards. */
const LOW_DISK_BYTES = 8 * MIN_FREE_DISK_BYTES;

type Check = (config: Config, folder: DataFolder) => Promise<Omit<Diagnosis, "check">>;

/** Concerns how it is run, rather than what is installed. */
const DEPLOYMENT: [Diagnosis["check"], Check][] = [
  ["address", (config) => checkAddress(config, thisMachine)],
  ["supervision", async (config) => checkSupervision(config, thisMachine)],
  ["files", async (_config, folder) => checkDescriptors(folder, thisMachine)],
  ["sandbox", async (config) => checkSandbox(config, thisMachine)],
];

/**
 * Checks everything that can keep this installation from making cards. Writes nothing but into the cache,
 * where it may unpack the browser.
 */
export async function examine(config: Config): Promise<Diagnosis[]> {
  const found: Diagnosis[] = [{ check: "config", ...checkConfig(config) }];
  if (!existsSync(config.dataDir)) return [...found, ...(await examineWithoutData(config))];
  let folder: DataFolder;
  try {
    folder = openDataFolder(config.dataDir);
  } catch (error) {
    return [...found, { check: "disk", status: "failed", message: (error as Error).message }];
  }
  const checks: [Diagnosis["check"], Check][] = [
    ["disk", checkDisk],
    ["clock", checkClock],
    ...DEPLOYMENT,
    ["browser", checkBrowser],
    ["matte", checkMatte],
    ["mp4", checkMp4],
    ["templates", checkTemplates],
    ["workers", async (config) => checkWorkers(config, machineSize())],
    ...(config.bucket && !config.cluster ? [["bucket", checkBucket] as [Diagnosis["check"], Check]] : []),
    ["database", checkDatabase],
    ["audit", checkBooks],
    ["pictures", checkPictures],
    ["webhooks", checkWebhooks],
    ["account buckets", checkAccountBuckets],
    ["sign-in", checkSignIn],
    ["backups", (settings, place) => checkBackups(settings, place, Date.now())],
  ];
  for (const [check, look] of checks) {
    const result = await lookAt(look, config, folder);
    found.push({ check, ...result });
    // A damaged or older database cannot be audited.
    if (check === "database" && result.status === "failed") break;
  }
  return found;
}

function checkConfig({ baseUrl, dataDir, unknownSettings }: Config): Omit<Diagnosis, "check"> {
  const message = `${baseUrl}, data in ${dataDir}`;
  if (unknownSettings.length === 0) return { status: "ok", message };
  return {
    status: "warning",
    message: `${message}. No settings, and without effect: ${unknownSettings.join(", ")}. Correct the spelling, or unset them.`,
  };
}

function lookAt(look: Check, config: Config, folder: DataFolder): Promise<Omit<Diagnosis, "check">> {
  return look(config, folder).catch((error: Error) => ({ status: "failed", message: error.message }));
}

/** Checks that work before the first start, without creating a data folder. */
async function examineWithoutData(config: Config): Promise<Diagnosis[]> {
  const scratch = await mkdtemp(join(tmpdir(), "cardpress-doctor-"));
  try {
    const folder = openDataFolder(scratch);
    return [
      {
        check: "disk",
        status: "warning",
        message: `There is no data folder at ${config.dataDir} yet: "cardpress serve" makes it. If there should be one, set CARDPRESS_DATA_DIR to it.`,
      },
      { check: "sandbox", ...checkSandbox(config, thisMachine) },
      { check: "browser", ...(await lookAt(checkBrowser, config, folder)) },
      { check: "matte", ...(await lookAt(checkMatte, config, folder)) },
      { check: "mp4", ...(await lookAt(checkMp4, config, folder)) },
      { check: "templates", ...(await lookAt(checkTemplates, config, folder)) },
      { check: "workers", ...checkWorkers(config, machineSize()) },
      { check: "sign-in", ...(await lookAt(checkOidc, config, folder)) },
      // They are elsewhere, and there before this machine's folder is.
      ...(config.bucket && !config.cluster
        ? [{ check: "bucket" as const, ...(await lookAt(checkBucket, config, folder)) }]
        : []),
      ...(config.cluster
        ? [{ check: "database" as const, ...(await lookAt(checkDatabase, config, folder)) }]
        : []),
    ];
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

const checkDisk: Check = async (_config, folder) => {
  const { root } = folder;
  await access(root, constants.W_OK);
  const shut = await forbiddenFolders(folder);
  if (shut.length > 0) return { status: "failed", message: forbidden(root, shut) };
  const { bavail, bsize } = await statfs(root);
  const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GB free in ${root}`;
  if (bavail * bsize < MIN_FREE_DISK_BYTES)
    return { status: "failed", message: `${free}: the next pictures do not fit. Make room.` };
  if (bavail * bsize < LOW_DISK_BYTES)
    return { status: "warning", message: `${free}: make room, or keep pictures for fewer days.` };
  return { status: "ok", message: `${free}${await unpackedSizes(folder)}` };
};

const checkClock: Check = async (_config, { clockMark }) => {
  const passed = systemClock.elapsed();
  const known = readClockMark(clockMark, passed);
  if (!known) return { status: "ok", message: "no server has run since this machine was started" };
  const offByMs = systemClock.now() - (known.wall + passed - known.elapsed);
  if (Math.abs(offByMs) <= CLOCK_TOLERANCE_MS) return { status: "ok", message: "the time has not jumped" };
  const by = `${Math.abs(offByMs / MINUTE_MS).toFixed()} minutes ${offByMs > 0 ? "ahead of" : "behind"}`;
  return {
    status: "warning",
    message: `the clock of this machine is ${by} the time the service goes by. If it is wrong, set it right; if it is right, the service follows within ${CLOCK_HOLD_MS / MINUTE_MS} minutes.`,
  };
};

/** Unusable folders among those that pictures are spread over; the outer ones were checked before. */
async function forbiddenFolders({ sources, cutouts, images, cache }: DataFolder): Promise<string[]> {
  const entries = await Promise.all(
    [sources, cutouts, images, cache].map((path) => readdir(path, { withFileTypes: true })),
  );
  return entries
    .flat()
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => isForbidden(path, FOLDER_ACCESS));
}

/** What is unpacked from the program, this version's and earlier ones'. */
async function unpackedSizes({ cache }: DataFolder): Promise<string> {
  const found = (await unpackedIn(cache)).sort((a, b) => a.name.localeCompare(b.name));
  const sizes = found.map(({ name, bytes }) => `${name} ${inUnits(bytes)}`);
  return sizes.length === 0 ? "" : `; unpacked in ${cache}: ${sizes.join(", ")}`;
}

const checkBrowser: Check = async (config, folder) => {
  const chromium = await findChromium({ configuredPath: config.chromiumPath, cacheDir: folder.cache });
  const noSandbox = process.getuid?.() === 0;
  try {
    const browser = await launchBrowser({ chromium, profilesDir: folder.profiles, noSandbox });
    const version = await browser.version();
    const page = await openCardPage(browser, await loadTemplate(DEFAULT_TEMPLATE)).finally(() =>
      browser.close(),
    );
    const sandbox = noSandbox ? "without its sandbox" : "in its sandbox";
    const found = `${version} (${chromium.origin}: ${chromium.path}) runs ${sandbox}`;
    if (page.captureMethod === "screenshot") return { status: "warning", message: `${found}; ${NO_CANVAS}` };
    return { status: "ok", message: `${found}; cards leave it as pixels through a canvas, the quick way` };
  } catch (error) {
    return {
      status: "failed",
      message: `${chromium.path} cannot be used: ${(error as Error).message.trim()}${error instanceof OperatorError ? "" : ". Set CARDPRESS_CHROMIUM to another browser."}`,
    };
  }
};

const checkMp4: Check = async ({ mp4Encoder }, { profiles }) => {
  if (mp4Encoder === undefined)
    return { status: "ok", message: "CARDPRESS_MP4_ENCODER names no encoder: videos are made as webm alone" };
  await checkMp4Encoder({ encoder: mp4Encoder, scratch: profiles });
  return { status: "ok", message: `${mp4Encoder} makes MP4 (H.264) of videos` };
};

const checkTemplates: Check = async (config) => {
  const templates = templateRegistry(config);
  const listed = await templates.check();
  const found = await templates.all();
  const named = listed.map(({ manifest: { name, version } }) => {
    const { folder = null } = found.find((each) => each.name === name) ?? {};
    return `${name} ${version} (${folder ?? "built in"})`;
  });
  return { status: "ok", message: named.join(", ") };
};

const checkDatabase: Check = async (config, folder) => {
  const { database } = folder;
  if (config.cluster)
    return withBooks(config, folder, async ({ blobs }) =>
      (await blobs?.isWritable())
        ? { status: "ok", message: "PostgreSQL answers, and has every migration; the bucket takes files" }
        : {
            status: "failed",
            message: `PostgreSQL answers, but the bucket ${config.cluster?.bucket.bucket} takes no files. Look whether its quota is used up, and whether the key may write and remove in it.`,
          },
    );
  refuseLostDatabase(folder);
  if (!existsSync(database))
    return { status: "ok", message: `${database} will be created by the first command` };
  const problems = databaseProblems(database);
  if (problems.length === 0) return { status: "ok", message: `${database} is sound` };
  return {
    status: "failed",
    message: `${database}: ${problems.join("; ")}. Unless the problem says what else to do: stop the service, set the data folder aside, and restore it whole from a backup.`,
  };
};

const checkBooks: Check = (config, folder) =>
  withBooks(config, folder, async ({ store }) => {
    const report = await audit(store, Date.now(), { sinceSealed: true });
    const broken = report.findings.filter(({ ok }) => !ok);
    if (report.ok) return { status: "ok", message: `${report.findings.length} rules hold` };
    const named = broken.map((finding) => `${finding.check} (${finding.broken[0]?.id})`).join(", ");
    return { status: "failed", message: `broken: ${named}. "cardpress audit" shows every one.` };
  });

/** The newest are those partners are fetching now; checking a million files would take minutes. */
const PICTURES_LOOKED_FOR = 1_000;

const checkPictures: Check = (config, folder) =>
  withBooks(config, folder, async ({ store, blobs: shared }) => {
    const pictures = await latestPictures(store.read, PICTURES_LOOKED_FOR);
    if (pictures.length === 0) return { status: "ok", message: "none has been made yet" };
    const blobs = shared ?? (await openFolderFiles(folder, config.bucket));
    const lost: typeof pictures = [];
    for (const picture of pictures) {
      if ((picture.expiresAt ?? 0) <= Date.now()) continue;
      const { outputName, backOutputName } = picture;
      const hasFront = await blobs.stat("picture", outputName ?? "");
      if (!hasFront || (backOutputName !== null && !(await blobs.stat("picture", backOutputName))))
        lost.push(picture);
    }
    if (lost.length === 0) return { status: "ok", message: `the newest ${pictures.length} are there` };
    return {
      status: "failed",
      message: `${lost.length} of the newest ${pictures.length} finished cards have no picture, such as ${lost[0]?.id}. Restore ${config.bucket ? "the bucket" : folder.images} from a backup.`,
    };
  });

const checkWebhooks: Check = (config, folder) =>
  withBooks(config, folder, async ({ store }) => {
    const keyFile = config.cluster?.secretKeyFile ?? folder.secretKey;
    const enabled = await enabledEndpoints(store.read);
    if (enabled.length === 0) return { status: "ok", message: "no endpoint is enabled" };
    if (!existsSync(keyFile))
      return {
        status: "failed",
        message: `${keyFile} is gone, so no webhook can be signed. Restore it from a backup of the data folder, or give each endpoint a new secret with "cardpress webhook rotate".`,
      };
    const secrets = secretBox(loadSecretKey(keyFile), randomBytes);
    const unreadable = await unreadableEndpoints({ store, secrets });
    if (unreadable.length === 0)
      return { status: "ok", message: `${counted(enabled.length, "endpoint")} can be signed for` };
    return {
      status: "failed",
      message: `the secrets of ${unreadable.join(", ")} cannot be read: ${keyFile} is not the key they were sealed with. Put the right one back, or give each a new secret with "cardpress webhook rotate".`,
    };
  });

const checkAccountBuckets: Check = (config, folder) =>
  withBooks(config, folder, async ({ store }) => {
    const keyFile = config.cluster?.secretKeyFile ?? folder.secretKey;
    const named = (await sealedBucketSecrets(store.read)).map(({ accountId }) => accountId);
    if (named.length === 0) return { status: "ok", message: "no account names a bucket of its own" };
    const isThere = existsSync(keyFile);
    const unreadable = isThere
      ? await unreadableBuckets({ store, secrets: secretBox(loadSecretKey(keyFile), randomBytes) })
      : named;
    if (unreadable.length === 0)
      return { status: "ok", message: `the keys of ${counted(named.length, "bucket")} can be read` };
    const why = isThere ? `${keyFile} is not the key they were sealed with` : `${keyFile} is gone`;
    return {
      status: "failed",
      message: `the keys of the buckets of ${unreadable.join(", ")} cannot be read: ${why}. Put the right one back, or write each with "cardpress bucket set".`,
    };
  });

const checkSignIn: Check = async (config, folder) => {
  const found = await checkOidc(config);
  const hasBooks = config.cluster !== undefined || existsSync(folder.database);
  if (!config.oidc || found.status === "failed" || !hasBooks) return found;
  const ids = new Set(config.oidc.accountGroups.map(({ accountId }) => accountId));
  return withBooks(config, folder, async ({ store }) => {
    const unknown: string[] = [];
    for (const id of ids) if (!(await findAccount(store.read, id))) unknown.push(id);
    if (unknown.length === 0) return found;
    return {
      status: "failed",
      message: `CARDPRESS_OIDC_ACCOUNT_GROUPS names ${unknown.join(", ")}, which no account here is. "cardpress account list" has their ids.`,
    };
  });
};

async function withBooks(
  config: Config,
  folder: DataFolder,
  look: (places: { store: Store; blobs?: Blobs }) => Promise<Omit<Diagnosis, "check">>,
): Promise<Omit<Diagnosis, "check">> {
  if (!config.cluster && !existsSync(folder.database))
    return { status: "ok", message: "nothing to look at yet" };
  const places = config.cluster
    ? await openPlaces(config, folder, { mapped: true })
    : { store: openSqliteStore(folder.database, { mapped: true }) };
  try {
    return await look(places);
  } finally {
    await places.store.close();
  }
}
