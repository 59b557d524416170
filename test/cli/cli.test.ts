import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { table } from "../../src/cli/output.ts";
import { parseApiKey } from "../../src/core/api-key.ts";
import { COMMIT, RELEASE, VERSION } from "../../src/version.ts";
import { type TestFolder, testFolder } from "../harness.ts";
import { runCommand, runCommandWith } from "./run.ts";

let folder: TestFolder;
beforeAll(() => {
  folder = testFolder();
});
afterAll(() => folder.remove());

const run = (...args: string[]) => runCommand(folder.dir, ...args);

test("an account and its keys can be made, listed and revoked; the key is shown once", async () => {
  const account = (
    await run("account", "create", "--name", "Rovers", "--tier", "growth", "--credits", "50", "--json")
  ).json();
  expect(account).toMatchObject({ tier: "growth", credit_limit: 50, credits_remaining: 50 });

  const made = await run("key", "create", "--account", account.account_id, "--environment", "live", "--json");
  const { key_id, key, prefix, last4 } = made.json();
  expect(parseApiKey(key)).toBe("live");
  expect([prefix, last4]).toEqual(["sk_live_", key.slice(-4)]);

  const listed = await run("key", "list", "--account", account.account_id, "--json");
  expect(listed.out).not.toContain(key);
  expect(listed.json()).toMatchObject([{ key_id, revoked_at: null }]);

  const signing = (...more: string[]) => run("key", "signing-secret", "--key", key_id, "--json", ...more);
  expect((await signing()).json()).toEqual({
    key_id,
    signing_secret: expect.stringMatching(/^cps_[\w-]{43}$/),
  });
  expect((await signing("--remove")).json()).toMatchObject({ signs_addresses: false });
  expect((await run("key", "revoke", "--key", key_id, "--json")).json().revoked_at).toBeString();
  expect((await run("account", "suspend", "--account", account.account_id, "--json")).json().status).toBe(
    "suspended",
  );
  expect((await run("account", "resume", "--account", account.account_id, "--json")).json().status).toBe(
    "active",
  );
  expect((await run("account", "list", "--json")).json()).toHaveLength(1);
});

test("what is advised next begins with the name that was called", async () => {
  const made = async (env: Record<string, string>) => {
    const other = testFolder();
    const { out } = await runCommandWith(
      env,
      other.dir,
      ...["account", "create", "--name", "A", "--tier", "starter", "--credits", "5"],
    );
    await other.remove();
    return out;
  };
  expect(await made({})).toContain(" cardpress key create --account ");
  expect(await made({ CARDPRESS_CALLED_AS: "cardpressctl" })).toContain(
    " cardpressctl key create --account ",
  );
});

test("an account's budget and its alerts are shown, set and taken away", async () => {
  const made = await run("account", "create", "--name", "A", "--tier", "starter", "--credits", "5", "--json");
  const { account_id } = made.json();
  const alerts = (...options: string[]) =>
    run("account", "alerts", "--account", account_id, "--json", ...options);
  const unset = { account_id, period: expect.stringMatching(/^20\d\d-\d\d$/), budget: null, alerts: [] };
  expect((await alerts()).json()).toEqual({ ...unset, credits_used: null });
  const mark = (percent: number, credits: number) => ({ percent, credits, told_at: null });
  const set = { ...unset, budget: 900, credits_used: 0 };
  expect((await alerts("--budget", "900")).json()).toEqual({
    ...set,
    alerts: [mark(50, 450), mark(80, 720), mark(100, 900)],
  });
  expect((await alerts("--at", "90, 10")).json()).toEqual({ ...set, alerts: [mark(10, 90), mark(90, 810)] });
  expect((await run("account", "alerts", "--account", account_id)).out).toContain("0 of 900 credits used");
  expect((await alerts("--budget", "none")).json()).toEqual({ ...unset, credits_used: null });
  const percentOfNothing = await alerts("--at", "50");
  expect([percentOfNothing.code, percentOfNothing.err]).toEqual([1, expect.stringContaining("--budget")]);
  expect((await alerts("--budget", "0")).code).toBe(2);
  expect((await alerts("--budget", "10", "--at", "half")).code).toBe(2);
});

