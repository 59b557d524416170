import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./time.ts";

/**
 * Every bound of the service, each with its unit and its reason, but those of signing in (sign-in-limits.ts),
 * of squad lists (list-limits.ts) and of calls to other machines (outbound-limits.ts).
 */

const KB = 1024;
const MB = 1024 * KB;
const GB = 1024 * MB;

/** A create body is under 10 KB in practice; 64 KB leaves room and keeps parsing cheap. */
export const MAX_BODY_BYTES = 64 * KB;

/** Levels of a body of JSON: a batch's card's list's item's field is at the seventh. */
export const MAX_JSON_DEPTH = 32;
/**
 * Values in it: a thousand cards with all the fields that a template may have. As many take 0.2 s to parse.
 */
export const MAX_JSON_VALUES = 150_000;

/**
 * Time for a whole body to arrive: far less than a trickle could take, and shorter than the server's idle
 * time-out.
 */
export const BODY_TIMEOUT_MS = 20 * SECOND_MS;
/**
 * Time a request may wait for database and bucket with all it asks of them together. One query may take as
 * long, but those of a create one after another, each at its limit, would outlast most clients.
 */
export const REQUEST_STORAGE_MS = 10 * SECOND_MS;
export const DATABASE_CONNECTIONS = 20;
/** The largest photo as base64, with a margin: a caller who sends that by mistake still gets the refusal. */
export const MAX_DISCARDED_BODY_BYTES = 24 * MB;
/** Pieces of a kilobyte and more are usual; each of these costs as much as a small request. */
export const MAX_DISCARDED_PIECES = 24 * KB;
/**
 * Time to drain the rest of a refused body, and to wait for its next bytes: a client that sends none is
 * answered promptly.
 */
export const DISCARD_TIMEOUT_MS = 10 * SECOND_MS;
export const DISCARD_IDLE_MS = SECOND_MS / 2;
/**
 * That wait is counted in so many turns of this process: a stall of its own is one, and not the client's
 * silence.
 */
export const DISCARD_IDLE_TURNS = 5;

/**
 * A refusal is echoed, logged and stored, and may quote a stranger: more broken fields than this help nobody.
 */
export const MAX_REFUSAL_DETAILS = 100;
/** The name of a broken field, and what is said about it: the longest of our own are half as long. */
export const MAX_DETAIL_FIELD_CHARS = 200;
export const MAX_REFUSAL_CHARS = 1_000;
/** A line of the log: a stack of errors takes 4,000. A longer line is written with each of its texts cut. */
export const MAX_LOG_LINE_CHARS = 16_000;
export const MAX_LONG_LINE_TEXT_CHARS = 2_000;
/** Parts of a form with a file: the largest is the playground's, with all the fields a template may have. */
export const MAX_FORM_PARTS = 200;

/** Promised to partners: at least 48 hours; 72 covers a weekend of retries. */
export const IDEMPOTENCY_RETENTION_MS = 72 * HOUR_MS;
export const MAX_IDEMPOTENCY_KEY_CHARS = 255;

/** Longer names would push the rest of a table row out of sight. */
export const MAX_ACCOUNT_NAME_CHARS = 120;
export const MAX_KEY_NAME_CHARS = 80;
/** Active keys per account: one for each of many servers, yet few enough to review. */
export const MAX_KEYS = 100;
/** Per account: the whole team of a large company. */
export const MAX_MEMBERS = 200;
/**
 * Test events, redeliveries and address checks an account may trigger per minute: faster than anybody reads
 * the results.
 */
export const MANUAL_SENDS_PER_MINUTE = 30;

/**
 * Per grant or plan: more than anybody intends to give, and sums of millions of them remain exact integers.
 */
export const MAX_CREDITS = 1_000_000_000;

/** A photo from a good camera is 5 to 12 MB as JPEG. */
export const MAX_SOURCE_BYTES = 15 * MB;
/** 40 megapixels are 160 MB of decoded RGBA, as much as one render worker can hold. */
export const MAX_SOURCE_PIXELS = 40_000_000;
/**
 * What a network may be asked to look at: IS-Net and BiRefNet, which operators may bring, see 1024 x 1024
 * pixels, and sides of other proportions are rounded up.
 */
