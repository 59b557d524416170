import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { freePort } from "../../src/service/free-port.ts";
import { get, imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { expressions } from "./expressions.ts";

// The dashboard and the alerts beside a running service, as Prometheus itself reads them.

const DEPLOY = join(import.meta.dir, "../../deploy");
const PROMETHEUS = Bun.which("prometheus");
const files = {
  dashboard: expressions(await Bun.file(join(DEPLOY, "grafana-dashboard.json")).json()),
  alerts: expressions(Bun.YAML.parse(await Bun.file(join(DEPLOY, "prometheus-rules.yml")).text())),
};

let server: TestServer;
let prometheus: ReturnType<typeof Bun.spawn>;
let api: string;
const dir = mkdtempSync(join(tmpdir(), "cardpress-prometheus-"));
const receiver = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });

interface Series {
  metric: Record<string, string>;
  value: [number, string];
}

async function query(expression: string): Promise<{ error?: string; result: Series[] }> {
  const url = `${api}/query?${new URLSearchParams({ query: expression })}`;
  const { data, error } = (await (await fetch(url)).json()) as {
    data?: { result: Series[] };
    error?: string;
  };
  return { ...(error !== undefined && { error }), result: data?.result ?? [] };
}

/** What a service does in a day: cards made and refused, events delivered, a worker lost, a backup. */
async function live(): Promise<void> {
  const { baseUrl, service, photos } = server;
  const { account, liveKey, testKey } = await testAccount(service);
  const scope = { accountId: account.id, environment: "live" } as const;
  await createEndpoint(service, { ...scope, url: receiver.url.href });
  const create = async (key: string, photo: string) => {
    const body = imageRequest({ player: { source_image_url: photos.url(photo) } });
    const { data } = (await (await post(baseUrl, key, body)).json()) as { data: { image_id: string } };
    return untilEnded(baseUrl, key, data.image_id);
  };
  expect((await create(liveKey, "astronaut.png")).status).toBe("completed");
  expect((await create(liveKey, "coffee.png")).status).toBe("failed");
  expect((await create(testKey, "astronaut.png")).status).toBe("completed");
  expect((await get(baseUrl, liveKey, "/v1/images/img_none")).status).toBe(404);
  for (const pid of service.pool.pids()) process.kill(pid, "SIGKILL");
  const metrics = async () => (await fetch(`${baseUrl}/metrics`)).text();
  for (const series of [
    'cardpress_webhook_attempt_seconds_count{end="delivered"} 2',
    'cardpress_render_worker_ends_total{end="broken"}',
    "cardpress_backup_time_seconds 1",
  ])
    while (!(await metrics()).includes(series)) await Bun.sleep(50);
}

describe.skipIf(PROMETHEUS === null)("with a real Prometheus", () => {
  beforeAll(async () => {
    server = await testServer({
      env: {
        CARDPRESS_BACKUP_DIR: join(dir, "backups"),
        CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: receiver.url.origin,
      },
    });
    const port = await freePort("127.0.0.1");
    api = `http://127.0.0.1:${port}/api/v1`;
    await Bun.write(
      join(dir, "prometheus.yml"),
      JSON.stringify({
        global: { scrape_interval: "1s", evaluation_interval: "1s" },
        rule_files: [join(DEPLOY, "prometheus-rules.yml")],
        scrape_configs: [
          { job_name: "cardpress", static_configs: [{ targets: [new URL(server.baseUrl).host] }] },
        ],
      }),
    );
    prometheus = Bun.spawn(
      [
        PROMETHEUS ?? "",
        `--config.file=${join(dir, "prometheus.yml")}`,
        `--storage.tsdb.path=${join(dir, "data")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: ["ignore", "ignore", "ignore"] },
    );
    // Scraped before and after: what is counted anew would otherwise have no rate.
    const scrapes = async () =>
      Number(
        (await query('count_over_time(up{job="cardpress"}[1h])').catch(() => null))?.result[0]?.value[1],
      );
    while (!((await scrapes()) >= 1)) await Bun.sleep(100);
    await live();
    const sofar = await scrapes();
    while (!((await scrapes()) >= sofar + 4)) await Bun.sleep(100);
  });
  afterAll(async () => {
    prometheus?.kill("SIGKILL");
    await prometheus?.exited;
    await server?.close();
    await receiver.stop(true);
    await rm(dir, { recursive: true, force: true });
  });

  test("every panel of the dashboard shows something", async () => {
    const empty: unknown[] = [];
    for (const expression of files.dashboard) {
      const { error, result } = await query(expression);
      if (error !== undefined || result.length === 0) empty.push([expression, error]);
    }
    // Nothing was started anew for a minute: the annotation has nothing to mark.
    expect(empty).toEqual([['changes(process_start_time_seconds{job="cardpress"}[1m]) > 0', undefined]]);
  });

  test("every alert is evaluated without an error, on series that there are with the labels it asks for", async () => {
    const { data } = (await (await fetch(`${api}/rules`)).json()) as {
      data: { groups: { rules: { name: string; health: string; lastError?: string }[] }[] };
    };
    const rules = data.groups.flatMap((group) => group.rules);
    expect(rules.length).toBe(files.alerts.length);
    expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
    const missing: string[] = [];
    for (const expression of files.alerts)
      for (const [, name = "", labels = ""] of expression.matchAll(
        /\b((?:cardpress|process)_[a-z_]+|up)(\{[^}]*\})?/g,
      )) {
        const asked = [...labels.matchAll(/(\w+)=/g)].map(([, label]) => `${label}!=""`);
        const { error, result } = await query(`${name}{${asked.join(",")}}`);
        if (error !== undefined || result.length === 0) missing.push(`${name}${labels} ${error ?? ""}`);
      }
    expect(missing).toEqual([]);
  });
});
