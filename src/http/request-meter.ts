import type { Count, Meter, Timing } from "../core/metrics.ts";

/** Counts and times requests. Each series is looked up once: there are few, and every request has one. */
export function requestMeter(meter: Meter) {
  const known = new Map<string, { count: Count; timing: Timing }>();
  return (method: string, route: string, status: number, seconds: number): void => {
    const key = `${method} ${route} ${status}`;
    let series = known.get(key);
    if (!series) {
      const labels = { method, route, status: String(status) };
      series = {
        count: meter.count("cardpress_http_requests_total", labels),
        timing: meter.timing("cardpress_http_request_seconds", { route }),
      };
      known.set(key, series);
    }
    series.count();
    series.timing(seconds);
  };
}
