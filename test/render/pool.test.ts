import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { join } from "node:path";
import type { Composition } from "../../src/core/card.ts";
import type { LogFields } from "../../src/core/ports.ts";
import { VISION_VERSION } from "../../src/render/photo/photo.ts";
import { createRenderPool, RenderFault, RenderInterrupted, type RenderPool } from "../../src/render/pool.ts";
import type { RendererOptions, RenderJob } from "../../src/render/protocol.ts";
import { rendererOptions } from "../../src/service/renderer-options.ts";
import { workerCommand } from "../../src/service/system.ts";
import { openDataFolder } from "../../src/system/data-folder.ts";
import { hasProcessorShare, readIfThere } from "../../src/system/machine-size.ts";
import { loadTemplate } from "../../src/templates/load.ts";
import { seededRandom, silentLog, type TestFolder, testConfig, testFolder } from "../harness.ts";
import { pngOfDepth } from "../sources/pictures.ts";

let folder: TestFolder;
let settings: RendererOptions;
/** Of workers that cut nobody out: their networks would be loaded for nothing. */
let withoutPhotos: RendererOptions;
let pool: RenderPool;
beforeAll(async () => {
  folder = testFolder();
  settings = await rendererOptions(testConfig(folder.dir), openDataFolder(folder.dir));
  withoutPhotos = { ...settings, warms: "pages" };
  pool = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: settings,
    random: seededRandom(),
    log: silentLog,
  });
});
afterAll(async () => {
  await pool.close();
  await folder.remove();
});

/** State, parent and group of a process, from proc(5). */
function statOf(pid: number) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [state = "", parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { state, parent: Number(parent), group: Number(group) };
}

function processesThat(isWanted: (pid: number) => boolean): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => {
      try {
        return isWanted(pid);
      } catch {
        return false; // No process, or one that ended meanwhile.
      }
    });
}

/** The processes of a group, including stopped ones but not zombies. */
const livingIn = (group: number) =>
  processesThat((pid) => statOf(pid).group === group && !["Z", "X"].includes(statOf(pid).state));

/** The processes in which the browsers of these workers show pages: Chromium forks them from its zygote. */
function pagesOf(workers: number[]): number[] {
  return processesThat((pid) => {
    const zygote = statOf(pid).parent;
    const command = readFileSync(`/proc/${zygote}/cmdline`, "utf8");
    const isPageMaker = command.includes("--type=zygote") && !command.includes("--no-zygote-sandbox");
    return isPageMaker && workers.includes(statOf(statOf(zygote).parent).parent);
  });
}

/** The page that was opened last: a card's, until a photo's had to be opened again. */
function cardPageAtWork(): number {
  const number = (pid: number) =>
    Number(/--renderer-client-id=(\d+)/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1]);
  const [last = 0] = pagesOf(pool.pids()).sort((a, b) => number(b) - number(a));
  return last;
}

/** The group of the browser of one of these workers. */
function browserOf(workers: number[]): number {
  const [page = 0] = pagesOf(workers);
  return statOf(page).group;
}

let jobs = 0;
/** A card of a photo, which is cut out once for all tests; of a `fresh` one, for itself. */
function job(photo: string, fresh = false): RenderJob {
  const jobId = `job-${++jobs}`;
  return {
    jobId,
    card: {
      player: { name: "Ana", position: "GK", number: 1, skillLevel: 70 },
      style: { preset: "club_card", width: 512, height: 512, format: "png" },
      branding: {},
    },
    photoPath: join(import.meta.dir, "../photos", photo),
    photoSha256: (fresh ? jobId : photo).padStart(64, "0"),
    badgePath: null,
    outputPath: join(folder.dir, "images", `${jobId}.png`),
  };
}

test("a worker killed during a render gives a fault, and another takes its place", async () => {
  const first = await pool.acquire();
  const killed = first.render(job("astronaut.png", true), () => {
    for (const pid of pool.pids()) process.kill(pid, "SIGKILL");
  });
  await expect(killed).rejects.toBeInstanceOf(RenderFault);
  first.release();

  const second = await pool.acquire();
  const outcome = await second.render(job("astronaut.png"), () => {});
  second.release();
  expect(outcome.kind).toBe("done");
});

