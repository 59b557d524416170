import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./time.ts";

/** Every bound of the service in one place, each with its unit and its reason. */

const KB = 1024;
const MB = 1024 * KB;

/** A create body is under 10 KB in practice; 64 KB leaves room and keeps parsing cheap. */
export const MAX_BODY_BYTES = 64 * KB;

/** For a body to arrive whole: minutes less than a trickle could take, and before the server's idle time-out. */
export const BODY_TIMEOUT_MS = 20 * SECOND_MS;
/** The largest photo as base64, with room: whoever sends that by mistake still gets to read the refusal. */
export const MAX_DISCARDED_BODY_BYTES = 24 * MB;
/** For the rest of a refused body; and for its next bytes, so that who sends none is answered at once. */
export const DISCARD_TIMEOUT_MS = 10 * SECOND_MS;
export const DISCARD_IDLE_MS = SECOND_MS / 2;

/** Promised to partners: at least 48 hours; 72 covers a weekend of retries. */
export const IDEMPOTENCY_RETENTION_MS = 72 * HOUR_MS;
export const MAX_IDEMPOTENCY_KEY_CHARS = 255;

/** Longer ones would push the rest of a table's line out of sight. */
export const MAX_ACCOUNT_NAME_CHARS = 120;
export const MAX_KEY_NAME_CHARS = 80;

/** Of one grant or plan: more than anybody means to give, and balances of millions of them stay exact integers. */
export const MAX_CREDITS = 1_000_000_000;

/** A photo from a good camera is 5 to 12 MB as JPEG. */
export const MAX_SOURCE_BYTES = 15 * MB;
/** Decoded RGBA of 40 megapixels is 160 MB, what one render worker can hold. */
export const MAX_SOURCE_PIXELS = 40_000_000;
/** Below this a face has too few pixels for even the smallest card. */
export const MIN_SOURCE_SIDE_PX = 200;
/** A badge is shown at 400 px at most; anything over 5 MB is a mistake. */
export const MAX_BADGE_BYTES = 5 * MB;
export const MIN_BADGE_SIDE_PX = 16;
export const MAX_SOURCE_REDIRECTS = 3;
/** For waiting, name look-up, connection, redirects and body together. */
export const SOURCE_TIMEOUT_MS = 10 * SECOND_MS;
/** A fetch whose turn leaves it less is not tried: a time-out would then be our fault, not the photo's. */
export const MIN_SOURCE_TIMEOUT_MS = 3 * SECOND_MS;
/** A real progressive photo has about 10 scans; thousands, each over all pixels, would keep a decoder busy for minutes. */
export const MAX_JPEG_SCANS = 100;
/** Each holds its whole file: 16 of the largest were measured at 0.7 GB, and bring 50 typical photos a second. */
export const MAX_SOURCE_FETCHES = 16;
/** What a burst may queue up behind them: about a second of waiting as a rule, 40 s if every host is slow. */
export const MAX_WAITING_SOURCE_FETCHES = 64;

/** Creates whose photo and badge are being fetched, of all accounts: twice as many fetches, half of them waiting. */
export const MAX_FETCHING_CREATES = 16;
/** Creates of one account being fetched: half, so that an account with slow hosts leaves places to the others. */
export const MAX_FETCHING_CREATES_PER_ACCOUNT = 8;
/** Creates of one account that wait for a place: a burst of 40 goes through, a flood is told to slow down. */
export const MAX_WAITING_CREATES_PER_ACCOUNT = 32;
/** Together with the fetch itself 12 s, after which partners were promised to know what is wrong with a photo. */
export const MAX_FETCH_WAIT_MS = 2 * SECOND_MS;
/** Of each account in each environment: enough for staging copies and several systems, few enough to fan out to. */
export const MAX_WEBHOOK_ENDPOINTS = 10;
/** For look-up, connection and answer together: receivers should answer first and work afterwards. */
export const WEBHOOK_TIMEOUT_MS = 15 * SECOND_MS;
/** Only the status counts; what a receiver says beyond this is not read. */
export const MAX_WEBHOOK_ANSWER_BYTES = 64 * KB;
/** Of a failing receiver's answer this much is kept for whoever looks for the reason. */
export const WEBHOOK_ANSWER_KEPT_CHARS = 500;
/** Longer than any attempt may take, so that only a dead process's lease expires. */
export const WEBHOOK_LEASE_MS = MINUTE_MS;
/** Nothing but failures for this long disables an endpoint: nobody is reading there any more. */
export const WEBHOOK_GIVE_UP_MS = 5 * DAY_MS;
/** After a rotation the old secret signs beside the new one, so that receivers can change over without a gap. */
export const WEBHOOK_SECRET_OVERLAP_MS = DAY_MS;
/** How far back events can be recovered, and deliveries looked at. */
export const WEBHOOK_RETENTION_MS = 30 * DAY_MS;
/** One endpoint's share: enough for 80 events a second at 100 ms each, and no flood for a small receiver. */
export const MAX_DELIVERIES_PER_ENDPOINT = 8;
/** Attempts begun at receivers that answer promptly. */
export const MAX_PROMPT_DELIVERIES = 32;
/** Attempts begun at receivers that lately failed or were slow: they wait for each other, not the others for them. */
export const MAX_STALLED_DELIVERIES = 32;
/** Every attempt under way, also of receivers that fell silent just now; each is one socket and one body. */
export const MAX_DELIVERIES = 128;
/** An attempt that takes longer makes its receiver a slow one. */
export const PROMPT_ANSWER_MS = 2 * SECOND_MS;
/** How late a lost wake-up can make a delivery. */
export const WEBHOOK_POLL_MS = SECOND_MS;

