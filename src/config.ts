import { resolve } from "node:path";
import type { BucketSettings } from "./blobs/bucket.ts";
import { type Cluster, readStorage } from "./cluster-config.ts";
import { SECRET_FILE_VARIABLES, withSecretFiles } from "./config-secrets.ts";
import { faultOfBasePath } from "./core/base-path.ts";
import { OperatorError } from "./core/errors.ts";
import { DATABASE_CONNECTIONS, MIN_FREE_DISK_BYTES, WORKER_MEMORY_BYTES } from "./core/limits.ts";
import { workersFor } from "./core/machine-limits.ts";
import { MINUTE_MS } from "./core/time.ts";
import { type OidcSettings, readOidc } from "./oidc-config.ts";
import { machineSize } from "./system/machine-size.ts";
import { DEFAULT_TEMPLATE } from "./templates/built-in.ts";
import { TEMPLATE_NAME } from "./templates/manifest.ts";

/** The service's settings, read once from the environment. */
export interface Config {
  host: string;
  /** 0 lets the system choose a free one. */
  port: number;
  /** The service's public URL, maybe with a path of its host, without trailing slash. */
  baseUrl: string;
  /** The URL under which finished images are served, without trailing slash. */
  cdnBaseUrl: string;
  dataDir: string;
  /** A folder of templates beside the built-in ones. */
  templatesDir: string | undefined;
  /** The templates partners may request: at least one, without duplicates. */
  presets: readonly string[];
  chromiumPath: string | undefined;
  /** The ffmpeg that makes videos as MP4; undefined: none are made. */
  mp4Encoder: string | undefined;
  /** The operator's ONNX file for separating player and background, instead of the built-in network. */
  matteModel: string | undefined;
  /** The ICC profile of the press for which print files in CMYK are made; undefined: none are. */
  printProfile: string | undefined;
  renderWorkers: number;
  /**
   * Memory limit of a render worker with its browser: above it the worker is recycled, above twice as much
   * killed.
   */
  workerMemoryBytes: number;
  /** Without a card for this long, render workers end until the next one; undefined: never. */
  restAfterMs: number | undefined;
  sourceAllowedOrigins: ReadonlySet<string>;
  webhookAllowedOrigins: ReadonlySet<string>;
  exportAllowedOrigins: ReadonlySet<string>;
  allowRoot: boolean;
  retentionDays: number;
  /** Creates are refused when less space is free; 0 turns this off. */
  minFreeDiskBytes: number;
  /** A separate address for /metrics and /ready; undefined: none. */
  metricsListener: { host: string; port: number } | undefined;
  /**
   * The token that allows reading /metrics from anywhere; undefined: only this machine, and the separate
   * listener.
   */
  metricsToken: string | undefined;
  /** How mail is sent; undefined: not at all, and the console alone shows what would be mailed. */
  mail: { smtpUrl: string; from: string } | undefined;
  /** Whether /status says to anybody how the service is. */
  statusPage: boolean;
  /** Whether renders are traced to a collector, which the standard OpenTelemetry variables name. */
  tracing: boolean;
  /** Scheduled backups; undefined: none. */
  backups: { dir: string; everyHours: number; keep: number } | undefined;
  /** Where state is kept instead of in the data folder; undefined: there. */
  cluster: Cluster | undefined;
  /** Where photos, pictures and templates are kept; undefined: in the data folder. */
  bucket: BucketSettings | undefined;
  /** The OpenID provider where people sign in; undefined: with passwords and passkeys alone. */
  oidc: OidcSettings | undefined;
  /** Variables named like settings but unknown: misspelt ones, which would go unnoticed. */
  unknownSettings: readonly string[];
}

const MEGABYTE = 1024 * 1024;

type Environment = Record<string, string | undefined>;

/**
 * Reads and validates every CARDPRESS_ variable, and the files that hold secrets. Throws an OperatorError
 * that names the variable and the remedy.
 */
export function readConfig(given: Environment): Config {
  const known = new Set([...OTHERS_VARIABLES, ...SECRET_FILE_VARIABLES]);
  const env = new Proxy(withSecretFiles(given), {
    get: (variables, name: string) => {
      known.add(name);
      return variables[name];
    },
  });
  const config = readSettings(env);
  const unknownSettings = Object.keys(given).filter(
    (name) => name.startsWith("CARDPRESS_") && !known.has(name),
  );
  return { ...config, unknownSettings };
}

/** What the documentation's samples keep in variables of their own, and what cardpressctl sets. */
const OTHERS_VARIABLES = ["CARDPRESS_KEY", "CARDPRESS_WEBHOOK_SECRET", "CARDPRESS_CALLED_AS"];

