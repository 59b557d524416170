import { readFileSync } from "node:fs";
import { OperatorError } from "./core/errors.ts";

/** The settings that hold a secret. Each may stand in a file instead, which NAME_FILE names. */
const SECRETS = [
  "CARDPRESS_DATABASE_URL",
  "CARDPRESS_S3_ACCESS_KEY_ID",
  "CARDPRESS_S3_SECRET_ACCESS_KEY",
  "CARDPRESS_SMTP_URL",
  "CARDPRESS_METRICS_TOKEN",
] as const;

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
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new OperatorError(
      `${variable} names ${path}, which cannot be read: ${(cause as Error).message}. Name a file that this user may read, with the secret as its only line.`,
      2,
      { cause },
    );
  }
  const secret = text.replace(/\r?\n$/, "");
  if (secret !== "" && !/[\r\n]/.test(secret)) return secret;
  throw new OperatorError(
    `${variable} names ${path}, which ${secret === "" ? "is empty" : "has several lines"}. Write the secret into it as its only line.`,
    2,
  );
}

function fileVariable(name: string): string {
  return `${name}_FILE`;
}