test.if(process.platform === "linux")(
  "workers and browsers yield by a few points of priority only, unless the service has a share of the processor of its own: busy neighbours would starve them",
  async () => {
    const renderer = await pool.acquire();
    const [worker = 0] = pool.pids();
    const points = [worker, browserOf([worker])].map((pid) => getPriority(pid) - getPriority());
    renderer.release();
    for (const each of points) {
      // Where these tests have the lowest priority themselves, nothing can be lower.
      expect(each).toBeGreaterThanOrEqual(Math.min(1, 19 - getPriority()));
      expect(each).toBeLessThanOrEqual(hasProcessorShare(readIfThere) ? 10 : 4);
    }
  },
);

/** Where the cutout of a card's photo is kept. */
const cutoutOf = ({ photoSha256 }: RenderJob) =>
  join(settings.cutoutsDir, photoSha256.slice(0, 2), `${photoSha256}-${VISION_VERSION}`);

const shownAs = (asked: RenderJob, composition: Composition): RenderJob => ({
  ...asked,
  card: { ...asked.card, style: { ...asked.card.style, composition } },
});

test("a cutout is made for the first card that shows it, as it would have been for the photo's first card", async () => {
  const [later, atOnce] = [job("skier.jpg", true), job("skier.jpg", true)];
  const renderer = await pool.acquire();
  const cardOf = async (asked: RenderJob) => {
    expect((await renderer.render(asked, () => {})).kind).toBe("done");
    return Bun.file(asked.outputPath).bytes();
  };
  const inPhoto = await cardOf(shownAs(later, "photo"));
  expect(await Bun.file(cutoutOf(later)).exists()).toBe(false);
  // Another photo is looked at meanwhile, so nothing of this one is at hand any more.
  const cutOut = await cardOf(shownAs(atOnce, "cutout"));
  expect(await cardOf(shownAs(later, "cutout"))).toEqual(cutOut);
  expect(await Bun.file(cutoutOf(later)).bytes()).toEqual(await Bun.file(cutoutOf(atOnce)).bytes());
  expect(await cardOf(shownAs(atOnce, "photo"))).toEqual(inPhoto);
  renderer.release();
});

test("a cutout that the disk has damaged, in one byte even, is cut out again", async () => {
  const damaged = shownAs(job("skier.jpg", true), "cutout");
  const path = cutoutOf(damaged);
  const renderer = await pool.acquire();
  const render = () => renderer.render(damaged, () => {});
  expect((await render()).kind).toBe("done");
  const whole = await Bun.file(path).bytes();
  const card = await Bun.file(damaged.outputPath).bytes();
  await Bun.write(path, whole.with(whole.length >> 1, (whole[whole.length >> 1] ?? 0) ^ 1));
  expect((await render()).kind).toBe("done");
  expect(await Bun.file(path).bytes()).toEqual(whole);
  expect(await Bun.file(damaged.outputPath).bytes()).toEqual(card);
  renderer.release();
});

test("a cutout made in company serves cards that can only show the photo itself, and no others", async () => {
  const cutOut = job("skier.jpg", true);
  const inPhoto = shownAs(cutOut, "photo");
  const description = `${cutoutOf(cutOut)}.json`;
  const renderer = await pool.acquire();
  const render = (asked: RenderJob) => renderer.render(asked, () => {});
  expect((await render(inPhoto)).kind).toBe("done");
  const found = JSON.parse(await readFile(description, "utf8"));
  expect(found.inCompany).toBe(false);
  await writeFile(description, JSON.stringify({ ...found, inCompany: true }));
  expect((await render(inPhoto)).kind).toBe("done");
  const { compositions } = (await loadTemplate("team_sheet")).manifest;
  expect(compositions).toEqual(["photo"]);
  const { card } = cutOut;
  const ofTeamSheet = { ...card, style: { ...card.style, preset: "team_sheet" } };
  expect((await render({ ...cutOut, card: ofTeamSheet })).kind).toBe("done");
  expect(await render(cutOut)).toMatchObject({
    kind: "refused",
    message: expect.stringContaining("Several people"),
  });
  renderer.release();
});

test("a cutout made without a focus does not serve a card with one", async () => {
  const anywhere = job("skier.jpg", true);
  const player = { ...anywhere.card.player, focus: { x: 0.01, y: 0.01 } };
  const renderer = await pool.acquire();
  const render = (asked: RenderJob) => renderer.render(asked, () => {});
  expect((await render(anywhere)).kind).toBe("done");
  expect(await render({ ...anywhere, card: { ...anywhere.card, player } })).toMatchObject({
    kind: "refused",
    message: expect.stringContaining("player.focus"),
  });
  renderer.release();
});