function readSettings(env: Environment): Omit<Config, "unknownSettings"> {
  const host = env.CARDPRESS_HOST || "127.0.0.1";
  const port = integer(env, "CARDPRESS_PORT", { fallback: 3000, min: 0, max: 65535 });
  const baseUrl = siteUrl(env, "CARDPRESS_BASE_URL") ?? localUrl(host, port);
  return {
    host,
    port,
    baseUrl,
    cdnBaseUrl: httpUrl(env, "CARDPRESS_CDN_BASE_URL") ?? cdnOf(baseUrl),
    dataDir: resolve(env.CARDPRESS_DATA_DIR || "./data"),
    templatesDir: env.CARDPRESS_TEMPLATES_DIR ? resolve(env.CARDPRESS_TEMPLATES_DIR) : undefined,
    presets: presets(env),
    chromiumPath: env.CARDPRESS_CHROMIUM || undefined,
    mp4Encoder: env.CARDPRESS_MP4_ENCODER ? resolve(env.CARDPRESS_MP4_ENCODER) : undefined,
    matteModel: env.CARDPRESS_MATTE_MODEL ? resolve(env.CARDPRESS_MATTE_MODEL) : undefined,
    printProfile: env.CARDPRESS_PRINT_PROFILE ? resolve(env.CARDPRESS_PRINT_PROFILE) : undefined,
    renderWorkers: integer(env, "CARDPRESS_RENDER_WORKERS", {
      fallback: workersFor(machineSize()),
      min: 1,
      max: 64,
    }),
    workerMemoryBytes:
      MEGABYTE *
      integer(env, "CARDPRESS_WORKER_MEMORY_MB", {
        fallback: WORKER_MEMORY_BYTES / MEGABYTE,
        min: 400,
        max: 1_000_000,
      }),
    restAfterMs: restAfter(env),
    sourceAllowedOrigins: origins(env, "CARDPRESS_SOURCE_ALLOWED_ORIGINS"),
    webhookAllowedOrigins: origins(env, "CARDPRESS_WEBHOOK_ALLOWED_ORIGINS"),
    exportAllowedOrigins: origins(env, "CARDPRESS_EXPORT_ALLOWED_ORIGINS"),
    allowRoot: flag(env, "CARDPRESS_ALLOW_ROOT"),
    retentionDays: integer(env, "CARDPRESS_RETENTION_DAYS", { fallback: 30, min: 1, max: 3650 }),
    minFreeDiskBytes:
      MEGABYTE *
      integer(env, "CARDPRESS_MIN_FREE_DISK_MB", {
        fallback: MIN_FREE_DISK_BYTES / MEGABYTE,
        min: 0,
        max: 1_000_000_000,
      }),
    ...metrics(env),
    mail: mail(env),
    backups: backups(env),
    statusPage: flag(env, "CARDPRESS_STATUS_PAGE", "on"),
    oidc: readOidc(env, flag),
    tracing: Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT || env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT),
    ...readStorage(env, {
      databaseConnections: integer(env, "CARDPRESS_DATABASE_CONNECTIONS", {
        fallback: DATABASE_CONNECTIONS,
        // Two to read, two for transactions, one for single statements.
        min: 5,
        max: 200,
      }),
    }),
  };
}

/** 0 keeps the render workers for ever. */
function restAfter(env: Environment): number | undefined {
  const minutes = integer(env, "CARDPRESS_REST_AFTER_MINUTES", { fallback: 10, min: 0, max: 10_000 });
  return minutes === 0 ? undefined : minutes * MINUTE_MS;
}

const MAIL_FROM = /^([^<>@]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/;

function mail(env: Environment): Config["mail"] {
  const { CARDPRESS_SMTP_URL: smtpUrl, CARDPRESS_MAIL_FROM: from } = env;
  if (!smtpUrl) return undefined;
  const url = URL.parse(smtpUrl);
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === "")
    throw new OperatorError(
      "CARDPRESS_SMTP_URL must be an address such as smtps://user:password@mail.example.com, or smtp:// with a port for STARTTLS.",
      2,
    );
  if (!from || !MAIL_FROM.test(from))
    throw new OperatorError(
      `CARDPRESS_MAIL_FROM is "${from ?? ""}"; with CARDPRESS_SMTP_URL it must be the sender of the mails, such as cardpress <cards@example.com>.`,
      2,
    );
  return { smtpUrl, from };
}

/** Shorter ones could be guessed. */
const MIN_METRICS_TOKEN_CHARS = 16;

