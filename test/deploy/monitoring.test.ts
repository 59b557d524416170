import { expect, test } from "bun:test";
import { join } from "node:path";
import { METRICS, type MetricRule } from "../../src/core/metrics.ts";
import { expressions } from "./expressions.ts";

const deploy = join(import.meta.dir, "../../deploy");

/** Every name of ours in an expression, as the list has it: a histogram's parts count as the histogram. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(cardpress|process)_[a-z_]+/g) ?? [];
  return names.map((name) => {
    const base = name.replace(/_(bucket|sum|count)$/, "");
    const rule = (METRICS as Record<string, MetricRule>)[base];
    return rule?.type === "histogram" ? base : name;
  });
}

test.each(["grafana-dashboard.json", "prometheus-rules.yml"])(
  "%s asks for numbers that there are",
  async (file) => {
    const text = await Bun.file(join(deploy, file)).text();
    const found = expressions(file.endsWith(".json") ? JSON.parse(text) : Bun.YAML.parse(text));
    expect(found.length).toBeGreaterThan(10);
    const names = found.flatMap(metricsIn);
    expect(names.filter((name) => !(name in METRICS))).toEqual([]);
  },
);

test("the dashboard shows every number there is", async () => {
  const shown = new Set(
    expressions(await Bun.file(join(deploy, "grafana-dashboard.json")).json()).flatMap(metricsIn),
  );
  // Series that only identify the service, or come from elsewhere.
  const unseen = ["cardpress_info", "cardpress_accounts"];
  expect(Object.keys(METRICS).filter((name) => !shown.has(name) && !unseen.includes(name))).toEqual([]);
});

test.skipIf(Bun.which("promtool") === null)(
  "Prometheus takes the rules, and each fires when it should",
  () => {
    for (const args of [
      ["check", "rules", join(deploy, "prometheus-rules.yml")],
      ["check", "config", "--syntax-only", join(deploy, "prometheus.yml")],
      ["test", "rules", join(import.meta.dir, "alerts.yml")],
    ]) {
      const { exitCode, stdout, stderr } = Bun.spawnSync(["promtool", ...args]);
      expect({ exitCode, output: exitCode === 0 ? "" : `${stdout}${stderr}` }).toEqual({
        exitCode: 0,
        output: "",
      });
    }
  },
);
