import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { signedCardUrl } from "../../clients/typescript/src/signing.ts";
import { packPhp, packPython } from "../../scripts/client.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { type Loop, startLoop } from "../../src/app/loop.ts";
import { webhookHeaders } from "../../src/core/webhook-signature.ts";
import { clientCalls } from "../../src/http/docs/client-calls.ts";
import { operationsOf } from "../../src/http/docs/operations-of.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { freePort } from "../../src/service/free-port.ts";
import { imageRequest, testAccount } from "../harness.ts";
import { type Json, type TestApi, testApi } from "../http/api.ts";
import { pathOfHost } from "./path-of-host.ts";

// The clients for Python and PHP as their users have them: packed, installed apart from the sources, run
// against the service. A language without its interpreter here is left out by name.

let api: TestApi;
/** The service under a path of a host, which no client may drop. */
let host: ReturnType<typeof pathOfHost>;
let dir: string;
let loop: Loop;
/** In front of the service: what it answers first, and the keys that came. */
let flaky: ReturnType<typeof flakyProxy>;
beforeAll(async () => {
  const port = await freePort("127.0.0.1");
  host = pathOfHost(`http://127.0.0.1:${port}`, "/club/cards");
  api = await testApi({
    port,
    env: {
      CARDPRESS_BASE_URL: host.baseUrl,
      CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: "http://127.0.0.1:9",
    },
  });
  dir = await mkdtemp(join(tmpdir(), "cardpress-clients-"));
  loop = startLoop({
    name: "mock",
    concurrency: 1,
    pollMs: 5,
    runOne: (signal, more) => renderNextTestImage(api, signal, more),
    log: api.log,
  });
  flaky = flakyProxy(api.baseUrl);
});
afterAll(async () => {
  await Promise.all([flaky.stop(), host.stop()]);
  await loop.stop();
  await api.close();
  await rm(dir, { recursive: true, force: true });
});

/** Refuses the first two calls and breaks the third off; what must be sent once is refused each time. */
function flakyProxy(target: string) {
  const keys: (string | null)[] = [];
  let calls = 0;
  const refusal = (code: string) => ({ code, message: "Not now.", request_id: "req_1", docs_url: "" });
  const server = Bun.listen<{ text: string }>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { text: "" };
      },
      data: async (socket, chunk) => {
        // A letter for each byte.
        socket.data.text += chunk.toString("latin1");
        const [head = "", body = ""] = socket.data.text.split("\r\n\r\n");
        if (body.length < Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)) return;
        const [, method = "", path = ""] = /^(\w+) (\S+)/.exec(head) ?? [];
        const answer = (status: string, text: string, more = "") =>
          socket.end(
            `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nConnection: close\r\n${more}Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
          );
        if (path.endsWith("/print")) {
          // A file that breaks off, as when one of its cards is deleted.
          socket.end(
            "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n%PDF-\r\n",
          );
          return;
        }
        if (path === "/v1/webhook_endpoints") {
          answer(
            "503 Busy",
            JSON.stringify({ success: false, data: null, error: refusal("SERVICE_OVERLOADED") }),
            "Retry-After: 9\r\n",
          );
          return;
        }
        const headers = Object.fromEntries(
          head
            .split("\r\n")
            .slice(1)
            .map((line) => line.split(/: /, 2) as [string, string]),
        );
        keys.push(new Headers(headers).get("idempotency-key"));
        calls += 1;
        if (calls === 1)
          answer(
            "429 Slow down",
            JSON.stringify({ error: refusal("RATE_LIMIT_EXCEEDED") }),
            "Retry-After: 7\r\n",
          );
        else if (calls === 2) answer("502 Bad Gateway", "<html>");
        else if (calls === 3) socket.terminate();
        else {
          const kept = new Headers(headers);
          for (const name of ["host", "connection", "content-length", "accept-encoding"]) kept.delete(name);
          const response = await fetch(target + path, {
            method,
            headers: kept,
            body: Buffer.from(body, "latin1"),
          });
          answer(`${response.status} OK`, await response.text());
        }
      },
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    keys,
    reset: () => {
      calls = 0;
      keys.length = 0;
    },
    stop: () => server.stop(true),
  };
}

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const SIGNED = {
  keyId: "key_1",
  secret: "cps_secret",
  exp: 1_798_761_600,
  card: {
    external_id: "a b+c",
    name: "Zoë O'Neil (c)*!",
    position: "ST",
    number: 9,
    skill_level: 87,
    photo: "https://photos.example/a.jpg?x=1&y=ü",
    "fields.a": 1,
    "fields.a.b": "~",
    "metadata.é": "x",
    "metadata.home": true,
    "metadata.away": false,
    badge: null,
  },
};

/** A language's scenario with all it needs. */
async function scenario({ command, env }: Installed): Promise<Json> {
  flaky.reset();
  const { testKey } = await testAccount(api, { name: command[0] ?? "" });
  const { type: _, ...order } = imageRequest({
    player: { source_image_url: api.photo, name: "Zoë" },
    metadata: { season: "2026" },
  });
  const body = JSON.stringify({ type: "image.completed", data: { image_id: "img_1", name: "Zoë" } });
  const given = {
    url: `${host.baseUrl}/`,
    key: testKey,
    order,
    flaky: flaky.url,
    dead: `http://127.0.0.1:${await freePort("127.0.0.1")}`,
    photo: join(import.meta.dir, "../photos/yoga.jpg"),
    hook: "http://127.0.0.1:9/hook",
    webhook: {
      secret: SECRET,
      body,
      headers: webhookHeaders({ id: "evt_1", timestampMs: Date.now(), body }, [SECRET]),
    },
    signed: SIGNED,
  };
  return printed({ command, env }, "scenario", given);
}

