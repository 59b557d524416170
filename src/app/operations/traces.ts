import type { Attributes } from "@opentelemetry/api";
import type { Log } from "../../core/ports.ts";
import { BUILD, VERSION } from "../../version.ts";

/**
 * One render of an image, as operators of several services want to see it. Times are milliseconds since
 * 1970.
 */
export interface RenderTrace {
  imageId: string;
  accountId: string;
  preset: string;
  /** How it ended: completed, refused, fault and so on. */
  end: string;
  /** Which render of the image it was, from 1. */
  attempt: number;
  /** When the image was accepted. */
  acceptedAt: number;
  startedAt: number;
  endedAt: number;
  /** Milliseconds of each stage, in the order they ran; null when the render did not complete. */
  stages: Readonly<Record<string, number>> | null;
}

/** Where renders are traced to. */
export interface Traces {
  render(trace: RenderTrace): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** A stopped collector must not hold up the end of the service. */
const EXPORT_TIMEOUT_MS = 3_000;

/**
 * Sends traces by OTLP over HTTP to a collector, as the standard OTEL_EXPORTER_OTLP_* variables say; the
 * library reads them. Nothing of it is loaded before the first trace, and a collector that is away costs
 * nothing but its traces.
 */
export function otlpTraces(log: Log): Traces {
  let opened: ReturnType<typeof openProvider> | undefined;
  const open = () => (opened ??= openProvider(log));
  return {
    render: (trace) => {
      open()
        .then((record) => record.render(trace))
        .catch((error: unknown) => log.warn("trace_lost", { error: String(error) }));
    },
    close: async () => {
      if (opened === undefined) return;
      await (await opened)
        .close()
        .catch((error: unknown) => log.warn("trace_lost", { error: String(error) }));
    },
  };
}

async function openProvider(log: Log): Promise<Traces> {
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import("@opentelemetry/api"),
    import("@opentelemetry/sdk-trace"),
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("@opentelemetry/resources"),
  ]);
  const report = (message: string, ...more: unknown[]) =>
    log.warn("trace_lost", { error: [message, ...more].map(String).join(" ").slice(0, 500) });
  const quiet = () => {};
  api.diag.setLogger(
    { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: api.DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new OTLPTraceExporter({ timeoutMillis: EXPORT_TIMEOUT_MS });
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({
      "service.name": process.env.OTEL_SERVICE_NAME || "cardpress",
      "service.version": BUILD,
    }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer("cardpress", VERSION);
  const { ROOT_CONTEXT, SpanStatusCode, trace } = api;

  function render(of: RenderTrace): void {
    // Later renders waited for a reason that the first one's trace tells.
    const startTime = of.attempt === 1 ? of.acceptedAt : of.startedAt;
    const attributes: Attributes = {
      "cardpress.image_id": of.imageId,
      "cardpress.account_id": of.accountId,
      "cardpress.preset": of.preset,
      "cardpress.end": of.end,
      "cardpress.attempt": of.attempt,
    };
    const root = tracer.startSpan("image", { startTime, attributes }, ROOT_CONTEXT);
    if (of.end === "fault") root.setStatus({ code: SpanStatusCode.ERROR });
    const within = trace.setSpan(ROOT_CONTEXT, root);
    const child = (name: string, from: number, to: number, parent = within) => {
      const span = tracer.startSpan(name, { startTime: from }, parent);
      span.end(to);
      return trace.setSpan(parent, span);
    };
    if (of.attempt === 1) child("wait", of.acceptedAt, of.startedAt);
    const drawing = child("render", of.startedAt, of.endedAt);
    let at = of.startedAt;
    for (const [stage, ms] of Object.entries(of.stages ?? {})) {
      if (stage === "total") continue;
      child(stage, at, at + ms, drawing);
      at += ms;
    }
    root.end(of.endedAt);
  }
  return { render, close: () => provider.shutdown() };
}