test("a card's page that crashes while the player is looked for costs no attempt", async () => {
  const renderer = await pool.acquire();
  let page = 0;
  const crashing = renderer.render(job("astronaut.png", true), (stage) => {
    if (stage !== "find") return;
    page = cardPageAtWork();
    process.kill(page, "SIGKILL");
  });
  const outcome = await crashing.catch((error) => error);
  renderer.release();
  expect(page).toBeGreaterThan(0);
  expect(outcome).toMatchObject({ kind: "done" });
});

test("pages that crash cost one attempt, and their worker goes on", async () => {
  const renderer = await pool.acquire();
  let pages: number[] = [];
  const crashed = renderer.render(job("astronaut.png", true), (stage) => {
    if (stage !== "cut_out") return;
    pages = pagesOf(pool.pids());
    for (const pid of pages) process.kill(pid, "SIGKILL");
  });
  const fault = await crashed.catch((error) => error);
  const next = await renderer.render(job("astronaut.png"), () => {}).catch((error) => error);
  renderer.release();
  expect(pages.length).toBeGreaterThan(1);
  expect(fault).toBeInstanceOf(RenderFault);
  expect(fault.message).toContain("crashed");
  expect(next).toMatchObject({ kind: "done" });
});

test("a worker is replaced after its share of renders, and nobody notices", async () => {
  const warnings: string[] = [];
  const recycling = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: { ...withoutPhotos, profilesDir: openDataFolder(join(folder.dir, "recycling")).profiles },
    random: seededRandom(),
    log: { ...silentLog, warn: (event) => void warnings.push(event) },
    rendersPerBrowser: 2,
  });
  const [before = 0] = recycling.pids();
  for (let renders = 0; recycling.pids().includes(before); renders++) {
    const renderer = await recycling.acquire();
    if (renders < 2) expect((await renderer.render(job("astronaut.png"), () => {})).kind).toBe("done");
    renderer.release();
    expect(recycling.health()).toEqual({ ready: 1, wanted: 1, takesWork: true });
    await Bun.sleep(1);
  }
  await recycling.close();
  // It was planned, so nothing is logged as a warning.
  expect(warnings).toEqual([]);
});

test("a worker whose start stalls is ended and tried again, and the log says at what it was", async () => {
  const failures: (LogFields | undefined)[] = [];
  const stalling = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: { ...settings, profilesDir: openDataFolder(join(folder.dir, "stalling")).profiles },
    random: seededRandom(),
    log: { ...silentLog, error: (_, fields) => void failures.push(fields) },
    startStepMs: 2000,
  });
  for (const pid of stalling.pids()) process.kill(pid, "SIGSTOP");
  const renderer = await stalling.acquire();
  const outcome = await renderer.render(job("astronaut.png"), () => {});
  renderer.release();
  await stalling.close();
  expect(String(failures[0]?.error)).toContain("it stalled: starting its process took longer than 2000 ms");
  expect(outcome.kind).toBe("done");
});

test("a page that crashes while its worker starts does not keep the worker from starting", async () => {
  const failures: (LogFields | undefined)[] = [];
  const crashing = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: { ...withoutPhotos, profilesDir: openDataFolder(join(folder.dir, "crashing")).profiles },
    random: seededRandom(),
    log: { ...silentLog, error: (_, fields) => void failures.push(fields) },
  });
  let pages: number[] = [];
  for (const first = crashing.pids(); pages.length === 0; await Bun.sleep(1)) pages = pagesOf(first);
  for (const pid of pages) process.kill(pid, "SIGKILL");
  const renderer = await crashing.acquire();
  renderer.release();
  await crashing.close();
  // Where only the first, empty page crashed, nothing had to be tried again.
  for (const failure of failures) expect(String(failure?.error)).toMatch(/crashed|it stalled|ended/);
});

