import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { OperatorError } from "./core/errors.ts";

/** The settings that hold a secret. Each may stand in a file instead, which NAME_FILE names. */
const SECRETS = [
  "CARDPRESS_DATABASE_URL",
  "CARDPRESS_S3_ACCESS_KEY_ID",
  "CARDPRESS_S3_SECRET_ACCESS_KEY",
  "CARDPRESS_SMTP_URL",
  "CARDPRESS_METRICS_TOKEN",
  "CARDPRESS_OIDC_CLIENT_SECRET",
] as const;

/** Far more than a secret has, so that the wrong path, such as a log's, costs no memory. */
const MAX_SECRET_BYTES = 64 * 1024;

/** How long a pipe may be empty, such as that of `<(pass show s3)`, whose program is only starting. */
const MAX_PIPE_WAIT_MS = 3_000;
const PIPE_LOOK_MS = 20;

type Environment = Record<string, string | undefined>;

/** The NAME_FILE variables, which unlike CARDPRESS_SECRET_KEY_FILE stand for a setting without _FILE. */
export const SECRET_FILE_VARIABLES: readonly string[] = SECRETS.map(fileVariable);

/**
 * The environment with the secrets that files hold, as containers get them mounted. Throws an OperatorError
 * that names the variable and the path, never what the file holds.
 */
export function withSecretFiles(env: Environment): Environment {
  const filled = { ...env };
  for (const name of SECRETS) {
    const path = env[fileVariable(name)];
    if (!path) continue;
    if (env[name])
      throw new OperatorError(
        `${name} and ${fileVariable(name)} are both set. Unset one: the secret is either in the variable or in the file.`,
        2,
      );
    filled[name] = readSecret(fileVariable(name), path);
  }
  return filled;
}

function readSecret(variable: string, path: string): string {
  let text: string | null;
  try {
    text = readShort(path);
  } catch (cause) {
    throw new OperatorError(
      `${variable} names ${path}, which cannot be read: ${(cause as Error).message}. Name a file that this user may read, with the secret as its only line.`,
      2,
      { cause },
    );
  }
  const secret = text?.replace(/\r?\n$/, "");
  if (secret && !/[\r\n]/.test(secret)) return secret;
  const fault =
    secret === undefined ? "has more than 64 KB" : secret === "" ? "is empty" : "has several lines";
  throw new OperatorError(
    `${variable} names ${path}, which ${fault}. Write the secret into it as its only line.`,
    2,
  );
}

/**
 * A file's text; null for a longer one, or a device without end, whose beginning alone is read. Throws for a
 * pipe into which nobody writes, which would never open otherwise.
 */
function readShort(path: string): string | null {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const bytes = Buffer.alloc(MAX_SECRET_BYTES + 1);
    const isPipe = fstatSync(file).isFIFO();
    const until = performance.now() + MAX_PIPE_WAIT_MS;
    let length = 0;
    for (;;) {
      const read = readAvailable(file, bytes, length);
      length += read ?? 0;
      if (length === bytes.length) return null;
      const isWaiting = read === null || (isPipe && length === 0);
      if (read === 0 && !isWaiting) return bytes.toString("utf8", 0, length);
      if (!isWaiting) continue;
      if (performance.now() > until) throw new Error("it is a pipe, and nobody writes into it");
      Bun.sleepSync(PIPE_LOOK_MS);
    }
  } finally {
    closeSync(file);
  }
}

/** How many bytes there were to read, 0 at the end; null where more may come. */
function readAvailable(file: number, bytes: Buffer, from: number): number | null {
  try {
    return readSync(file, bytes, from, bytes.length - from, null);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") return null;
    throw error;
  }
}

function fileVariable(name: string): string {
  return `${name}_FILE`;
}