test("how long an account keeps what is theirs is shown and set, each by itself", async () => {
  const made = await run("account", "create", "--name", "K", "--tier", "starter", "--credits", "5", "--json");
  const { account_id } = made.json();
  const retention = (...options: string[]) =>
    run("account", "retention", "--account", account_id, "--json", ...options);
  const unset = { account_id, retention_days: 30, forget_after_days: null };
  expect((await retention()).json()).toEqual(unset);
  await retention("--pictures", "3");
  const set = { ...unset, retention_days: 3, forget_after_days: 10 };
  expect((await retention("--forget-after", "10")).json()).toEqual(set);
  expect((await retention()).json()).toEqual(set);
  expect((await retention("--pictures", "default", "--forget-after", "never")).json()).toEqual(unset);
  expect((await retention("--pictures", "0")).code).toBe(2);
  const nobody = await run("account", "retention", "--account", "acct_nobody", "--json");
  expect(nobody.code).toBe(1);
  expect(JSON.parse(nobody.err).error).toStartWith("There is no account acct_nobody.");
});

test("a list of an account that does not exist is a failure, not an empty list", async () => {
  for (const command of ["key list", "credits ledger", "webhook list"]) {
    const { code, out, err } = await run(...command.split(" "), "--account", "acct_nobody", "--json");
    expect({ command, code, out }).toEqual({ command, code: 1, out: "" });
    expect(JSON.parse(err).error).toContain("There is no account acct_nobody");
  }
});

test("credits granted by hand are in the ledger", async () => {
  const account = (
    await run("account", "create", "--name", "B", "--tier", "starter", "--credits", "5", "--json")
  ).json();
  const id = account.account_id;
  const granted = await run(
    "credits",
    "grant",
    "--account",
    id,
    "--amount",
    "7",
    "--reason",
    "welcome",
    "--json",
  );
  expect(granted.json().credits_remaining).toBe(12);
  const entries = (await run("credits", "ledger", "--account", id, "--json")).json();
  expect(entries.map((e: { kind: string; amount: number }) => [e.kind, e.amount]).sort()).toEqual([
    ["grant", 5],
    ["grant", 7],
  ]);
});

test.each([
  [["account", "create", "--name", "X"], /--tier/],
  [["account", "create", "--name", "X", "--tier", "huge", "--credits", "1"], /starter, growth, scale/],
  [["account", "create", "--name", "X", "--tier", "scale", "--credits", "-1"], /whole number/],
  [["no-such-command"], /unknown command/],
  [["no-such-command", "--help"], /unknown command/],
  [["help", "no-such-command"], /unknown command/],
  [["acount", "--help"], /Did you mean account/],
  [["account", "no-such-command", "-h"], /unknown command/],
  [["credits", "grant", "--credits", "10"], /unknown option '--credits'\n.*cardpress credits grant --help/],
  [["account", "create", "--nme", "X"], /unknown option '--nme'\n.*Did you mean --name/],
])("wrong usage %p exits with 2 and says what is wrong", async (args, message) => {
  const { code, err, out } = await run(...args);
  expect(code).toBe(2);
  expect(err).toMatch(message);
  expect(out).toBe("");
});

test("what fails exits with 1, with --json as JSON on stderr", async () => {
  const { code, err, out } = await run("key", "revoke", "--key", "key_nope", "--json");
  expect([code, out]).toEqual([1, ""]);
  const hint = '"cardpress key list --account ID" shows the keys.';
  expect(JSON.parse(err).error).toBe(`There is no key key_nope. ${hint}`);
});

