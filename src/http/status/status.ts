import { type StatusReport, statusReports } from "../../app/operations/status.ts";
import { nothingAt } from "../../core/partner-refusals.ts";
import { isoTime, isoTimeOrNull } from "../../core/time.ts";
import { PAGE_HEADERS } from "../../web/policy.ts";
import { standardHeaders } from "../envelope.ts";
import type { Exchange } from "../exchange.ts";
import { type HealthDeps, readiness } from "../health.ts";
import { STATUS_ASSETS } from "./assets.ts";
import { percent } from "./percent.ts";
import { statusFeed } from "./status-feed.ts";
import { statusPage } from "./status-page.tsx";

/** As long as a report is kept here: a proxy in front may answer in our place. */
const CACHED = "public, max-age=10";

/** The public status page, also as JSON and as a feed of its notices; 404 unless it is switched on. */
export function statusHandlers(deps: HealthDeps) {
  const { baseUrl, statusPage: isOn } = deps.config;
  const report = statusReports({ ...deps, checks: () => readiness(deps) });
  const answering =
    (type: string, render: (found: StatusReport, basePath: string) => string) =>
    async (exchange: Exchange): Promise<Response> => {
      if (!isOn) throw nothingAt(exchange.url.pathname);
      const headers = { ...standardHeaders(exchange), ...PAGE_HEADERS };
      return new Response(render(await report(), exchange.basePath), {
        headers: { ...headers, "Content-Type": type, "Cache-Control": CACHED },
      });
    };
  return {
    status: answering("text/html; charset=utf-8", statusPage),
    statusJson: answering("application/json", (found) => JSON.stringify(asJson(found))),
    statusFeed: answering("application/atom+xml; charset=utf-8", (found) => statusFeed(found, baseUrl)),
    statusAsset: (exchange: Exchange) => {
      const file = STATUS_ASSETS.answer(exchange.request, exchange.url, standardHeaders(exchange));
      if (!isOn || !file) throw nothingAt(exchange.url.pathname);
      return file;
    },
  };
}

function asJson({ status, updatedAt, components, days, share, notices, ...report }: StatusReport) {
  return {
    status,
    updated_at: updatedAt,
    components,
    waiting_seconds: report.waitingSeconds,
    median_seconds: report.medianSeconds,
    availability: {
      percent: share === null ? null : percent(share),
      days: days.map((day) => ({ day: day.day, percent: day.share === null ? null : percent(day.share) })),
    },
    notices: notices.map(({ id, title, message, postedAt, resolvedAt }) => ({
      id,
      title,
      message,
      posted_at: isoTime(postedAt),
      resolved_at: isoTimeOrNull(resolvedAt),
    })),
  };
}
