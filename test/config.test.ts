import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readConfig, withPort } from "../src/config.ts";
import { HUNG_MS } from "./harness.ts";

const dir = mkdtempSync(join(tmpdir(), "cardpress-config-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("an empty environment gives the documented defaults", () => {
  expect(readConfig({})).toMatchObject({
    host: "127.0.0.1",
    port: 3000,
    baseUrl: "http://127.0.0.1:3000",
    cdnBaseUrl: "http://127.0.0.1:3000/cdn",
    retentionDays: 30,
    allowRoot: false,
  });
});

test("backups are made where a folder is named, daily and seven of them by default", () => {
  expect(readConfig({}).backups).toBeUndefined();
  const env = { CARDPRESS_BACKUP_DIR: "/mnt/backup" };
  expect(readConfig(env).backups).toEqual({ dir: "/mnt/backup", everyHours: 24, keep: 7 });
  expect(readConfig({ ...env, CARDPRESS_BACKUP_EVERY_HOURS: "6" }).backups?.everyHours).toBe(6);
  // Keeping none would remove what was just made.
  expect(() => readConfig({ ...env, CARDPRESS_BACKUP_KEEP: "0" })).toThrow("CARDPRESS_BACKUP_KEEP");
});

test("the built-in template is listed unless others are, each of them once and in their order", () => {
  const presets = (text: string) => readConfig({ CARDPRESS_PRESETS: text }).presets;
  expect(readConfig({}).presets).toEqual(["club_card"]);
  expect(presets(" , ")).toEqual(["club_card"]);
  expect(presets("season_card, club_card,season_card,")).toEqual(["season_card", "club_card"]);
});

test("addresses lose their last slash, and the CDN follows the base address", () => {
  const config = readConfig({ CARDPRESS_BASE_URL: "https://cards.example/" });
  expect(config.cdnBaseUrl).toBe("https://cards.example/cdn");
  expect(readConfig({ CARDPRESS_CDN_BASE_URL: "https://cdn.example/x/" }).cdnBaseUrl).toBe(
    "https://cdn.example/x",
  );
});

test("the base address may have a path of its host, behind which the CDN is", () => {
  for (const text of [
    "https://Club.example/cards",
    "https://club.example/cards/",
    "https://club.example/a/../cards",
  ])
    expect([text, readConfig({ CARDPRESS_BASE_URL: text })]).toEqual([
      text,
      expect.objectContaining({
        baseUrl: "https://club.example/cards",
        cdnBaseUrl: "https://club.example/cards/cdn",
      }),
    ]);
});

test("a port chosen by the system appears in every address derived from it", () => {
  const config = withPort(readConfig({ CARDPRESS_PORT: "0" }), 4711);
  expect([config.baseUrl, config.cdnBaseUrl]).toEqual(["http://127.0.0.1:4711", "http://127.0.0.1:4711/cdn"]);
});

test("a port chosen by the system leaves addresses alone that were set", () => {
  const config = readConfig({ CARDPRESS_PORT: "0", CARDPRESS_BASE_URL: "https://[2001:db8::01]" });
  expect(withPort(config, 4711)).toEqual({ ...config, port: 4711 });
  const cdn = readConfig({ CARDPRESS_PORT: "0", CARDPRESS_CDN_BASE_URL: "https://[2001:db8::01]/x" });
  expect(withPort(cdn, 4711)).toMatchObject({
    baseUrl: "http://127.0.0.1:4711",
    cdnBaseUrl: "https://[2001:db8::01]/x",
  });
});

test("allowed origins are compared as origins", () => {
  const config = readConfig({
    CARDPRESS_SOURCE_ALLOWED_ORIGINS: "HTTP://Bucket.internal:80, https://a.example:8443/",
  });
  expect([...config.sourceAllowedOrigins]).toEqual(["http://bucket.internal", "https://a.example:8443"]);
});

test.each([
  ["CARDPRESS_PORT", "eighty"],
  ["CARDPRESS_PORT", "70000"],
  ["CARDPRESS_PORT", "-1"],
  ["CARDPRESS_BASE_URL", "cards.example"],
  ["CARDPRESS_BASE_URL", "ftp://cards.example"],
  ["CARDPRESS_BASE_URL", "https://club.example/a;b"],
  ["CARDPRESS_BASE_URL", "https://club.example/a//b"],
  ["CARDPRESS_BASE_URL", "https://club.example/docs/cards"],
  ["CARDPRESS_BASE_URL", "https://club.example/cards?x=1"],
  ["CARDPRESS_CDN_BASE_URL", "https://cdn.example/?x=1"],
  ["CARDPRESS_RENDER_WORKERS", "0"],
  ["CARDPRESS_REST_AFTER_MINUTES", "-1"],
  ["CARDPRESS_RETENTION_DAYS", "1.5"],
  ["CARDPRESS_ALLOW_ROOT", "yes"],
  ["CARDPRESS_PRESETS", "club_card,../secrets"],
  ["CARDPRESS_PRESETS", "Club Card"],
  ["CARDPRESS_SOURCE_ALLOWED_ORIGINS", "https://a.example/path"],
  ["CARDPRESS_WEBHOOK_ALLOWED_ORIGINS", "localhost:3000"],
])("%s=%s is refused by name", (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(name);
});

