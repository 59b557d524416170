import { Resolver } from "node:dns/promises";
import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import PQueue from "p-queue";
import {
  FAILED_LOOKUP_KEPT_MS,
  LOOKUP_OTHER_FAMILY_MS,
  LOOKUP_TIMEOUT_MS,
  LOOKUP_TRIES,
  LOOKUP_TRY_MS,
  MAX_FAILED_LOOKUPS_KEPT,
  MAX_LOOKUPS_PER_PARTY,
} from "../core/outbound-limits.ts";
import { GuardedHttpError, HOST_REFUSED_MESSAGE, OURS_MESSAGE } from "./guarded-http-error.ts";

export interface LookupRequest {
  /** The requester: look-ups of one requester queue behind each other, and nobody else behind them. */
  party?: string | undefined;
  /** Aborts the look-up; its reason is thrown. */
  signal: AbortSignal;
  /** The origin is the operator's own, so the name may rely on search domains. */
  trusted: boolean;
}

/** All addresses of a name. Throws GuardedHttpError `dns`, `ours`, or the signal's reason. */
export type NameLookup = (hostname: string, request: LookupRequest) => Promise<string[]>;

export interface NameLookupOptions {
  /** `address:port` of the name servers; those of resolv.conf when absent. */
  servers?: string[];
  hostsFile?: string;
  resolvConf?: string;
  /** Monotonic milliseconds. */
  now?: () => number;
}

const SILENT_MESSAGE =
  "The name servers of this host gave no answer. Check the domain's DNS, or try again in a minute.";
/** No socket could be opened, or this machine's resolver refuses us: says nothing about the name. */
const HINDERED = new Set(["ECONNREFUSED", "EREFUSED"]);
/** Nobody answered, or the resolver found nobody who did. */
const SILENT = new Set(["ETIMEOUT", "ECANCELLED", "ESERVFAIL"]);

/**
 * Looks names up without a thread. `dns.lookup` keeps a thread of the pool that all file work shares until
 * the system's resolver gives up, long after anybody waits: as many silent name servers as there are cores
 * stop the whole service. c-ares asks over sockets of the event loop and can be cancelled. On Bun 1.4.5 it
 * follows CNAMEs, asks for names as they are (no search domains, no hosts file), and without a resolv.conf
 * asks 127.0.0.1, as the system does. So what the system's look-up does besides is done here: the hosts file,
 * whose changes count at once, `localhost`, and for trusted names the search domains. Other sources of names
 * (mDNS, LDAP) are not asked. A resolver lives for one look-up: it costs some 20 microseconds, reads
 * resolv.conf as it is now, and its cancel() ends no other's. A is put before AAAA, since a machine without
 * IPv6 would have to fail first.
 */
export function createNameLookup(options: NameLookupOptions = {}): NameLookup {
  const {
    hostsFile = "/etc/hosts",
    resolvConf = "/etc/resolv.conf",
    now = () => performance.now(),
  } = options;
  const hosts = parsedFile(hostsFile, parseHosts);
  const searchDomains = parsedFile(resolvConf, parseSearchDomains);
  // As many as accounts and endpoints: an idle queue is a few hundred bytes.
  const queues = new Map<string, PQueue>();
  const failed = new Map<string, { until: number; error: GuardedHttpError }>();

  const lookUp = async (hostname: string, { signal, trusted }: LookupRequest): Promise<string[]> => {
    signal.throwIfAborted();
    const known = failed.get(hostname);
    if (known && known.until > now()) throw known.error;
    try {
      const names = [hostname, ...(trusted ? searchDomains().map((domain) => `${hostname}.${domain}`) : [])];
      return await firstFound(names, options.servers, signal);
    } catch (error) {
      if (error instanceof GuardedHttpError && error.kind === "dns") remember(hostname, error);
      throw error;
    }
  };
  const remember = (hostname: string, error: GuardedHttpError) => {
    failed.delete(hostname);
    const [oldest] = failed.keys();
    if (failed.size >= MAX_FAILED_LOOKUPS_KEPT && oldest !== undefined) failed.delete(oldest);
    failed.set(hostname, { until: now() + FAILED_LOOKUP_KEPT_MS, error });
  };
  const queueOf = (party: string) => {
    const known = queues.get(party);
    if (known) return known;
    const queue = new PQueue({ concurrency: MAX_LOOKUPS_PER_PARTY });
    queues.set(party, queue);
    return queue;
  };

  return async (hostname, request) => {
    const name = hostname.toLowerCase();
    const local = hosts().get(name) ?? (name === "localhost" ? ["127.0.0.1", "::1"] : undefined);
    if (local) return local;
    if (request.party === undefined) return lookUp(name, request);
    return queueOf(request.party).add(() => lookUp(name, request));
  };
}