/** What a program of a language prints when it reads `given`. */
async function printed({ command, env }: Installed, name: string, given: unknown): Promise<Json> {
  const [interpreter = "", ...args] = command;
  const ending = interpreter === "php" ? "php" : "py";
  const child = Bun.spawn([interpreter, program(`${name}.${ending}`), ...args], {
    cwd: dir,
    env: { ...process.env, ...env },
    stdin: new Blob([JSON.stringify(given)]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(out + err);
  return JSON.parse(out);
}

const program = (name: string) => join(import.meta.dir, "programs", name);

/** How programs find a client: the interpreter, what a program is called with, and its environment. */
interface Installed {
  command: string[];
  env: Record<string, string>;
}

const LANGUAGES: Record<string, () => Promise<Installed>> = {
  // A wheel of Python alone can be imported as it is.
  python3: async () => ({ command: ["python3"], env: { PYTHONPATH: await packPython(dir) } }),
  php: async () => {
    const files = unzipSync(await Bun.file(await packPhp(dir)).bytes());
    for (const [name, bytes] of Object.entries(files)) await Bun.write(join(dir, "php", name), bytes);
    return { command: ["php", join(dir, "php")], env: {} };
  },
};

for (const [interpreter, install] of Object.entries(LANGUAGES)) {
  const isThere = Bun.which(interpreter) !== null;
  describe.skipIf(!isThere)(isThere ? interpreter : `${interpreter} (not run: there is none here)`, () => {
    let report: Json;
    let installed: Installed;
    beforeAll(async () => {
      installed = await install();
      report = await scenario(installed);
    });

    test("takes each call of the documentation as it is written there", async () => {
      const written = await callsInDocs();
      const calls = written.map((call) => (interpreter === "php" ? call.php : call.python));
      expect(await printed(installed, "calls", calls)).toEqual([]);
    });

    test("makes a card, waits for it, and makes no second one with the same key", () => {
      expect(report.presets).toContain("club_card");
      expect(report.card).toMatchObject({
        status: "completed",
        external_id: "player-1",
        name: "Zoë",
        metadata: { season: "2026" },
      });
      expect(report.again).toBe(report.card.image_id);
    });

    test("says why a card failed, and which field was refused", () => {
      expect(report.failed).toEqual([
        expect.stringContaining("Several people"),
        "several_people",
        expect.stringContaining("crop the photo"),
      ]);
      expect(report.refused).toEqual([
        400,
        "INVALID_REQUEST",
        "player.number",
        expect.stringMatching(/^req_/),
      ]);
    });

    test("says how many credits a create needs and there are, and when more come", () => {
      expect(report.credits).toEqual({
        needed: 1,
        remaining: 0,
        renews_at: expect.stringMatching(/-01T00:00/),
      });
    });

    test("makes a batch, waits for it, reads its archive, walks all pages, sends a photo", () => {
      expect(report).toMatchObject({ batch: 3, seen: true, zip: "PK", endpoint: "whsec_", usage: "test" });
      // The two cards, the failed one and the batch's.
      expect(report.every).toHaveLength(6);
      expect(new Set(report.current).size).toBe(report.current.length);
      expect(report.current).toContain("b0");
      expect(report.photo).toStartWith(`${host.baseUrl}/v1/photos/`);
    });

    test("sends again with the same key what may succeed later, after the pause that was asked for", () => {
      expect(report.flaky).toBe("processing");
      expect(flaky.keys).toHaveLength(4);
      expect(new Set(flaky.keys).size).toBe(1);
      expect(report.pauses).toHaveLength(3);
      expect(report.pauses[0]).toBe(7);
      expect([report.once, report.retry_after]).toEqual(["SERVICE_OVERLOADED", 9]);
      expect(report.dead).toStartWith("No answer from http://127.0.0.1:");
      // Half a file is none.
      expect(report.cut).toStartWith("No answer from http://127.0.0.1:");
    });

    test("reads a webhook that was signed, and no other", () => {
      expect(report.event).toBe("image.completed");
      expect(report.forged).toEqual([
        "the webhook's signature does not match",
        "the webhook is too old, or has no time",
        "the webhook is too old, or has no time",
      ]);
    });

    test("reads none with what is no secret", () => {
      expect(report.secrets).toHaveLength(4);
      for (const message of report.secrets) expect(message).toContain("begins with whsec_");
    });

    test("says whether a create is the answer to an earlier one, and has the service wait", () => {
      expect(report.replayed).toEqual([false, true, true]);
      expect(report.waited).toEqual(["completed", false]);
    });

    test("makes a set, prints its batch, and walks through pages of batches, sets, consents and events", () => {
      expect(report.set).toMatchObject({ serial: 1, size: 2 });
      expect(report.pdf).toBe("%PDF-");
      expect(report.walked).toEqual({ batches: 2, sets: 2, consents: 0, events: true });
    });

    // PHP has no others.
    if (interpreter === "python3")
      test("names the options of a create, so that a type checker refuses a misspelt one", () => {
        expect(report.options).toEqual([
          ["self", "body", "idempotency_key", "wait"],
          ["self", "body", "idempotency_key"],
        ]);
      });

    test("asks for an event once more without a body", () => {
      expect(report.redelivered).toBe("NOT_FOUND");
    });

    test("signs an address as the TypeScript client does", async () => {
      const { card, exp, keyId, secret } = SIGNED;
      expect(report.address).toBe(
        await signedCardUrl(
          { preset: "club_card", ...card },
          { baseUrl: host.baseUrl, keyId, secret, expires: new Date(exp * 1000) },
        ),
      );
      expect(report.address).not.toMatch(/badge|none|null/i);
      expect(report.dated).toBe(report.address);
    });
  });
}

const mypy = Bun.which("mypy");
test.skipIf(mypy === null)(
  `Python's types let right programs through and stop wrong ones${mypy ? "" : " (not run: there is no mypy here)"}`,
  async () => {
    const folder = join(dir, "typed");
    const files = unzipSync(await Bun.file(await packPython(dir)).bytes());
    for (const [name, bytes] of Object.entries(files)) await Bun.write(join(folder, name), bytes);
    const right = await Bun.file(program("typed.py")).text();
    const complaints = async (text: string): Promise<string> => {
      await Bun.write(join(folder, "typed.py"), text);
      const child = Bun.spawn(["mypy", "--strict", "typed.py", "cardpress_client"], {
        cwd: folder,
        stdout: "pipe",
        stderr: "pipe",
      });
      const out = await new Response(child.stdout).text();
      return (await child.exited) === 0 ? "" : out;
    };
    expect(await complaints(right)).toBe("");
    const mistakes: [right: string, wrong: string, named: string][] = [
      ['"player": {', '"playr": {', "playr"],
      ['"position": "ST"', '"position": "STRIKER"', "STRIKER"],
      ['idempotency_key="a"', 'idempotncy_key="a"', "No overload variant"],
      ['accepted["poll_url"]', 'accepted["result"]', '"result"'],
      ['get_usage("current_month")', 'get_usage("today")', "today"],
      ['event["data"]["batch_id"]', 'event["data"]["image_id"]', '"image_id"'],
    ];
    for (const [good, bad, named] of mistakes) {
      expect(right).toContain(good);
      expect(await complaints(right.replace(good, bad))).toContain(named);
    }
  },
);

test("both are packed with what a registry asks for, the same bytes each time", async () => {
  const [wheel, again] = [await packPython(dir), await packPython(join(dir, "again"))];
  expect(await Bun.file(wheel).bytes()).toEqual(await Bun.file(again).bytes());
  const names = Object.keys(unzipSync(await Bun.file(wheel).bytes()));
  expect(names).toContain("cardpress_client/py.typed");
  expect(names).toContain("cardpress_client-0.2.0.dist-info/RECORD");
  const zip = unzipSync(await Bun.file(await packPhp(dir)).bytes());
  const composer = JSON.parse(new TextDecoder().decode(zip["composer.json"]));
  expect(composer).toMatchObject({ name: "cardpress/client", license: "MIT" });
  for (const name of ["LICENSE", "README.md", "autoload.php", "src/Client.php", "src/Operations.php"])
    expect(Object.keys(zip)).toContain(name);
});

test("the calls in the documentation are methods of the clients", async () => {
  const folder = join(import.meta.dir, "../..");
  const sources = async (...paths: string[]) =>
    (await Promise.all(paths.map((path) => Bun.file(join(folder, "clients", path)).text()))).join("\n");
  const python = await sources(
    "python/src/cardpress_client/operations.py",
    "python/src/cardpress_client/__init__.py",
    "python/src/cardpress_client/signing.py",
    "python/src/cardpress_client/webhooks.py",
  );
  const php = await sources(
    "php/src/Operations.php",
    "php/src/Client.php",
    "php/src/Signing.php",
    "php/src/Webhooks.php",
  );
  // By a path that the type checker does not follow: the types of its source are generated.
  const source = "../../clients/typescript/src/index.ts";
  const { cardpress, readWebhook }: Json = await import(source);
  const typescript: Json = { ...cardpress({ baseUrl: "x", apiKey: "x" }), readWebhook, signedCardUrl };
  const calls = await callsInDocs();
  expect(calls.length).toBeGreaterThan(70);
  const named = (call: string) => /([\w.]+)\(/.exec(call)?.[1]?.replace(/^cards\./, "") ?? "";
  for (const call of calls) {
    const inTypescript = named(call.typescript);
    const [inPython, inPhp] = [named(call.python), named(call.php)];
    const method = inTypescript.split(".").reduce((of, name) => of?.[name], typescript);
    expect([inTypescript, typeof method]).toEqual([inTypescript, "function"]);
    expect(python).toMatch(new RegExp(`def ${inPython}\\(`));
    expect(php).toMatch(new RegExp(`public (?:static )?function ${inPhp}\\(`));
  }
});

/** Each call that the documentation shows, in every language: the guide's table, and the reference. */
async function callsInDocs(): Promise<{ typescript: string; python: string; php: string }[]> {
  const guide = await Bun.file(join(import.meta.dir, "../../src/http/docs/guides/clients.md")).text();
  const rows = [...guide.matchAll(/^\| `([\w.]+\(.*)` \| `(.+)` \| `(.+)` \|$/gm)].map(
    ([, typescript = "", python = "", php = ""]) => ({ typescript, python, php }),
  );
  const address = "https://cards.example.org";
  const document = openApiDocument({ baseUrl: address, cdnBaseUrl: address, presets: ["club_card"] });
  const reference = operationsOf(document).flatMap(({ operation }) => {
    const body = operation.requestBody?.required ? {} : undefined;
    const [typescript, python, php] = clientCalls(operation, body).map(({ call }) => call);
    return typescript && python && php ? [{ typescript, python, php }] : [];
  });
  return [...rows, ...reference];
}