function metrics(env: Environment): Pick<Config, "metricsListener" | "metricsToken"> {
  const host = env.CARDPRESS_METRICS_HOST || "127.0.0.1";
  const port = integer(env, "CARDPRESS_METRICS_PORT", { fallback: 0, min: 1, max: 65535 });
  const metricsToken = env.CARDPRESS_METRICS_TOKEN || undefined;
  if (metricsToken !== undefined && !new RegExp(`^[!-~]{${MIN_METRICS_TOKEN_CHARS},}$`).test(metricsToken))
    throw new OperatorError(
      `CARDPRESS_METRICS_TOKEN must have at least ${MIN_METRICS_TOKEN_CHARS} visible ASCII characters: take what "openssl rand -hex 24" prints.`,
      2,
    );
  return { metricsListener: port === 0 ? undefined : { host, port }, metricsToken };
}

function presets(env: Environment): string[] {
  const entries = (env.CARDPRESS_PRESETS ?? "").split(",").map((part) => part.trim());
  const names = [...new Set(entries.filter(Boolean))];
  for (const name of names) {
    if (!TEMPLATE_NAME.test(name))
      throw new OperatorError(
        `CARDPRESS_PRESETS holds "${name}", which is not a template name: use lower-case letters, digits and underscores, separated by commas, as in ${DEFAULT_TEMPLATE},season_card.`,
        2,
      );
  }
  return names.length > 0 ? names : [DEFAULT_TEMPLATE];
}

function backups(env: Environment): Config["backups"] {
  const everyHours = integer(env, "CARDPRESS_BACKUP_EVERY_HOURS", { fallback: 24, min: 1, max: 720 });
  const keep = integer(env, "CARDPRESS_BACKUP_KEEP", { fallback: 7, min: 1, max: 1000 });
  const dir = env.CARDPRESS_BACKUP_DIR;
  return dir ? { dir: resolve(dir), everyHours, keep } : undefined;
}

/** The same settings with the port the system chose; URLs set by the operator stay unchanged. */
export function withPort(config: Config, port: number): Config {
  const { host, baseUrl, cdnBaseUrl } = config;
  const moved = baseUrl === localUrl(host, config.port) ? localUrl(host, port) : baseUrl;
  return {
    ...config,
    port,
    baseUrl: moved,
    cdnBaseUrl: cdnBaseUrl === cdnOf(baseUrl) ? cdnOf(moved) : cdnBaseUrl,
  };
}

function integer(
  env: Environment,
  name: string,
  rule: { fallback: number; min: number; max: number },
): number {
  const text = env[name];
  if (text === undefined || text === "") return rule.fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < rule.min || value > rule.max) {
    throw new OperatorError(
      `${name} is "${text}"; it must be a whole number from ${rule.min} to ${rule.max}.`,
      2,
    );
  }
  return value;
}

/** `on`: the word that sets it. */
function flag(env: Environment, name: string, on = "1"): boolean {
  const text = env[name] ?? "";
  if (text === "" || text === "0") return false;
  if (text === on) return true;
  throw new OperatorError(`${name} is "${text}"; set it to ${on}, or leave it unset.`, 2);
}

function httpUrl(env: Environment, name: string): string | undefined {
  const text = env[name];
  if (!text) return undefined;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
    throw new OperatorError(
      `${name} is "${text}"; it must be an address such as https://cards.example.com.`,
      2,
    );
  }
  return text.replace(/\/+$/, "");
}

/** The URL of the service, which may have a path of its host instead of all of it. */
function siteUrl(env: Environment, name: string): string | undefined {
  const url = httpUrl(env, name);
  if (url === undefined) return undefined;
  const { origin, pathname } = new URL(url);
  if (pathname === "/") return url;
  const fault = faultOfBasePath(pathname);
  if (fault === undefined) return origin + pathname;
  throw new OperatorError(`${name} is "${env[name]}"; ${fault}.`, 2);
}

function origins(env: Environment, name: string): ReadonlySet<string> {
  const entries = (env[name] ?? "").split(",").map((part) => part.trim());
  return new Set(
    entries.filter(Boolean).map((entry) => {
      const url = URL.parse(entry);
      if (!url || !/^https?:$/.test(url.protocol) || (url.pathname !== "/" && url.pathname !== "")) {
        throw new OperatorError(
          `${name} holds "${entry}"; every entry must be an origin such as https://bucket.internal:9000, separated by commas.`,
          2,
        );
      }
      return url.origin;
    }),
  );
}

/** The service's default URL. */
function localUrl(host: string, port: number): string {
  const shown = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${shown.includes(":") ? `[${shown}]` : shown}:${port}`;
}

function cdnOf(baseUrl: string): string {
  return `${baseUrl}/cdn`;
}
