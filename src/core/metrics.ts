/**
 * Every number the service reports about itself: the single list behind /metrics, the dashboard and the alert
 * rules.
 */

/** Upper bounds in seconds: from a cached read to the slowest photo fetch. */
const REQUEST_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Upper bounds in seconds: from loading a warm font to a render at its time limit. */
const STAGE_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Upper bounds in seconds: from an empty queue to the longest one that is accepted. */
const WAIT_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

export interface MetricRule {
  type: "counter" | "gauge" | "histogram";
  help: string;
  /** Bucket bounds of a histogram, in its unit. */
  bounds?: readonly number[];
}

export const METRICS = {
  cardpress_info: { type: "gauge", help: "1, with the version of the program." },
  cardpress_ready: { type: "gauge", help: "Each check behind /ready: 1 when it holds." },
  cardpress_http_requests_total: { type: "counter", help: "Answered requests." },
  cardpress_http_request_seconds: { type: "histogram", help: "Time to answer.", bounds: REQUEST_BOUNDS },
  cardpress_log_lines_total: { type: "counter", help: "Lines logged, by level." },
  cardpress_source_fetch_seconds: {
    type: "histogram",
    help: "Time to fetch a photo or badge, by how it ended.",
    bounds: STAGE_BOUNDS,
  },
  cardpress_image_wait_seconds: {
    type: "histogram",
    help: "From the acceptance of an image to the start of its first render.",
    bounds: WAIT_BOUNDS,
  },
  cardpress_stage_seconds: { type: "histogram", help: "Each stage of a render.", bounds: STAGE_BOUNDS },
  cardpress_render_seconds: {
    type: "histogram",
    help: "Whole renders, by how they ended.",
    bounds: STAGE_BOUNDS,
  },
  cardpress_images_unfinished: {
    type: "gauge",
    help: "Images that wait or are being rendered, up to 10,000 of each.",
  },
  cardpress_queue_oldest_seconds: {
    type: "gauge",
    help: "Age of the image that has waited longest; 0 when none does.",
  },
  cardpress_render_workers: {
    type: "gauge",
    help: "Render workers that are warm, and that there should be.",
  },
  cardpress_render_worker_starts_total: {
    type: "counter",
    help: "Render workers that became warm, or failed to.",
  },
  cardpress_render_worker_ends_total: { type: "counter", help: "Render workers that ended, by reason." },
  cardpress_render_worker_memory_bytes: {
    type: "gauge",
    help: "Memory of all render workers with their browsers, without what they share.",
  },
  cardpress_webhook_attempt_seconds: {
    type: "histogram",
    help: "Attempts to deliver an event, by how they ended.",
    bounds: REQUEST_BOUNDS,
  },
  cardpress_webhook_deliveries_open: {
    type: "gauge",
    help: "Deliveries that wait for an attempt or are under way.",
  },
  cardpress_webhook_oldest_due_seconds: {
    type: "gauge",
    help: "How late the delivery is that should have been attempted first; 0 when none is late.",
  },
  cardpress_webhook_endpoints_failing: {
    type: "gauge",
    help: "Webhook endpoints that fail, or were disabled for it.",
  },
  cardpress_accounts: { type: "gauge", help: "Accounts, by status." },
  cardpress_credits: {
    type: "gauge",
    help: "Credits of all accounts: to spend, and held by unfinished images.",
  },
  cardpress_credits_used_total: { type: "counter", help: "Credits of finished cards since the start." },
  cardpress_disk_free_bytes: { type: "gauge", help: "Room left on the disk of the data folder." },
  cardpress_disk_size_bytes: { type: "gauge", help: "Size of the disk of the data folder." },
  cardpress_folder_bytes: { type: "gauge", help: "What takes the disk, by kind; measured every hour." },
  cardpress_database_bytes: { type: "gauge", help: "Size of the database's file." },
  cardpress_wal_bytes: { type: "gauge", help: "Size of the database's write-ahead log." },
  cardpress_backup_time_seconds: { type: "gauge", help: "When the last good backup was made, in Unix time." },
  cardpress_mails: {
    type: "gauge",
    help: "Mails of the last 30 days, by state: those that wait, and those that were given up.",
  },
  process_start_time_seconds: { type: "gauge", help: "When the process began, in Unix time." },
  process_cpu_seconds_total: { type: "counter", help: "Processor time of the server process alone." },
  process_resident_memory_bytes: {
    type: "gauge",
    help: "Memory of the server process, without its render workers.",
  },
  process_open_fds: { type: "gauge", help: "Open files and sockets of the server process." },
} as const satisfies Record<string, MetricRule>;

