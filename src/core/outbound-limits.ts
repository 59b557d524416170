import { MAX_SOURCE_PIXELS } from "./limits.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "./time.ts";

// What bounds calls to other machines: photos fetched, webhooks sent, names looked up.

const KB = 1024;

export const MAX_SOURCE_REDIRECTS = 3;
/** Covers waiting, DNS, connection, redirects and body together. */
export const SOURCE_TIMEOUT_MS = 10 * SECOND_MS;
/**
 * A real progressive photo has about 10 scans; thousands, each over all pixels, would keep a decoder busy for
 * minutes.
 */
export const MAX_JPEG_SCANS = 100;
/** A badge never needs more than the usual 10. */
export const MAX_BADGE_SCANS = 20;
/**
 * Scans times pixels measures decoding work: 15 scans of the largest photo take a few seconds, 100 took 40.
 */
export const MAX_JPEG_SCAN_PIXELS = 15 * MAX_SOURCE_PIXELS;

/**
 * Concurrent fetches of photos and badges. Each holds its whole file: 16 of the largest were measured at 0.7
 * GB.
 */
export const MAX_SOURCE_FETCHES = 16;
/**
 * Per account: a typical photo takes 80 ms, so four slots fetch 50 a second, many times the rendering rate.
 */
export const MAX_SOURCE_FETCHES_PER_ACCOUNT = 4;
/** Slots reserved for accounts with no fetch in progress, so that a few slow accounts never hold them all. */
export const SOURCE_FETCHES_KEPT_FREE = 4;
/** A slower fetch reduces its account's concurrency to one; each faster one restores a slot. */
export const PROMPT_FETCH_MS = 2 * SECOND_MS;
/**
 * Fetches of one account waiting for a slot: a burst of 32 with badges passes, a flood is asked to slow down.
 */
export const MAX_WAITING_FETCHES_PER_ACCOUNT = 64;
/**
 * Adds up to 12 s with the fetch itself, within which partners are promised to learn what is wrong with a
 * photo.
 */
export const MAX_FETCH_WAIT_MS = 2 * SECOND_MS;
/** After how long to retry a create that got no slot: most fetches in progress have ended by then. */
export const FETCH_RETRY_SECONDS = 5;
/** Per account and environment: enough for staging copies and several systems, few enough to fan out to. */
export const MAX_WEBHOOK_ENDPOINTS = 10;
/** Covers DNS, connection and response: receivers should answer first and work afterwards. */
export const WEBHOOK_TIMEOUT_MS = 15 * SECOND_MS;
/** Only the status counts; a longer response body is not read. */
export const MAX_WEBHOOK_ANSWER_BYTES = 64 * KB;
/** How much of a failing receiver's response is kept for troubleshooting. */
export const WEBHOOK_ANSWER_KEPT_CHARS = 500;
/** Longer than any attempt can take, so that only the lease of a dead process expires. */
export const WEBHOOK_LEASE_MS = MINUTE_MS;
/** An endpoint that only fails for this long is disabled: nobody is listening any more. */
export const WEBHOOK_GIVE_UP_MS = 5 * DAY_MS;
/**
 * After a rotation the old secret signs beside the new one, so that receivers can change over without a gap.
 */
export const WEBHOOK_SECRET_OVERLAP_MS = DAY_MS;
/** How far back events can be recovered and deliveries inspected. */
export const WEBHOOK_RETENTION_MS = 30 * DAY_MS;
/**
 * Per endpoint, over all processes: enough for 80 events a second at 100 ms each, without flooding a small
 * receiver.
 */
export const MAX_DELIVERIES_PER_ENDPOINT = 8;
/** Concurrent attempts at receivers that answer promptly. */
export const MAX_PROMPT_DELIVERIES = 32;
/**
 * Concurrent attempts at receivers that recently failed or were slow: they wait for each other, not the
 * others for them.
 */
export const MAX_STALLED_DELIVERIES = 32;
/**
 * All attempts in progress, including receivers that have just gone silent; each is one socket and one body.
 */
export const MAX_DELIVERIES = 128;
/** A slower attempt marks its receiver as slow. */
export const PROMPT_ANSWER_MS = 2 * SECOND_MS;
/** The longest delay a lost wake-up can cause to a delivery. */
export const WEBHOOK_POLL_MS = SECOND_MS;

/** A refused connection counts as the other side's refusal only while this many file descriptors are free. */
export const MIN_FREE_DESCRIPTORS = 8;
/** How often work that can wait for descriptors looks for some: a look takes microseconds. */
export const DESCRIPTORS_LOOK_MS = 200;
/** Pause after running out of descriptors or ports ourselves, before retrying what failed for that reason. */
export const EXHAUSTED_RETRY_MS = 15 * SECOND_MS;

/** Photo and webhook URLs: presigned URLs with session tokens reach 2,000 characters. */
export const MAX_OUTBOUND_URL_CHARS = 4096;
/** All tries for one name: half of a photo's time, so that other faults can still surface. */
export const LOOKUP_TIMEOUT_MS = 5 * SECOND_MS;
/** One query to one name server. A recursive server answers, or gives up, within a second or two. */
export const LOOKUP_TRY_MS = 1_500;
export const LOOKUP_TRIES = 3;
/**
 * Once the IPv4 or IPv6 addresses of a name are known, the other query gets this long: some name servers drop
 * AAAA queries.
 */
export const LOOKUP_OTHER_FAMILY_MS = 500;
/**
 * Concurrent look-ups for one account's photos, or one webhook endpoint; each is a socket. Most take
 * milliseconds.
 */
export const MAX_LOOKUPS_PER_PARTY = 2;
/** How long a name that was not found, or whose servers are silent, is not looked up again. */
export const FAILED_LOOKUP_KEPT_MS = 30 * SECOND_MS;
/**
 * More than all accounts together can cause to fail in that time, two at once at five seconds each; a quick
 * NXDOMAIN is cheap.
 */
export const MAX_FAILED_LOOKUPS_KEPT = 1_000;
/**
 * Chunks of a body, sent or fetched, that may be tiny before the average is enforced: headers on slow links,
 * and files of a few bytes.
 */
export const MAX_TINY_PIECES = 1_000;
/**
 * Minimum average chunk of a body. A TCP segment carries 500 bytes and more, and every chunk costs a turn of
 * the event loop.
 */
export const MIN_PIECE_BYTES = 64;
/** 1xx responses before the final one. Servers send one; an endless series would only cost memory. */
export const MAX_INTERIM_RESPONSES = 8;

/** One request to a partner's bucket: a picture of the largest size over a slow line takes this long. */
export const EXPORT_TRY_MS = 20 * SECOND_MS;
/** Longer than all tries of an attempt with its two objects together, so that no lease ends under one. */
export const EXPORT_LEASE_MS = 5 * MINUTE_MS;
/** Attempts of one process at once, and of them for one account: its bucket may be slow. */
export const MAX_EXPORTS = 8;
export const MAX_EXPORTS_PER_ACCOUNT = 2;
/** After a failed attempt an account's other cards wait this long, since mostly the bucket is at fault. */
export const EXPORT_PAUSE_MS = 30 * SECOND_MS;
export const EXPORT_POLL_MS = 2 * SECOND_MS;
/** Answers hold an error's text, a listing of one object or the probe. */
export const MAX_BUCKET_ANSWER_BYTES = 64 * KB;