const CLUSTER = {
  CARDPRESS_DATABASE_URL: "postgres://cards:secret@db:5432/cards",
  CARDPRESS_S3_ENDPOINT: "https://s3.example",
  CARDPRESS_S3_REGION: "eu-central-1",
  CARDPRESS_S3_BUCKET: "cards",
  CARDPRESS_S3_ACCESS_KEY_ID: "id",
  CARDPRESS_S3_SECRET_ACCESS_KEY: "secret",
  CARDPRESS_SECRET_KEY_FILE: "/run/secrets/cards",
};

test("PostgreSQL, a bucket and a key are given together or not at all", () => {
  expect(readConfig({}).cluster).toBeUndefined();
  expect(readConfig({ CARDPRESS_DATABASE_URL: "" }).cluster).toBeUndefined();
  expect(readConfig(CLUSTER).cluster).toMatchObject({
    databaseUrl: CLUSTER.CARDPRESS_DATABASE_URL,
    databaseConnections: 20,
    bucket: { bucket: "cards", region: "eu-central-1" },
  });
  for (const name of Object.keys(CLUSTER))
    expect(() => readConfig({ ...CLUSTER, [name]: "" })).toThrow(
      new RegExp(`^CARDPRESS_\\w+ is set, but not ${name}\\. .*set all of these, or none`),
    );
});

test("a bucket may be given without PostgreSQL, whole or not at all, and then takes the files alone", () => {
  const { CARDPRESS_DATABASE_URL: _, CARDPRESS_SECRET_KEY_FILE: __, ...bucket } = CLUSTER;
  expect(readConfig({}).bucket).toBeUndefined();
  expect(readConfig({ ...bucket, CARDPRESS_BACKUP_DIR: "/backups" })).toMatchObject({
    cluster: undefined,
    bucket: { endpoint: "https://s3.example", bucket: "cards" },
  });
  expect(readConfig(CLUSTER).bucket).toEqual(readConfig(bucket).bucket);
  for (const name of Object.keys(bucket))
    expect(() => readConfig({ ...bucket, [name]: "" })).toThrow(
      new RegExp(`^CARDPRESS_\\w+ is set, but not ${name}\\. .*set all of these, or none`),
    );
});

test.each([
  ["CARDPRESS_DATABASE_URL", "mysql://cards:secret@db/cards"],
  ["CARDPRESS_DATABASE_URL", "postgres://cards:secret@db"],
  ["CARDPRESS_DATABASE_CONNECTIONS", "4"],
  ["CARDPRESS_S3_ENDPOINT", "s3.example"],
  ["CARDPRESS_BACKUP_DIR", "/backups"],
])("with them %s cannot be %s, and no password is shown", (name, value) => {
  const read = () => readConfig({ ...CLUSTER, [name]: value });
  expect(read).toThrow(new RegExp(`^${name} `));
  expect(read).not.toThrow(/secret/);
});

test("each secret may stand in a file, whose last newline does not count", () => {
  const file = (name: string, text: string) => {
    const path = join(dir, name);
    writeFileSync(path, text);
    return path;
  };
  const read = readConfig({
    ...CLUSTER,
    CARDPRESS_DATABASE_URL: "",
    CARDPRESS_DATABASE_URL_FILE: file("database", "postgres://cards:filed@db:5432/cards\n"),
    CARDPRESS_S3_ACCESS_KEY_ID: undefined,
    CARDPRESS_S3_ACCESS_KEY_ID_FILE: file("id", "filed id\r\n"),
    CARDPRESS_S3_SECRET_ACCESS_KEY: undefined,
    CARDPRESS_S3_SECRET_ACCESS_KEY_FILE: file("secret", "filed secret "),
    CARDPRESS_SMTP_URL_FILE: file("smtp", "smtps://cards:filed@mail.example\n"),
    CARDPRESS_MAIL_FROM: "cards@mail.example",
    CARDPRESS_METRICS_TOKEN_FILE: file("token", "filed-token-of-metrics\n"),
    CARDPRESS_OIDC_ISSUER: "https://login.example",
    CARDPRESS_OIDC_CLIENT_ID: "cards",
    CARDPRESS_OIDC_CLIENT_SECRET_FILE: file("oidc", "filed secret of both\n"),
  });
  expect(read.cluster?.databaseUrl).toBe("postgres://cards:filed@db:5432/cards");
  expect(read.cluster?.bucket).toMatchObject({ accessKeyId: "filed id", secretAccessKey: "filed secret " });
  expect(read.mail?.smtpUrl).toBe("smtps://cards:filed@mail.example");
  expect(read.metricsToken).toBe("filed-token-of-metrics");
  expect(read.oidc?.clientSecret).toBe("filed secret of both");
  expect(read.unknownSettings).toEqual([]);
});