test("workers that start together are replaced one after the other, each with its successor beside it", async () => {
  const alike = createRenderPool({
    workers: 2,
    command: workerCommand(),
    renderer: { ...withoutPhotos, profilesDir: openDataFolder(join(folder.dir, "two")).profiles },
    random: seededRandom(),
    log: silentLog,
    // Past their age from the first moment on.
    browserLifetimeMs: 0,
  });
  while (alike.health().ready < 2) await Bun.sleep(10);
  const first = alike.pids();
  const both = [await alike.acquire(), await alike.acquire()];
  for (const renderer of both) renderer.release();
  let least = 2;
  let most = 2;
  while (alike.pids().some((pid) => first.includes(pid))) {
    least = Math.min(least, alike.health().ready);
    most = Math.max(most, alike.pids().length);
    await Bun.sleep(1);
  }
  await alike.close();
  expect({ least, most }).toEqual({ least: 2, most: 3 });
});

/** A pool of one worker which may hold so much, and what it logs. */
function smallPool(name: string, workerMemoryBytes: number, groupMemory?: () => Map<number, number>) {
  const lines: string[] = [];
  const first = Promise.withResolvers<string>();
  const note = (event: string, fields?: LogFields) => {
    const line = `${event} ${fields?.reason ?? ""}`;
    lines.push(line);
    if (/^render_worker_(too_large|ended)/.test(line)) first.resolve(line);
  };
  const small = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: { ...settings, profilesDir: openDataFolder(join(folder.dir, name)).profiles },
    random: seededRandom(),
    log: { ...silentLog, info: note, warn: note },
    workerMemoryBytes,
    memoryLookMs: 20,
    ...(groupMemory && { groupMemory }),
  });
  return { small, lines, first: first.promise };
}

test("a worker that holds more memory than it may is replaced when its successor is warm, and its render goes on", async () => {
  const MAY_HOLD = 1_000;
  // What a worker really holds depends on the machine, and for a moment may be far more.
  const holds = new Map<number, number>();
  const { small, first } = smallPool("large", MAY_HOLD, () => holds);
  const renderer = await small.acquire();
  const [before = 0] = small.pids();
  const rendering = renderer.render(job("astronaut.png", true), () => void holds.set(before, 1.5 * MAY_HOLD));
  expect((await rendering).kind).toBe("done");
  renderer.release();
  expect(await first).toContain("bounds what a leak can cost");
  expect(small.pids()).not.toContain(before);
  await small.close();
});

test("a worker that holds far more memory than it may is ended at once, and another takes its place", async () => {
  // Bun and Chromium alone hold several times this.
  const { small, first, lines } = smallPool("huge", 50 * 2 ** 20);
  expect(await first).toContain("render_worker_too_large");
  while (lines.filter((line) => line.startsWith("render_worker_ended")).length < 2) await Bun.sleep(10);
  await small.close();
  expect(readdirSync(openDataFolder(join(folder.dir, "huge")).profiles)).toEqual([]);
});

test("a browser that hangs ends with its worker, and so does every process of it", async () => {
  const hung = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: { ...withoutPhotos, profilesDir: openDataFolder(join(folder.dir, "hung")).profiles },
    random: seededRandom(),
    log: silentLog,
    renderTimeoutMs: 1,
  });
  const renderer = await hung.acquire();
  const browser = browserOf(hung.pids());
  const processes = livingIn(browser);
  try {
    for (const pid of processes) process.kill(pid, "SIGSTOP");
    await expect(renderer.render(job("astronaut.png"), () => {})).rejects.toThrow("longer than 1 ms");
    // Those of its successor end with the pool, whether they are up already or not.
    await hung.close();
    expect(processes.length).toBeGreaterThan(4);
    expect(livingIn(browser)).toEqual([]);
    expect(readdirSync(openDataFolder(join(folder.dir, "hung")).profiles)).toEqual([]);
  } finally {
    if (livingIn(browser).length > 0) process.kill(-browser, "SIGKILL");
  }
});