test("no text sends anybody to a command that is not there, and help lists none that does nothing", async () => {
  const root = join(import.meta.dir, "../..");
  const { out } = await run("--help");
  const commands = new Set([...out.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name));
  expect(commands).toContain("serve");
  expect(out).not.toContain("not there yet");
  const planned = ["backup", "restore", "template", "studio", "image"].filter((name) => !commands.has(name));
  const command = new RegExp(`["\`]cardpress (${[...planned, "-"].join("|")})\\b`);
  const files = ["README.md", "CONTRIBUTING.md", ...new Glob("src/**/*.{ts,tsx,md}").scanSync(root)];
  const wrong: string[] = [];
  for (const file of files) if (command.test(await Bun.file(join(root, file)).text())) wrong.push(file);
  expect(wrong).toEqual([]);
});

test.each([
  "account list",
  "credits ledger --account acct_1",
  "account create --name X --tier starter --credits 1",
  "audit",
])("%s makes no data folder by a mistyped name, and takes nobody else's", async (line) => {
  const args = line.split(" ");
  const mistyped = join(folder.dir, "dta");
  const missing = await runCommand(mistyped, ...args);
  expect(missing).toMatchObject({ code: 1, out: "" });
  expect(missing.err).toContain(`There is no data folder at ${mistyped}. Set CARDPRESS_DATA_DIR`);
  expect(existsSync(mistyped)).toBe(false);
  const others = join(folder.dir, "pictures");
  mkdirSync(join(others, "holidays"), { recursive: true });
  const foreign = await runCommand(others, ...args);
  expect(foreign.err).toContain(`${others} is not a data folder of cardpress`);
  expect(readdirSync(others)).toEqual(["holidays"]);
});

test("doctor looks at what there is before the first start, and makes no data folder either", async () => {
  const missing = join(folder.dir, "not-yet");
  const { json } = await runCommand(missing, "doctor", "--json");
  const checks: { check: string; message: string }[] = json().checks;
  expect(checks.map(({ check }) => check)).toEqual([
    "config",
    "disk",
    "sandbox",
    "browser",
    "matte",
    "mp4",
    "templates",
    "workers",
    "sign-in",
  ]);
  expect(checks[1]?.message).toContain("CARDPRESS_DATA_DIR");
  expect(existsSync(missing)).toBe(false);
});

test("migrate makes the folder it is given", async () => {
  const fresh = join(folder.dir, "fresh");
  expect((await runCommand(fresh, "migrate", "--json")).json().database).toBe(join(fresh, "cardpress.db"));
  expect((await runCommand(fresh, "account", "list", "--json")).json()).toEqual([]);
});

test("version prints the version", async () => {
  const version = (await run("version", "--json")).json();
  expect(version).toEqual({ version: VERSION, commit: COMMIT, bun: Bun.version });
  expect((await run("version")).out).toContain(RELEASE);
  // What cannot be left out is seen before it is missing; commander breaks lines where it likes.
  const help = (await run("account", "create", "--help")).out.replaceAll(/\s+/g, " ");
  expect(help).toContain("--name <name> the partner's name (required)");
  expect(help).toContain("--json print JSON -h");
});

test("--version prints it as well, and help goes as deep as the commands do", async () => {
  expect((await run("--version")).out).toBe((await run("version")).out);
  for (const args of ["help account create", "account create --help"]) {
    const { code, out } = await run(...args.split(" "));
    expect({ args, code }).toEqual({ args, code: 0 });
    expect(out).toContain("Usage: cardpress account create");
  }
});

test("a table keeps its lines and columns whatever a name holds", () => {
  const lines = table([
    { name: "A\nB\u001b[31m", id: "x1" },
    { name: "東京\u202e", id: "x2" },
    { name: "Rovers", id: "x3" },
  ]).split("\n");
  expect(lines).toHaveLength(4);
  expect(lines.join("")).not.toMatch(/[\p{Cc}\u202e]/u);
  const columns = lines.map((line) => Bun.stringWidth(line.slice(0, line.lastIndexOf(" ") + 1)));
  expect(new Set(columns).size).toBe(1);
});
