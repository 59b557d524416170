/** @jsxImportSource preact */
import type { ComponentStatus, StatusComponent, StatusReport } from "../../app/operations/status.ts";
import { isoTime } from "../../core/time.ts";
import type { StatusNotice } from "../../store/overviews/status.ts";
import { Badge, type Tone } from "../../web/elements.tsx";
import { Document, documentText } from "../../web/page.tsx";
import { STATUS_ASSETS } from "./assets.ts";
import { percent } from "./percent.ts";

const WORDS: Record<ComponentStatus, { tone: Tone; word: string; all: string }> = {
  operational: { tone: "good", word: "In order", all: "Everything is in order" },
  degraded: { tone: "busy", word: "Slow", all: "Some things are slow" },
  outage: { tone: "bad", word: "Out of order", all: "Something is out of order" },
};

/** Such as "2026-11-30 14:05 UTC". */
const clockTime = (at: number) => `${isoTime(at).slice(0, 16).replace("T", " ")} UTC`;

function Notice({ notice, Heading }: { notice: StatusNotice; Heading: "h2" | "h3" }) {
  const { id, title, message, postedAt, resolvedAt } = notice;
  return (
    <article class={resolvedAt === null ? "status-notice status-open" : "status-notice"} id={id}>
      <Heading>{title}</Heading>
      <p class="note">
        Posted <time dateTime={isoTime(postedAt)}>{clockTime(postedAt)}</time>
        {resolvedAt !== null && (
          <>
            , resolved <time dateTime={isoTime(resolvedAt)}>{clockTime(resolvedAt)}</time>
          </>
        )}
      </p>
      {message.split(/\n{2,}/).map((paragraph) => (
        <p key={paragraph}>{paragraph}</p>
      ))}
    </article>
  );
}

function Component({ component }: { component: StatusComponent }) {
  const { tone, word } = WORDS[component.status];
  return (
    <li>
      <div>
        <strong>{component.name}</strong>
        <p class="note">{component.note}</p>
      </div>
      <Badge tone={tone}>{word}</Badge>
    </li>
  );
}

const toneOf = (share: number | null) =>
  share === null ? "none" : share >= 0.999 ? "good" : share >= 0.97 ? "busy" : "bad";

function History({ days, share }: Pick<StatusReport, "days" | "share">) {
  const known = days.filter((day) => day.share !== null);
  return (
    <section class="card">
      <div class="card-head">
        <div>
          <h2>Last 90 days</h2>
          <p class="note">
            {share === null ? "Nothing is recorded yet." : `${percent(share)} % of all minutes`}
          </p>
        </div>
      </div>
      {known.length > 0 && (
        <>
          <ol class="status-days">
            {days.map((day) => {
              const text = `${day.day}: ${day.share === null ? "no data" : `${percent(day.share)} %`}`;
              return (
                <li key={day.day} class={`status-${toneOf(day.share)}`} title={text}>
                  <span class="visually-hidden">{text}</span>
                </li>
              );
            })}
          </ol>
          <p class="status-ends note" aria-hidden="true">
            <span>90 days ago</span>
            <span>Today</span>
          </p>
        </>
      )}
      <p class="note">
        Recorded by the service itself, each minute in which it takes requests for new cards, in UTC. A minute
        without a record counts as down, also where nobody asked in it; on a day without data the service did
        not run, and it does not count. What lies between here and you is not measured.
      </p>
    </section>
  );
}

/** The whole page. */
export function statusPage(report: StatusReport, basePath: string): string {
  const { status, updatedAt, components, days, share, notices } = report;
  const open = notices.filter(({ resolvedAt }) => resolvedAt === null);
  const past = notices.filter(({ resolvedAt }) => resolvedAt !== null);
  return documentText(
    <Document
      title="Status"
      description="Whether cards are accepted and made, webhooks sent and pictures served."
      section="docs"
      style={STATUS_ASSETS.url("status.css")}
      scripts={[]}
      head={<link rel="alternate" type="application/atom+xml" title="Notices" href="/status.atom" />}
    >
      <main class="status">
        <header class="status-head">
          <h1 class={`status-banner status-banner-${WORDS[status].tone}`}>{WORDS[status].all}</h1>
          <p class="note">
            As of <time dateTime={updatedAt}>{clockTime(Date.parse(updatedAt))}</time>
          </p>
        </header>
        {open.map((notice) => (
          <Notice key={notice.id} notice={notice} Heading="h2" />
        ))}
        <section class="card" aria-label="Parts">
          <ul class="status-parts">
            {components.map((component) => (
              <Component key={component.id} component={component} />
            ))}
          </ul>
        </section>
        <History days={days} share={share} />
        {past.length > 0 && (
          <section class="card">
            <h2>Resolved in the last two weeks</h2>
            {past.map((notice) => (
              <Notice key={notice.id} notice={notice} Heading="h3" />
            ))}
          </section>
        )}
        <footer class="status-foot note">
          <a href="/status.json">JSON</a>
          <a href="/status.atom">Feed</a>
          <a href="/docs">Documentation</a>
        </footer>
      </main>
    </Document>,
    basePath,
  );
}
