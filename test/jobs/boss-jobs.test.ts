import { afterEach, expect, test } from "bun:test";
import { SQL } from "bun";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { claimImage, leaseOf } from "../../src/app/images/render-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { JOB_HEARTBEAT_MS, JOB_SUPERVISION_MS, MAX_RENDERS } from "../../src/core/limits.ts";
import { CHECKED_AT_ONCE } from "../../src/jobs/boss-jobs.ts";
import { type Claimed, enqueueAllMissing } from "../../src/jobs/jobs.ts";
import { openJobs } from "../../src/jobs/open-jobs.ts";
import { openPostgresStore } from "../../src/store/engine/postgres.ts";
import { JOBS_SCHEMA } from "../../src/store/engine/postgres-jobs.ts";
import { acceptLive } from "../app/accepting.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { ENGINE, postgresUrl, tamper } from "../postgres.ts";

// What is special about the queue that machines share. What every queue promises: jobs.test.ts.

const onPostgres = test.if(ENGINE === "postgres");

let open: TestWorkspace[] = [];
afterEach(async () => {
  for (const workspace of open) await workspace.close();
  open = [];
});

async function start() {
  const workspace = await testWorkspace();
  open.push(workspace);
  const { account } = await testAccount(workspace, { credits: 500 });
  return { workspace, account };
}

const output = {
  name: "a-b.png",
  width: 1,
  height: 1,
  contentType: "image/png",
  bytes: 1,
  composition: "cutout" as const,
};

async function claimed(workspace: TestWorkspace): Promise<Claimed> {
  const image = await claimImage(workspace, "live");
  if (!image) throw new Error("nothing waits");
  return image;
}

const supervise = (workspace: TestWorkspace) => workspace.jobs.supervise?.();

const mismatches = async ({ store, clock }: TestWorkspace) =>
  (await audit(store, clock.now())).findings.find(({ check }) => check === "jobs")?.broken;

onPostgres(
  "a worker without heartbeats loses its image to the next one, long before its lease ends",
  async () => {
    const { workspace, account } = await start();
    const id = await acceptLive(workspace, account.id);
    const dead = await claimed(workspace);
    workspace.clock.advance(JOB_HEARTBEAT_MS - 1_000);
    await supervise(workspace);
    expect(await claimImage(workspace, "live")).toBeUndefined();
    workspace.clock.advance(JOB_SUPERVISION_MS);
    await supervise(workspace);
    expect(await mismatches(workspace)).toEqual([]);
    // Too late already, although nobody has taken its place.
    const end = { kind: "completed", output } as const;
    expect(await finishImage(workspace, leaseOf(dead), end)).toBeUndefined();
    const heir = await claimed(workspace);
    expect(heir).toMatchObject({ id, state: "rendering", renders: 2 });
    expect(heir.leaseToken).not.toBe(dead.leaseToken);
    expect(await finishImage(workspace, leaseOf(dead), end)).toBeUndefined();
    expect(await finishImage(workspace, leaseOf(heir), end)).toMatchObject({ state: "completed" });
    expect(await mismatches(workspace)).toEqual([]);
  },
);

onPostgres(
  "who looks for dead workers a moment before its period is over finds them all the same",
  async () => {
    const { workspace, account } = await start();
    const id = await acceptLive(workspace, account.id);
    await claimed(workspace);
    workspace.clock.advance(JOB_HEARTBEAT_MS - 1_000);
    await supervise(workspace);
    workspace.clock.advance(JOB_SUPERVISION_MS - 1_000);
    await supervise(workspace);
    expect((await claimed(workspace)).id).toBe(id);
  },
);

onPostgres("an image whose workers never report again fails once its renders are used up", async () => {
  const { workspace, account } = await start();
  await acceptLive(workspace, account.id);
  for (let n = 1; n <= MAX_RENDERS; n++) {
    expect((await claimed(workspace)).renders).toBe(n);
    workspace.clock.advance(JOB_HEARTBEAT_MS + 6_000);
    await supervise(workspace);
  }
  const other = await acceptLive(workspace, account.id);
  expect((await claimed(workspace)).id).toBe(other);
  const { db, t } = workspace.store.read;
  const rows = await db
    .select({ id: t.images.id, state: t.images.state, n: t.images.renders })
    .from(t.images);
  expect(rows.find(({ id }) => id !== other)).toMatchObject({ state: "failed", n: MAX_RENDERS });
  expect((await audit(workspace.store, workspace.clock.now())).ok).toBe(true);
});

onPostgres("the audit names images without a job, and jobs without an image", async () => {
  const { workspace, account } = await start();
  const [lost, kept] = [await acceptLive(workspace, account.id), await acceptLive(workspace, account.id)];
  await tamper(
    workspace.folder.database,
    `DELETE FROM ${JOBS_SCHEMA}.job WHERE data->>'imageId' = '${lost}'`,
    `UPDATE images SET state = 'failed', completed_at = 1 WHERE id = '${kept}'`,
  );
  const broken = (await mismatches(workspace)) ?? [];
  expect(Object.fromEntries(broken.map(({ id, detail }) => [id, detail]))).toEqual({
    [lost]: "queued without a job",
    [kept]: "a job, created, of an image that is failed",
  });
});