test("a secret's file that cannot be right is refused by its name, and what it holds is not shown", () => {
  const path = join(dir, "token");
  const read = (text: string, env = {}) => {
    writeFileSync(path, text);
    return () => readConfig({ CARDPRESS_METRICS_TOKEN_FILE: path, ...env });
  };
  expect(read("sixteen-letters-or-more", { CARDPRESS_METRICS_TOKEN: "another-of-that-length" })).toThrow(
    "CARDPRESS_METRICS_TOKEN and CARDPRESS_METRICS_TOKEN_FILE are both set. Unset one",
  );
  expect(read("\n")).toThrow(`CARDPRESS_METRICS_TOKEN_FILE names ${path}, which is empty`);
  const lines = read("first-secret\nsecond-secret\n");
  expect(lines).toThrow(`CARDPRESS_METRICS_TOKEN_FILE names ${path}, which has several lines`);
  expect(lines).not.toThrow(/first-secret|second-secret/);
  const nowhere = () => readConfig({ CARDPRESS_METRICS_TOKEN_FILE: join(dir, "none") });
  expect(nowhere).toThrow(`CARDPRESS_METRICS_TOKEN_FILE names ${join(dir, "none")}, which cannot be read`);
  expect(() => readConfig({ CARDPRESS_METRICS_TOKEN_FILE: dir })).toThrow("which cannot be read: EISDIR");
  const endless = () => readConfig({ CARDPRESS_METRICS_TOKEN_FILE: "/dev/zero" });
  expect(endless).toThrow("CARDPRESS_METRICS_TOKEN_FILE names /dev/zero, which has more than 64 KB");
});

test("a secret is read from a pipe, and one into which nobody writes is refused instead of waited for", async () => {
  const pipe = join(dir, "pipe");
  expect(Bun.spawnSync(["mkfifo", pipe]).exitCode).toBe(0);
  // In a process of its own: what waits to open a pipe cannot be interrupted from within.
  const script = `import { readConfig } from ${JSON.stringify(join(import.meta.dir, "../src/config.ts"))};
    try { console.log(readConfig({ CARDPRESS_METRICS_TOKEN_FILE: process.argv[1] }).metricsToken); }
    catch (error) { console.log(error.message); }`;
  const read = (command: string[]) => new Response(Bun.spawn(command, { timeout: HUNG_MS }).stdout).text();
  const bun = [process.execPath, "-e", script];
  expect(await read([...bun, pipe])).toContain(
    `${pipe}, which cannot be read: it is a pipe, and nobody writes`,
  );
  const piped = ["bash", "-c", 'exec "$0" "$1" "$2" <(echo piped-token-of-metrics)', ...bun];
  expect(await read(piped)).toBe("piped-token-of-metrics\n");
});

test("a variable that is named like a setting and is none is reported, and each on the page of settings is one", async () => {
  const page = await Bun.file(join(import.meta.dir, "../src/http/docs/guides/settings.md")).text();
  const rows = page.split("\n").filter((line) => line.startsWith("| `CARDPRESS_"));
  const names = rows.flatMap((row) => row.split("|")[1]?.match(/CARDPRESS_\w+/g) ?? []);
  expect(names.length).toBeGreaterThan(30);
  expect(readConfig(Object.fromEntries(names.map((name) => [name, ""]))).unknownSettings).toEqual([]);
  const { unknownSettings } = readConfig({
    CARDPRESS_BAKUP_DIR: "/b",
    CARDPRESS_KEY: "sk_test_x",
    HOME: "/",
  });
  expect(unknownSettings).toEqual(["CARDPRESS_BAKUP_DIR"]);
});