test("an edited template is drawn from the next card on by the same worker; half an edit keeps the last good look, and a template that never made a page keeps nobody from the others", async () => {
  const templatesDir = join(folder.dir, "templates");
  const dir = join(templatesDir, "club_card");
  await cp(join(import.meta.dir, "../../templates/club_card"), dir, { recursive: true });
  await mkdir(join(templatesDir, "draft"));
  const problems: string[] = [];
  const edited = createRenderPool({
    workers: 1,
    command: workerCommand(),
    renderer: {
      ...withoutPhotos,
      templatesDir,
      presets: ["draft", "club_card"],
      profilesDir: openDataFolder(join(folder.dir, "edited")).profiles,
    },
    random: seededRandom(),
    log: { ...silentLog, warn: (event, fields) => void problems.push(`${event} ${fields?.problem}`) },
  });
  const card = { ...job("astronaut.png"), photoSha256: "e".repeat(64) };
  const make = async () => {
    const renderer = await edited.acquire();
    const outcome = await renderer.render(card, () => {});
    renderer.release();
    if (outcome.kind !== "done") throw new Error("refused");
    return { template: outcome.file.template, picture: await Bun.file(card.outputPath).bytes() };
  };
  const first = await make();
  const [worker = 0] = edited.pids();
  expect(first.template.digest).toBe((await loadTemplate(dir)).digest);
  const css = await readFile(join(dir, "card.css"), "utf8");
  await writeFile(join(dir, "card.css"), `${css}\n* { color: #0f0 !important; }`);
  const second = await make();
  expect(second.template.digest).toBe((await loadTemplate(dir)).digest);
  expect(Buffer.compare(second.picture, first.picture)).not.toBe(0);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain("draft/template.json cannot be read");

  await writeFile(join(dir, "template.json"), "{");
  expect(await make()).toEqual(second);
  expect(await make()).toEqual(second);
  expect(problems).toHaveLength(2);
  expect(problems[1]).toContain("club_card/template.json:1:2: is not JSON");
  expect(edited.pids()).toEqual([worker]);
  await edited.close();
});

test("the profiles of browsers do not outlive their workers", async () => {
  const profiles = () => readdirSync(openDataFolder(folder.dir).profiles);
  (await pool.acquire()).release();
  const earlier = profiles();
  // The second time for what a dying browser may have written after the first.
  for (let n = 0; n < 2; n++) {
    for (const pid of pool.pids()) process.kill(pid, "SIGKILL");
    while (pool.health().ready > 0) await Bun.sleep(1);
    (await pool.acquire()).release();
  }
  while (profiles().some((name) => earlier.includes(name))) await Bun.sleep(10);
  expect(profiles().length).toBeGreaterThan(0);
});

test("a photo without a player is refused with words for the partner", async () => {
  const renderer = await pool.acquire();
  const outcome = await renderer.render(job("brick.png"), () => {});
  renderer.release();
  expect(outcome).toMatchObject({
    kind: "refused",
    message: expect.stringContaining("No player"),
    reason: "no_player",
  });
});

test("a badge the browser cannot decode is refused, not tried again", async () => {
  const badgePath = join(folder.dir, "badge");
  await Bun.write(badgePath, pngOfDepth(3, 64));
  const renderer = await pool.acquire();
  const outcome = await renderer.render({ ...job("astronaut.png"), badgePath }, () => {});
  renderer.release();
  expect(outcome).toMatchObject({
    kind: "refused",
    message: expect.stringContaining("club badge"),
    reason: "badge_unusable",
  });
});

test("while workers cannot start, one is tried again and again, never more at a time", async () => {
  const fourth = Promise.withResolvers<void>();
  let mostAtOnce = 0;
  let failures = 0;
  let repaired = 0;
  const broken = createRenderPool({
    workers: 1,
    command: ["false"],
    repair: async () => {
      repaired += 1;
    },
    random: seededRandom(),
    // A pool has its folder to itself.
    renderer: {
      ...(await rendererOptions(testConfig(folder.dir), openDataFolder(folder.dir))),
      profilesDir: openDataFolder(join(folder.dir, "broken")).profiles,
    },
    log: {
      ...silentLog,
      error: () => {
        mostAtOnce = Math.max(mostAtOnce, broken.pids().length + 1);
        failures += 1;
        if (failures === 4) fourth.resolve();
      },
    },
  });
  await fourth.promise;
  await broken.close();
  expect(mostAtOnce).toBe(1);
  // What a start needs is looked at before each next one.
  expect(repaired).toBe(3);
});

test("closing interrupts a render without blaming it", async () => {
  const renderer = await pool.acquire();
  const render = renderer.render(job("astronaut.png", true), () => void pool.close());
  await expect(render).rejects.toBeInstanceOf(RenderInterrupted);
  renderer.release();
  await expect(pool.acquire()).rejects.toThrow("closed");
  await pool.close();
  expect(pool.pids()).toEqual([]);
  expect(readdirSync(settings.profilesDir)).toEqual([]);
});