export type MetricName = keyof typeof METRICS;
type NameOf<Type> = { [N in MetricName]: (typeof METRICS)[N]["type"] extends Type ? N : never }[MetricName];
export type CounterName = NameOf<"counter">;
export type HistogramName = NameOf<"histogram">;
export type GaugeName = NameOf<"gauge">;

export type Labels = Readonly<Record<string, string>>;

/** One measurement. */
export interface Sample {
  name: GaugeName | CounterName;
  labels?: Labels;
  value: number;
}

/** Adds to a counter, which starts at zero with the process. */
export interface Meter {
  add(name: CounterName, labels?: Labels, by?: number): void;
  /**
   * One series of a counter, for code that adds to it often: naming a series costs more than adding to it.
   */
  count(name: CounterName, labels: Labels): Count;
  /** Records a duration in seconds. */
  time(name: HistogramName, labels: Labels, seconds: number): void;
  /** One series of a histogram, for code that records in it often. */
  timing(name: HistogramName, labels: Labels): Timing;
  /** Renders Prometheus text format 0.0.4: the counters, plus the gauges in `now`. */
  text(now: Sample[]): string;
}

/** Adds to one series of a counter. */
export type Count = (by?: number) => void;
/** Records a duration in seconds in one series of a histogram. */
export type Timing = (seconds: number) => void;

interface Histogram {
  buckets: number[];
  sum: number;
  count: number;
}

export function meter(): Meter {
  const counts = new Map<string, Map<string, { n: number }>>();
  const times = new Map<string, Map<string, Histogram>>();
  const count = (name: CounterName, labels: Labels): Count => {
    const found = seriesOf(counts, name, labels, () => ({ n: 0 }));
    return (by = 1) => {
      found.n += by;
    };
  };
  const timing = (name: HistogramName, labels: Labels): Timing => {
    const { bounds } = METRICS[name];
    const found = seriesOf(times, name, labels, () => ({ buckets: bounds.map(() => 0), sum: 0, count: 0 }));
    return (seconds) => {
      // Only the first matching bucket is counted here; the cumulative sums are built when the text is
      // rendered.
      const place = bounds.findIndex((bound) => seconds <= bound);
      if (place >= 0) found.buckets[place] = (found.buckets[place] ?? 0) + 1;
      found.sum += seconds;
      found.count += 1;
    };
  };
  return {
    count,
    timing,
    add: (name, labels = {}, by = 1) => count(name, labels)(by),
    time: (name, labels, seconds) => timing(name, labels)(seconds),
    text: (now) => {
      const lines: string[] = [];
      for (const [name, { type, help }] of Object.entries(METRICS)) {
        const series = [
          ...[...(counts.get(name) ?? [])].map(([key, { n }]) => `${name}${braced(key)} ${n}`),
          ...[...(times.get(name) ?? [])].flatMap(([key, found]) => histogramLines(name, key, found)),
          ...now
            .filter((sample) => sample.name === name)
            .map(({ labels = {}, value }) => `${name}${braced(labelText(labels))} ${value}`),
        ];
        lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...series);
      }
      return `${lines.join("\n")}\n`;
    },
  };
}

/** The series of these labels, begun by `first` when it is new. */
function seriesOf<Series>(
  all: Map<string, Map<string, Series>>,
  name: string,
  labels: Labels,
  first: () => Series,
): Series {
  const family = all.get(name) ?? new Map<string, Series>();
  all.set(name, family);
  const key = labelText(labels);
  const series = family.get(key) ?? first();
  family.set(key, series);
  return series;
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, "_")}"`)
    .join(",");
}

const braced = (key: string) => (key === "" ? "" : `{${key}}`);

function histogramLines(name: string, key: string, { buckets, sum, count }: Histogram): string[] {
  const { bounds = [] } = METRICS[name as MetricName] as MetricRule;
  const rest = key === "" ? "" : `${key},`;
  let below = 0;
  return [
    ...bounds.map((le, place) => {
      below += buckets[place] ?? 0;
      return `${name}_bucket{${rest}le="${le}"} ${below}`;
    }),
    `${name}_bucket{${rest}le="+Inf"} ${count}`,
    `${name}_sum${braced(key)} ${sum}`,
    `${name}_count${braced(key)} ${count}`,
  ];
}