/** Photos and webhooks: room for presigned addresses with session tokens, which reach 2,000. */
export const MAX_OUTBOUND_URL_CHARS = 4096;
/** 1xx answers before the real one. Servers send one; an endless row of them would only cost memory. */
export const MAX_INTERIM_RESPONSES = 8;

export const DEFAULT_LIST_LIMIT = 20;
export const MAX_LIST_LIMIT = 100;

/** Longer than any render may take, so that only a dead worker's lease expires. */
export const LEASE_MS = 90 * SECOND_MS;
/** One render, from the photo's bytes to the finished picture. */
export const RENDER_TIMEOUT_MS = 45 * SECOND_MS;
/** A photo that breaks the renderer three times will break it a fourth time. */
export const MAX_RENDERS = 3;
/** Free space below which the next pictures would not fit: about 150 of the largest. */
export const MIN_FREE_DISK_BYTES = 256 * MB;
/** The pause before another attempt when the disk would not take the picture: an operator needs minutes to make room. */
export const STORAGE_RETRY_MS = 15 * SECOND_MS;
/** The pause before a render's end is written down again when the database would not take it. */
export const FINISH_RETRY_MS = SECOND_MS;
/** A new create is refused when what is served before it, in the fair order between accounts, would take longer. */
export const MAX_QUEUE_WAIT_MS = 2 * MINUTE_MS;
/** All that waits, of all accounts: reached only when some eighty of them fill their own shares at once. */
export const MAX_QUEUE_WORK_MS = 10 * MINUTE_MS;
/** Test images take milliseconds, slow ones ten seconds: this many are done within three minutes at the worst. */
export const MAX_WAITING_TEST_IMAGES = 1_000;
/** Used for estimates until this process has rendered something itself. */
export const TYPICAL_RENDER_MS = 1_500;

/** Recycling a browser bounds what a leak can cost. */
export const RENDERS_PER_BROWSER = 100;
export const BROWSER_LIFETIME_MS = HOUR_MS;

/** SIGTERM to exit: what orchestrators grant before SIGKILL. */
export const DRAIN_TIMEOUT_MS = 25 * SECOND_MS;

export const SWEEP_INTERVAL_MS = 30 * SECOND_MS;
/** Polling is the truth, wake-ups are hints: this is how late a lost hint can make a render. */
export const QUEUE_POLL_MS = SECOND_MS;

/** Requests a minute for each account and environment. */
export const RATE_LIMIT_PER_MINUTE = { starter: 120, growth: 600, scale: 6000 } as const;
export const RATE_WINDOW_MS = MINUTE_MS;
/** Refused keys a minute for each client address: far above any honest mistake, far below a search. */
export const REFUSED_KEYS_PER_MINUTE = 60;

/** A source nobody asked for again is fetched anew when it is needed. */
export const SOURCE_RETENTION_MS = 7 * DAY_MS;

/** How often the service looks whether a backup is due. */
export const BACKUP_POLL_MS = MINUTE_MS;
/** The pause after a backup that failed: an operator needs time to make room, or to mount the disk. */
export const BACKUP_RETRY_MS = HOUR_MS;

/** A console nobody touches for a working day signs itself out; a week later everyone signs in again. */
export const SESSION_IDLE_MS = 8 * HOUR_MS;
export const SESSION_LIFETIME_MS = 7 * DAY_MS;
/** Long enough for a link sent before the weekend. */
export const SETUP_LINK_LIFETIME_MS = 3 * DAY_MS;
/** Failed sign-ins in a window: far above any honest mistake, far below a search. */
export const SIGN_IN_WINDOW_MS = 15 * MINUTE_MS;
export const SIGN_INS_PER_EMAIL_AND_ADDRESS = 8;
export const SIGN_INS_PER_ADDRESS = 40;
/** Against guesses from many addresses at one email. */
export const SIGN_INS_PER_EMAIL = 200;
/** Names that each of these budgets remembers, 50 MB in all; more than passwords can be checked in a window. */
export const MAX_SIGN_IN_NAMES = 50_000;
/** NIST SP 800-63B asks for 8 and longer rather than stranger; 12 resists an offline search of Argon2id. */
export const MIN_PASSWORD_CHARS = 12;
/** Hashing is cheap in the length, but a body full of password is no password. */
export const MAX_PASSWORD_CHARS = 256;
