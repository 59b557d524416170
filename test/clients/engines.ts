import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PNG } from "pngjs";

// Firefox and WebKit as WebDriver drives them: the same commands, of which Firefox reads Marionette's names
// on a socket and WebKit's driver HTTP.

export interface Engine {
  open(url: string): Promise<void>;
  /** What this function body returns in the page. */
  // biome-ignore lint/suspicious/noExplicitAny: a page may return anything.
  run(script: string): Promise<any>;
  /** What a hand does, by the terms of WebDriver: one list for each pointer or keyboard. */
  act(type: "key" | "mouse" | "touch", actions: readonly object[]): Promise<void>;
  /** What the window shows. */
  look(): Promise<PNG>;
  /** Its reader asks for less motion from here on. */
  reduceMotion(): Promise<void>;
  close(): Promise<void>;
}

/** Each command by the names of Marionette and of WebDriver. */
const COMMANDS = {
  open: ["WebDriver:Navigate", "POST", "/url"],
  run: ["WebDriver:ExecuteScript", "POST", "/execute/sync"],
  act: ["WebDriver:PerformActions", "POST", "/actions"],
  look: ["WebDriver:TakeScreenshot", "GET", "/screenshot"],
} as const;
// biome-ignore lint/suspicious/noExplicitAny: each command has an answer of its own.
type Send = (command: keyof typeof COMMANDS, parameters: object) => Promise<any>;

const driven = (send: Send) => ({
  open: (url: string) => send("open", { url }),
  run: (script: string) => send("run", { script, args: [] }),
  act: (type: "key" | "mouse" | "touch", actions: readonly object[]) => {
    const device = type === "key" ? { type } : { type: "pointer", parameters: { pointerType: type } };
    return send("act", { actions: [{ ...device, id: type, actions }] });
  },
  look: async () => PNG.sync.read(Buffer.from(await send("look", { full: false }), "base64")),
});

/** The engines by name, each with what starts it; undefined where this machine does not have it. */
export const ENGINES: Record<string, (() => Promise<Engine>) | undefined> = {
  Firefox: Bun.which("firefox-esr") ? startFirefox : undefined,
  WebKit: Bun.which("WebKitWebDriver") && Bun.which("Xvfb") ? startWebKit : undefined,
};

async function startFirefox(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-firefox-"));
  const settings = { "marionette.port": 0, "dom.w3c_touch_events.enabled": 1 };
  const lines = Object.entries(settings).map(([name, value]) => `user_pref("${name}", ${value});`);
  writeFileSync(join(folder, "user.js"), lines.join("\n"));
  const program = Bun.spawn(
    ["firefox-esr", "--headless", "--marionette", "--remote-allow-system-access", "--profile", folder],
    { stdout: "pipe", stderr: "ignore", env: { ...process.env, HOME: folder } },
  );
  const port = await firstMatch(program.stdout, /Marionette\tINFO\tListening on port (\d+)/);
  const { command, end } = await marionette(Number(port));
  await command("WebDriver:NewSession", {});
  return {
    ...driven(async (name, parameters) => {
      const answer = await command(COMMANDS[name][0], parameters);
      return answer?.value;
    }),
    reduceMotion: async () => {
      await command("Marionette:SetContext", { value: "chrome" });
      const script = 'Services.prefs.setIntPref("ui.prefersReducedMotion", 1)';
      await command("WebDriver:ExecuteScript", { script, args: [] });
      await command("Marionette:SetContext", { value: "content" });
    },
    close: async () => {
      end();
      program.kill();
      await program.exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A connection to Marionette, whose messages are JSON behind its length. */
async function marionette(port: number) {
  const socket = connect(port, "127.0.0.1");
  // biome-ignore lint/suspicious/noExplicitAny: each command has an answer of its own.
  const waiting: PromiseWithResolvers<any>[] = [];
  let unread: Buffer = Buffer.alloc(0);
  const greeted = Promise.withResolvers<void>();
  const receive = (message: unknown) => {
    // What greets says which protocol it is, and is no answer.
    if (!Array.isArray(message)) return greeted.resolve();
    const [, id, error, result] = message;
    if (error) waiting[id]?.reject(new Error(`${error.error}: ${error.message}`));
    else waiting[id]?.resolve(result);
  };
  socket.on("error", greeted.reject);
  socket.on("data", (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes]);
    for (;;) {
      const colon = unread.indexOf(":");
      const end = colon + 1 + Number(unread.toString("latin1", 0, colon));
      if (colon < 0 || unread.length < end) return;
      receive(JSON.parse(unread.toString("utf8", colon + 1, end)));
      unread = unread.subarray(end);
    }
  });
  await greeted.promise;
  return {
    command: (name: string, parameters: object) => {
      // biome-ignore lint/suspicious/noExplicitAny: each command has an answer of its own.
      const answer = Promise.withResolvers<any>();
      const text = JSON.stringify([0, waiting.push(answer) - 1, name, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
      return answer.promise;
    },
    end: () => socket.destroy(),
  };
}

async function startWebKit(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-webkit-"));
  const screen = Bun.spawn(["Xvfb", "-displayfd", "1", "-screen", "0", "1280x1000x24", "-nolisten", "tcp"], {
    stdout: "pipe",
    stderr: "ignore",
  });
  const display = await firstMatch(screen.stdout, /(\d+)\n/);
  const port = freePort();
  const driver = Bun.spawn(["WebKitWebDriver", `--port=${port}`], {
    stdout: "ignore",
    stderr: "ignore",
    env: { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, DISPLAY: `:${display}` },
  });
  const command = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: { error?: string; message?: string } };
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    // biome-ignore lint/suspicious/noExplicitAny: each command has an answer of its own.
    return value as any;
  };
  await untilAnswers(port, driver);
  const begin = async () => `/session/${(await command("POST", "/session", { capabilities: {} })).sessionId}`;
  let session = await begin();
  return {
    ...driven((name, parameters) => {
      const [, method, path] = COMMANDS[name];
      return command(method, session + path, method === "GET" ? undefined : parameters);
    }),
    // GTK reads its settings when a program starts.
    reduceMotion: async () => {
      await command("DELETE", session);
      mkdirSync(join(folder, "gtk-3.0"));
      writeFileSync(join(folder, "gtk-3.0/settings.ini"), "[Settings]\ngtk-enable-animations=0\n");
      session = await begin();
    },
    close: async () => {
      await command("DELETE", session);
      for (const program of [driver, screen]) {
        program.kill();
        await program.exited;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What a program says once it is ready; from then on it may say what it likes. */
async function firstMatch(output: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const reader = output.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`ended before it was ready: ${text}`);
    text += decoder.decode(value, { stream: true });
    const found = pattern.exec(text)?.[1];
    if (!found) continue;
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return found;
  }
}

function freePort(): number {
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  server.stop(true);
  return server.port;
}

/** The driver says nothing when it is ready. */
async function untilAnswers(port: number, driver: Bun.Subprocess) {
  while (driver.exitCode === null) {
    const isUp = await fetch(`http://127.0.0.1:${port}/status`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await Bun.sleep(20);
  }
  throw new Error("WebKitWebDriver ended before it was ready");
}