onPostgres("images from before the queue, or copied from elsewhere, are queued when it is made", async () => {
  const { workspace, account } = await start();
  const rendering = await acceptLive(workspace, account.id);
  const queued = await acceptLive(workspace, account.id);
  await claimed(workspace);
  await tamper(workspace.folder.database, `DROP SCHEMA ${JOBS_SCHEMA} CASCADE`);
  const store = await openPostgresStore({ url: postgresUrl(workspace.folder.database) });
  const jobs = await openJobs(store, workspace.log);
  try {
    const claims: (string | undefined)[] = [];
    for (let n = 0; n < 3; n++) claims.push((await claimImage({ ...workspace, store, jobs }, "live"))?.id);
    expect(claims).toEqual([rendering, queued, undefined]);
    const { findings } = await audit(store, workspace.clock.now());
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  } finally {
    await jobs.close();
    await store.close();
  }
});

onPostgres(
  "a queue that a newer version wrote is refused in words, and an older one not changed under others",
  async () => {
    const { workspace } = await start();
    const version = (n: string) =>
      tamper(workspace.folder.database, `UPDATE ${JOBS_SCHEMA}.version SET version = ${n}`);
    const opening = async () => {
      const store = await openPostgresStore({ url: postgresUrl(workspace.folder.database) });
      try {
        await (await openJobs(store, workspace.log)).close();
      } finally {
        await store.close();
      }
    };
    await version("version + 1");
    await expect(opening()).rejects.toThrow(/written by a newer cardpress .*Install that version/);
    await version("version - 2");
    await workspace.nodes.beat({ workers: 1, renderMs: 1 });
    await expect(opening()).rejects.toThrow(/others serve from: .*Stop them all/);
    await version("version + 1");
    await opening();
  },
);

onPostgres("an index of the queue that has grown without need is rebuilt while it is tended", async () => {
  const { workspace } = await start();
  const admin = new SQL(postgresUrl(workspace.folder.database), { max: 1 });
  const size = async () => {
    const [row] = await admin.unsafe(`SELECT pg_indexes_size('${JOBS_SCHEMA}.job_common')::int AS bytes`);
    return row.bytes as number;
  };
  await admin.unsafe(
    `INSERT INTO ${JOBS_SCHEMA}.job (name, id) SELECT 'live', gen_random_uuid() FROM generate_series(1, 60000)`,
  );
  await admin.unsafe(`DELETE FROM ${JOBS_SCHEMA}.job`);
  await admin.unsafe(`VACUUM ANALYZE ${JOBS_SCHEMA}.job_common`);
  const before = await size();
  await supervise(workspace);
  expect(await size()).toBeLessThan(before / 2);
  await admin.close();
});

onPostgres("processes that start at once make the queue once", async () => {
  const { workspace } = await start();
  await tamper(workspace.folder.database, `DROP SCHEMA ${JOBS_SCHEMA} CASCADE`);
  const started = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const store = await openPostgresStore({ url: postgresUrl(workspace.folder.database) });
      return { store, jobs: await openJobs(store, workspace.log) };
    }),
  );
  const [first] = started;
  const queues = await first?.store.rawQuery(`SELECT name FROM ${JOBS_SCHEMA}.queue ORDER BY name`, []);
  expect(queues).toEqual([{ name: "live" }, { name: "test" }]);
  for (const { store, jobs } of started) {
    await jobs.close();
    await store.close();
  }
});

onPostgres("a database user that may not make the queue's schema reads what to ask for", async () => {
  const { workspace } = await start();
  const url = postgresUrl(workspace.folder.database);
  const role = `poor_${Bun.hash(url).toString(36)}`;
  const admin = new SQL(url, { max: 1 });
  await admin.unsafe(`DROP SCHEMA ${JOBS_SCHEMA} CASCADE; CREATE ROLE ${role} LOGIN;
    GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
  const poor = url.replace("//cardpress@", `//${role}@`);
  const opening = async () => {
    const store = await openPostgresStore({ url: poor });
    try {
      await (await openJobs(store, workspace.log)).close();
    } finally {
      await store.close();
    }
  };
  await expect(opening()).rejects.toThrow(`CREATE SCHEMA ${JOBS_SCHEMA} AUTHORIZATION`);
  await admin.unsafe(`CREATE SCHEMA ${JOBS_SCHEMA} AUTHORIZATION ${role}`);
  await opening();
  await admin.unsafe(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
  await admin.close();
});

onPostgres("a queue that is made for waiting images finds each of them, however many wait", async () => {
  const { workspace, account } = await start();
  const first = await acceptLive(workspace, account.id);
  await acceptLive(workspace, account.id);
  await claimed(workspace);
  const many = CHECKED_AT_ONCE + 1;
  const columns =
    "account_id, environment, type, external_id, player_name, request, lane, available_at, renders, created_at, updated_at";
  await tamper(
    workspace.folder.database,
    `INSERT INTO images (id, state, turn, ${columns})
     SELECT 'img_' || n, 'queued', n / 10, ${columns.replace("renders", "0")} FROM images, generate_series(1, ${many}) AS n
     WHERE id = '${first}'`,
    // As before there was a queue, except for one image.
    `DELETE FROM ${JOBS_SCHEMA}.job WHERE data->>'imageId' <> '${first}'`,
  );
  const { store, jobs } = workspace;
  let parts = 0;
  await enqueueAllMissing((after) => {
    parts++;
    return store.write("adopt images", (tx) => jobs.enqueueMissing(tx, after));
  });
  expect(await mismatches(workspace)).toEqual([]);
  // Two of those that are queued, one of those being rendered, and nothing is left: no image is looked at
  // twice.
  expect(parts).toBe(4);
});