export const MAX_NETWORK_PICTURE_PIXELS = 1100 * 1100;
/** An operator's matte network: protocol buffers, of which ONNX files consist, end at 2 GB. */
export const MAX_MATTE_MODEL_BYTES = 2 * 1024 ** 3 - 1;
/** Below this a face has too few pixels for even the smallest card. */
export const MIN_SOURCE_SIDE_PX = 200;
/** Badges are drawn at up to 400 px; a file over 5 MB is a mistake. */
export const MAX_BADGE_BYTES = 5 * MB;
/** 2,000 x 2,000: five times the size ever drawn, decoded in about 50 ms. */
export const MAX_BADGE_PIXELS = 4_000_000;
export const MIN_BADGE_SIDE_PX = 16;

/** Ten years, in days: longer than anybody keeps cards, and well within the range of a date. */
export const MAX_RETENTION_DAYS = 3_650;
/**
 * Alerts of one budget, and the highest in percent of it: more are noise, and beyond ten times it a mistake.
 */
export const MAX_USAGE_ALERTS = 10;
export const MAX_USAGE_ALERT_PERCENT = 1_000;

/** Sets of an account and environment: ten years of a club with one for each of its teams. */
export const MAX_SETS = 500;
/** Players of a checklist: as many as a batch has cards, and more than any club has. */
export const MAX_SET_PLAYERS = 1_000;
/** Larger sets of cards have a dozen parallels. */
export const MAX_PARALLELS = 20;
export const MAX_PARALLEL_NAME_CHARS = 40;
export const MAX_SEASON_CHARS = 40;
/** Finding the lowest free number looks at all that are given: 10,000 take a few milliseconds. */
export const MAX_PARALLEL_SIZE = 10_000;
/** Cards that one draw puts into packs: as many packs of five as a small club sells in a season. */
export const MAX_PACK_CARDS = 20_000;
/** Cards of a pack. */
export const MAX_PACK_SIZE = 50;
/** Cards that packs are drawn from: to shuffle as many takes a tenth of a second. */
export const MAX_PACK_POOL = 100_000;
export const MAX_SEED_CHARS = 200;
/** A checklist of 1,000 players with long names, of which each letter may take six bytes of JSON. */
export const MAX_SET_BODY_BYTES = 2 * MB;

export const DEFAULT_LIST_LIMIT = 20;
export const MAX_LIST_LIMIT = 100;
/**
 * Images that one page of a list with several filters looks at, about 10 ms: it may be short, and the next
 * goes on.
 */
export const MAX_LIST_EXAMINED = 2_000;
/** The same of requests in the log, of which those that somebody looks for are mostly few: about 20 ms. */
export const MAX_LOG_EXAMINED = 5_000;
/**
 * Characters of a metadata key by which images can be listed: with its value it fits an index entry of
 * PostgreSQL.
 */
export const MAX_METADATA_FILTER_KEY_CHARS = 100;

/** How often each node says that it lives, where several serve from one database. */
export const NODE_BEAT_MS = 5 * SECOND_MS;
/** A node that is silent this long has ended: three beats, as one may be late and one lost. */
export const NODE_SILENCE_MS = 15 * SECOND_MS;

/** Time limit of one side's render, from the photo's bytes to the picture: time on a processor. */
export const RENDER_TIMEOUT_MS = 45 * SECOND_MS;
/** The same by the clock: on a third of a processor, nobody waits for a card any longer. */
export const MOST_RENDER_MS = 3 * RENDER_TIMEOUT_MS;
/** Longer than both sides of a card can take, so that only the lease of a dead worker expires. */
export const LEASE_MS = 2 * MOST_RENDER_MS + 45 * SECOND_MS;
/**
 * In the queue that machines share, a worker that has given no sign for this long is dead. Longer than a
 * database is likely to stand still, since a render taken from a living worker is made twice.
 */