async function firstFound(names: string[], servers: string[] | undefined, signal: AbortSignal) {
  let first: unknown;
  for (const name of names) {
    try {
      return await addressesOf(name, servers, signal);
    } catch (error) {
      signal.throwIfAborted();
      first ??= error;
    }
  }
  throw first;
}

/** Queries both address families at once; once one has answered, the other is waited for only briefly. */
async function addressesOf(name: string, servers: string[] | undefined, signal: AbortSignal) {
  const resolver = new Resolver({ timeout: LOOKUP_TRY_MS, tries: LOOKUP_TRIES });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  const timers = [setTimeout(cancel, LOOKUP_TIMEOUT_MS)];
  signal.addEventListener("abort", cancel, { once: true });
  const hurry = (found: string[]) => {
    if (found.length > 0) timers.push(setTimeout(cancel, LOOKUP_OTHER_FAMILY_MS));
    return found;
  };
  const answers = await Promise.allSettled([
    resolver.resolve4(name).then(hurry),
    resolver.resolve6(name).then(hurry),
  ]);
  for (const timer of timers) clearTimeout(timer);
  signal.removeEventListener("abort", cancel);
  signal.throwIfAborted();
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (found.length > 0) return found;
  const causes = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  const cause = causes.find(isOneOf(HINDERED)) ?? causes.find(isOneOf(SILENT)) ?? causes[0];
  if (isOneOf(SILENT)(cause) && (await hasResolver(servers)))
    throw new GuardedHttpError("dns", SILENT_MESSAGE, { cause });
  if (isOneOf(HINDERED)(cause) || isOneOf(SILENT)(cause))
    throw new GuardedHttpError("ours", OURS_MESSAGE, { cause });
  throw new GuardedHttpError("dns", HOST_REFUSED_MESSAGE, { cause });
}

/**
 * Whether this machine's resolver can find the root's name servers, as any working one can: otherwise silence
 * is our fault.
 */
async function hasResolver(servers: string[] | undefined): Promise<boolean> {
  const resolver = new Resolver({ timeout: LOOKUP_TRY_MS, tries: 1 });
  if (servers) resolver.setServers(servers);
  const cancel = setTimeout(() => resolver.cancel(), LOOKUP_TRY_MS);
  return resolver
    .resolveNs(".")
    .then(
      () => true,
      // It may refuse this query to everybody.
      (error) => error.code === "EREFUSED" || !(isOneOf(SILENT)(error) || isOneOf(HINDERED)(error)),
    )
    .finally(() => clearTimeout(cancel));
}

const isOneOf = (codes: Set<string>) => (error: (Error & { code?: string }) | undefined) =>
  codes.has(error?.code ?? "");

/** A small local file, reread when it changes; its last contents are used while it cannot be read. */
function parsedFile<T>(path: string, parse: (text: string) => T): () => T {
  let version = "";
  let value = parse("");
  return () => {
    try {
      const { mtimeMs, size, ino } = statSync(path);
      const current = `${ino} ${mtimeMs} ${size}`;
      if (current === version) return value;
      value = parse(readFileSync(path, "utf8"));
      version = current;
    } catch {}
    return value;
  };
}

function parseHosts(text: string): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const [address = "", ...names] of fieldsOf(text)) {
    if (isIP(address) === 0) continue;
    for (const name of names) {
      const known = hosts.get(name.toLowerCase()) ?? [];
      hosts.set(name.toLowerCase(), [...known, address]);
    }
  }
  return hosts;
}

/** The last `search` or `domain` line counts (resolv.conf(5)). */
function parseSearchDomains(text: string): string[] {
  const line = fieldsOf(text).findLast(([keyword]) => keyword === "search" || keyword === "domain");
  return (line ?? []).slice(1).filter((domain) => domain !== ".");
}

function fieldsOf(text: string): string[][] {
  return text.split("\n").map((line) =>
    line
      .replace(/[#;].*/, "")
      .trim()
      .split(/\s+/),
  );
}
