import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { otlpTraces, type RenderTrace } from "../../../src/app/operations/traces.ts";
import { quietLog } from "../../../src/log.ts";

/**
 * A time of day: the tracing library takes what is smaller than the age of this process for a time since its
 * start.
 */
const DAY = Date.UTC(2026, 7, 1);
const TRACE: RenderTrace = {
  imageId: "img_1",
  accountId: "acc_1",
  preset: "club_card",
  end: "completed",
  attempt: 1,
  acceptedAt: DAY,
  startedAt: DAY + 250,
  endedAt: DAY + 1_000,
  stages: { decode: 100, capture: 200, total: 300 },
};

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Record<string, unknown> }[];
}

let spans: Span[];
let collector: ReturnType<typeof Bun.serve>;
let faults: string[];
const before = process.env.OTEL_EXPORTER_OTLP_ENDPOINT;

beforeEach(() => {
  spans = [];
  faults = [];
  collector = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const body = (await request.json()) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      spans.push(
        ...body.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
      );
      return Response.json({});
    },
  });
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.url.href;
});
afterEach(async () => {
  if (before === undefined) delete process.env.OTEL_EXPORTER_OTLP_ENDPOINT;
  else process.env.OTEL_EXPORTER_OTLP_ENDPOINT = before;
  await collector.stop(true);
});

const traces = () => otlpTraces({ ...quietLog(), warn: (event) => void faults.push(event) });
const named = (name: string) => spans.find((span) => span.name === name);
const milliseconds = (span?: Span) =>
  [span?.startTimeUnixNano, span?.endTimeUnixNano].map((at) => Number(BigInt(at ?? 0) / 1_000_000n) - DAY);

test("a render reaches the collector as one trace: the wait, the render, and each stage within it", async () => {
  const sent = traces();
  sent.render(TRACE);
  await sent.close();
  expect(spans.map(({ name }) => name).sort()).toEqual(["capture", "decode", "image", "render", "wait"]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(milliseconds(named("image"))).toEqual([0, 1_000]);
  expect(milliseconds(named("wait"))).toEqual([0, 250]);
  expect(milliseconds(named("capture"))).toEqual([350, 550]);
  expect(named("capture")?.parentSpanId).toBe(named("render")?.spanId ?? "none");
  expect(named("render")?.parentSpanId).toBe(named("image")?.spanId ?? "none");
  const attributes = Object.fromEntries(
    named("image")?.attributes.map(({ key, value }) => [key, Object.values(value)[0]]) ?? [],
  );
  expect(attributes).toMatchObject({ "cardpress.image_id": "img_1", "cardpress.end": "completed" });
  expect(faults).toEqual([]);
});

test("a later render is a trace of its own, which begins when it does", async () => {
  const sent = traces();
  sent.render({ ...TRACE, attempt: 2, end: "fault", stages: null });
  await sent.close();
  expect(spans.map(({ name }) => name).sort()).toEqual(["image", "render"]);
  expect(milliseconds(named("image"))).toEqual([250, 1_000]);
});

test("a collector that is away is logged, and holds up neither renders nor the end", async () => {
  await collector.stop(true);
  const sent = traces();
  sent.render(TRACE);
  await sent.close();
  expect(faults).toContain("trace_lost");
});

test("a service that is not asked to trace loads nothing of it, whatever it renders; one that is sends its card", async () => {
  const card = async (endpoint: string | undefined) => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: _, ...env } = process.env;
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "tracing-process.ts")], {
      env: { ...env, ...(endpoint !== undefined && { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }) },
      stdout: "pipe",
    });
    return JSON.parse((await new Response(child.stdout).text()).trim().split("\n").at(-1) ?? "");
  };
  expect(await card(undefined)).toEqual({ status: "completed", loaded: 0 });
  expect(spans).toEqual([]);
  const traced = await card(collector.url.href);
  expect(traced.status).toBe("completed");
  expect(traced.loaded).toBeGreaterThan(0);
  expect(named("render")).toBeDefined();
});