export const JOB_HEARTBEAT_MS = 30 * SECOND_MS;
export const JOB_TOUCH_MS = 5 * SECOND_MS;
/**
 * How often dead workers are looked for. That costs about 2 s of the database with 100,000 images waiting;
 * servers that ended are noticed sooner, by their beat.
 */
export const JOB_SUPERVISION_MS = 15 * SECOND_MS;
/**
 * Pauses before the renders after a fault. A photo that breaks the renderer breaks it each time, whatever the
 * pause; but a machine short of memory, or somebody who kills browsers, hits the same card several times
 * within seconds, and is often over in half a minute.
 */
export const RENDER_RETRY_PAUSES_MS = [500, 2 * SECOND_MS, 8 * SECOND_MS, 30 * SECOND_MS];
/** After so many renders, all of which ended in a fault, an image has failed. */
export const MAX_RENDERS = 1 + RENDER_RETRY_PAUSES_MS.length;
/**
 * Free space that must remain for creates to be accepted, unless configured otherwise: about 150 of the
 * largest pictures.
 */
export const MIN_FREE_DISK_BYTES = 256 * MB;
/** Pause before retrying when the disk is full: an operator needs minutes to make room. */
export const STORAGE_RETRY_MS = 15 * SECOND_MS;
/** The longest wait for another attempt; a later time was written by a clock that has since been set back. */
export const MAX_RETRY_PAUSE_MS = MINUTE_MS;
/** Pause before retrying to record a finished render when the database refused the write. */
export const FINISH_RETRY_MS = SECOND_MS;
/**
 * A create is refused when the work ahead of it, in fair order between accounts, would take longer than this.
 */
export const MAX_QUEUE_WAIT_MS = 2 * MINUTE_MS;
/** Waiting images of all accounts: reached only if some eighty accounts fill their own share at once. */
export const MAX_QUEUE_WORK_MS = 10 * MINUTE_MS;
/** Test images take milliseconds, slow ones ten seconds: this many finish within three minutes at worst. */
export const MAX_WAITING_TEST_IMAGES = 1_000;
/** Used for estimates until this process has rendered something itself. */
export const TYPICAL_RENDER_MS = 1_500;

/** Templates a browser keeps open as warm pages: each costs 40 MB, and reopens in 0.2 s. */
export const MAX_WARM_PAGES = 4;
/** A complete Chinese font family is about 10 MB; larger template files were never subset or compressed. */
export const MAX_TEMPLATE_FILE_BYTES = 20 * 1024 * 1024;
/** Each worker holds the template's files in memory, and each version takes space in the data folder. */
export const MAX_TEMPLATE_BYTES = 64 * 1024 * 1024;
/** More files than this mean a folder included by mistake, such as node_modules. */
export const MAX_TEMPLATE_FILES = 500;
/** Fields of a template: as many as a form can show, and lists as long as a card can hold. */
export const MAX_TEMPLATE_FIELDS = 40;
export const MAX_TEMPLATE_LIST_ITEMS = 24;
/** Characters in one text field: nobody reads more on a picture. */
export const MAX_TEMPLATE_TEXT_CHARS = 300;
/** The most characters of a code: at most 57 modules a side, which a phone reads off a card in print. */
export const MAX_TEMPLATE_CODE_CHARS = 200;

/** Recycling a browser bounds what a leak can cost. */
export const RENDERS_PER_BROWSER = 100;
/**
 * Each browser's share varies by up to this percentage of the average (80 to 120), so that they are not
 * recycled together.
 */
export const RENDERS_SPREAD = 0.2;
export const BROWSER_LIFETIME_MS = HOUR_MS;

/**
 * A worker with its browser was measured at 0.8 GB with the largest photos; one that holds twice that is
 * leaking, and is replaced.
 */
export const WORKER_MEMORY_BYTES = 1_600 * MB;
/**
 * At this multiple of the limit a worker is killed immediately, even during a render: the machine's other
 * programs come first.
 */
export const WORKER_MEMORY_END = 2;
/** How often memory is checked: a photo takes seconds to fill it, a check takes milliseconds. */
export const MEMORY_LOOK_MS = 2 * SECOND_MS;