test("every setting that a version ever had is still read, with the value that it took", async () => {
  const text = await Bun.file(join(import.meta.dir, "fixtures/upgrade/settings.env")).text();
  const known = Object.fromEntries(
    [...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  const names = Object.keys(known);
  expect(readConfig(Object.fromEntries(names.map((name) => [name, ""]))).unknownSettings).toEqual([]);
  // In place of these a file may be named, and a data folder's backups are not for a cluster.
  const plain = names.filter(
    (name) => !names.includes(name.replace(/_FILE$/, "")) || !name.endsWith("_FILE"),
  );
  const isClusters = (name: string) => /^CARDPRESS_(DATABASE_URL|S3_|SECRET_KEY)/.test(name);
  const valuesOf = (some: string[]) => Object.fromEntries(some.map((name) => [name, known[name]]));
  expect(readConfig(valuesOf(plain.filter((name) => !isClusters(name)))).backups?.keep).toBe(7);
  expect(readConfig(valuesOf(plain.filter((name) => !/BACKUP/.test(name)))).cluster).toBeDefined();
  const page = await Bun.file(join(import.meta.dir, "../src/http/docs/guides/settings.md")).text();
  const rows = page.split("\n").filter((line) => line.startsWith("| `CARDPRESS_"));
  const documented = rows.flatMap((row) => row.split("|")[1]?.match(/CARDPRESS_\w+/g) ?? []);
  expect(documented.length).toBeGreaterThan(30);
  expect(documented.filter((name) => !names.includes(name))).toEqual([]);
});

const OIDC = {
  CARDPRESS_OIDC_ISSUER: "https://login.example/realms/club/",
  CARDPRESS_OIDC_CLIENT_ID: "cards",
  CARDPRESS_OIDC_CLIENT_SECRET: "the secret of both",
};

test("a sign-in provider is set up whole or not at all, and what is missing is named", () => {
  expect(readConfig({}).oidc).toBeUndefined();
  expect(readConfig(OIDC).oidc).toEqual({
    issuer: "https://login.example/realms/club/",
    clientId: "cards",
    clientSecret: "the secret of both",
    name: "SSO",
    scope: "openid email profile",
    groupsClaim: "groups",
    operatorGroups: new Set(),
    accountGroups: [],
    trustsEmail: false,
    only: false,
  });
  for (const name of Object.keys(OIDC)) {
    const read = () => readConfig({ ...OIDC, [name]: "" });
    expect(read).toThrow(`but not ${name}. Register this service at your provider`);
    expect(read).not.toThrow(/the secret of both/);
  }
  expect(() => readConfig({ CARDPRESS_OIDC_ONLY: "1" })).toThrow(
    "CARDPRESS_OIDC_ONLY is set, but not CARDPRESS_OIDC_ISSUER, CARDPRESS_OIDC_CLIENT_ID",
  );
});

test("groups are read with their accounts and roles, and a wrong entry is refused with an example", () => {
  const read = (groups: string, more = {}) =>
    readConfig({ ...OIDC, CARDPRESS_OIDC_ACCOUNT_GROUPS: groups, ...more }).oidc;
  const oidc = read(" /clubs/rovers=x = acct_1a:developer , board=acct_2:owner,", {
    CARDPRESS_OIDC_OPERATOR_GROUPS: "office, league office,office",
    CARDPRESS_OIDC_SCOPES: "email,groups",
  });
  expect(oidc).toBeDefined();
  expect(oidc?.accountGroups).toEqual([
    { group: "/clubs/rovers=x", accountId: "acct_1a", role: "developer" },
    { group: "board", accountId: "acct_2", role: "owner" },
  ]);
  expect([...(oidc?.operatorGroups ?? [])]).toEqual(["office", "league office"]);
  expect(oidc?.scope).toBe("openid email groups");
  for (const wrong of ["staff", "staff=acct_1", "staff=acct_1:admin", "=acct_1:owner", "staff=rovers:owner"])
    expect(() => read(wrong)).toThrow(`CARDPRESS_OIDC_ACCOUNT_GROUPS holds "${wrong}"; every entry must be`);
});

test("a provider is reached over https; plain http is for one on this machine", () => {
  const read = (issuer: string) => () => readConfig({ ...OIDC, CARDPRESS_OIDC_ISSUER: issuer });
  for (const right of [
    "https://login.example",
    "http://localhost:8080/x",
    "http://127.0.0.1:9",
    "http://[::1]",
  ])
    expect(read(right)).not.toThrow();
  for (const wrong of [
    "http://login.example",
    "login.example",
    "https://a:b@login.example",
    "https://x/?a=1",
  ])
    expect(read(wrong)).toThrow(`CARDPRESS_OIDC_ISSUER is "${wrong}"; it must be the address`);
  expect(() => readConfig({ ...OIDC, CARDPRESS_OIDC_NAME: "x".repeat(41) })).toThrow(
    "more than 40 characters",
  );
});