/** Clocks are routinely corrected by seconds; a larger step is not a correction. */
export const CLOCK_TOLERANCE_MS = MINUTE_MS;
/**
 * A changed time that lasts this long is accepted: mistakes are noticed by then, and webhooks signed with the
 * old time are retried.
 */
export const CLOCK_HOLD_MS = 15 * MINUTE_MS;
/** Nothing is deleted for this long after an accepted jump: by then somebody has read the alarm. */
export const DELETION_PAUSE_MS = DAY_MS;
/**
 * Servers on one database may be this far from its clock: they are asked to keep within 5 s, and a busy
 * machine measures some seconds wrong.
 */
export const DATABASE_CLOCK_TOLERANCE_MS = 15 * SECOND_MS;
/** If the last recorded change is this far in the past or future at start, the clock may be wrong. */
export const LONG_ABSENCE_MS = 7 * DAY_MS;

/**
 * Database files above this size, in bytes, are rewritten only at night: this much takes half a second, and
 * writes wait.
 */
export const QUICKLY_REWRITTEN_BYTES = 64 * MB;
/**
 * Larger ones are not rewritten: 1.1 GB takes 7 s of processor time, and four times as long on a slow disk,
 * while writes give up after 10 s. This much takes a quarter of it.
 */
export const MAX_REWRITTEN_BYTES = 256 * MB;
/**
 * PostgreSQL is asked to vacuum after deletions this often at most, by all servers together: it reads each
 * index whole.
 */
export const VACUUM_PAUSE_MS = 12 * HOUR_MS;

export const SWEEP_INTERVAL_MS = 30 * SECOND_MS;
/** Polling is the truth and wake-ups are hints: the longest delay a lost hint can cause to a render. */
export const QUEUE_POLL_MS = SECOND_MS;

/** Requests per minute for each account and environment. */
export const RATE_LIMIT_PER_MINUTE = { starter: 120, growth: 600, scale: 6000 } as const;
export const RATE_WINDOW_MS = MINUTE_MS;
/** Refused keys per minute for each client address: far above any honest mistake, far below a search. */
export const REFUSED_KEYS_PER_MINUTE = 60;
/** Budgets remembered at a time, for accounts and for client addresses. */
export const MAX_BUDGETS = 100_000;
/** Client addresses whose network is cached, under 1 MB; the cache is cleared when it is full. */
export const MAX_KNOWN_NETWORKS = 5_000;
/** API keys whose rows are cached between commits, about 10 MB; more partners than call within a second. */
export const MAX_KNOWN_KEYS = 10_000;

/**
 * Bytes of photos and badges an account may have fetched per UTC day: 5,000 typical photos of 4 MB for the
 * smallest plan, many times its credits. Bounds what one account can do to the disk and the network.
 */
export const SOURCE_BYTES_PER_DAY = { starter: 20 * GB, growth: 100 * GB, scale: 500 * GB } as const;
/**
 * Photos of failed images, which cost no credit, are kept for inspection; beyond this an account's are
 * deleted immediately.
 */
export const FAILED_SOURCE_BYTES_PER_DAY = GB;
/**
 * Pictures drawn for an account's test images in sizes that are not cached: 350 of the largest, thousands of
 * usual ones.
 */
export const PLACEHOLDER_BYTES_PER_DAY = GB;
/**
 * Of them, pictures of the built-in card with the data that was sent; beyond it, its own silhouettes, each
 * drawn once for all.
 */
export const OWN_PLACEHOLDER_BYTES_PER_DAY = 100 * MB;
/**
 * A test image is promised within a second: a picture of its own that is not drawn by then is not waited for.
 */
export const OWN_PLACEHOLDER_WAIT_MS = 700;
/** Sizes of test pictures whose file is shared by later images. */
export const MAX_SHARED_PLACEHOLDERS = 64;

/** Two years: people ask who did what after one season ends and before the next but one. */
export const ACTIVITY_RETENTION_MS = 730 * DAY_MS;

/** Much longer than any create lasts, so that only the hold of a dead process on its photo expires. */
export const SOURCE_HOLD_MS = 10 * MINUTE_MS;
/**
 * Longer than a bucket is tried to remove a photo; after it creates with the same photo no longer wait for a
 * dead process.
 */
export const SOURCE_LEAVING_MS = 40 * SECOND_MS;
/** A source not used for this long is fetched again when needed. */
export const SOURCE_RETENTION_MS = 7 * DAY_MS;

/** How long an upload is kept: a squad is prepared within days. */
export const UPLOAD_LIFETIME_MS = 7 * DAY_MS;
/** A brand kit's badge, until the kit is deleted: longer than any season. */
export const KIT_BADGE_LIFETIME_MS = 3_650 * DAY_MS;
/** Brand kits of an account: a club has a handful of teams and sponsors. */
export const MAX_BRAND_KITS = 50;
/** Uploads per account at a time: ten squads of 500. */
export const MAX_UPLOADED_PHOTOS = 5_000;
/** Uploaded bytes per account at a time: 500 large photos for the smallest plan. */
export const MAX_UPLOADED_BYTES = { starter: 4 * GB, growth: 20 * GB, scale: 100 * GB } as const;
/** The largest photo plus its multipart framing. */
export const MAX_UPLOAD_BODY_BYTES = MAX_SOURCE_BYTES + 64 * KB;
/** Time for a whole photo to arrive: 15 MB over 2 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = MINUTE_MS;
/** Photos being received at once; each is held whole, and briefly twice. */
export const MAX_UPLOADS = 16;
export const MAX_UPLOADS_PER_ACCOUNT = 4;

/** Cards per batch: a club's whole academy, in a body that parses in about 20 ms. */
export const MAX_BATCH_CARDS = 1_000;
/** 1,000 cards with presigned URLs of 2,000 characters. */
export const MAX_BATCH_BODY_BYTES = 4 * MB;
/** Unfinished cards in all batches of one account: twenty full batches, some hours of rendering. */
export const MAX_OPEN_BATCH_CARDS = 20_000;
/** How long a record of sent mail is kept. */
export const MAIL_RETENTION_MS = 30 * DAY_MS;
/**
 * Greylisting servers need minutes, broken ones hours; after the last pause, two days in, a mail is given up.
 */
export const MAIL_RETRY_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  15 * HOUR_MS,
  24 * HOUR_MS,
] as const;
/** Covers connection, greeting and the whole mail: servers that scan take some seconds. */
export const MAIL_TIMEOUT_MS = 30 * SECOND_MS;
/** Longer than an attempt takes, so that only what a dead process was sending is sent by another one. */
export const MAIL_LEASE_MS = 5 * MINUTE_MS;
/** How often due mails are looked for; new notices are looked for half as often. */
export const MAIL_POLL_MS = 15 * SECOND_MS;
/** An endpoint that fails this long is worth a mail: shorter faults repair themselves. */
export const ENDPOINT_FAILING_MAIL_MS = HOUR_MS;
/**
 * The UTC hour of the next day from which the daily digest is written: it is there when people start work.
 */
export const DIGEST_HOUR = 5;

/** How far back the request log reaches. */
export const REQUEST_LOG_RETENTION_MS = 30 * DAY_MS;
/** Successful reads and 429s of one account logged per minute; beyond that they only repeat each other. */
export const LOGGED_READS_PER_MINUTE = 60;
/**
 * Players of batches that the log of one account finds its requests by, per minute; batches beyond it are
 * logged without. Refused batches cost nothing, and must not fill the disk.
 */
export const LOGGED_PLAYERS_PER_MINUTE = 5_000;
/** Requests waiting to be written to the log: a second's worth at worst; a row is about a kilobyte. */
export const MAX_BUFFERED_REQUESTS = 5_000;
/** How much of a refused body is logged: a usual create fits whole. */
export const LOGGED_BODY_CHARS = 4_000;

/** How often the service checks whether a backup is due. */
export const BACKUP_POLL_MS = MINUTE_MS;
/** Pause after a failed backup: an operator needs time to make room, or to mount the disk. */
export const BACKUP_RETRY_MS = HOUR_MS;

/** How far ahead a card may wait for its publication, with its picture kept. */
export const MAX_PUBLISH_AHEAD_DAYS = 90;
