import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./time.ts";

/** Every bound of the service in one place, each with its unit and its reason. */

const KB = 1024;
const MB = 1024 * KB;
const GB = 1024 * MB;

/** A create body is under 10 KB in practice; 64 KB leaves room and keeps parsing cheap. */
export const MAX_BODY_BYTES = 64 * KB;

/** For a body to arrive whole: minutes less than a trickle could take, and before the server's idle time-out. */
export const BODY_TIMEOUT_MS = 20 * SECOND_MS;
/** The largest photo as base64, with room: whoever sends that by mistake still gets to read the refusal. */
export const MAX_DISCARDED_BODY_BYTES = 24 * MB;
/** Pieces of a kilobyte and more are usual; each of these costs as much as a small request. */
export const MAX_DISCARDED_PIECES = 24 * KB;
/** For the rest of a refused body; and for its next bytes, so that who sends none is answered at once. */
export const DISCARD_TIMEOUT_MS = 10 * SECOND_MS;
export const DISCARD_IDLE_MS = SECOND_MS / 2;

/** Promised to partners: at least 48 hours; 72 covers a weekend of retries. */
export const IDEMPOTENCY_RETENTION_MS = 72 * HOUR_MS;
export const MAX_IDEMPOTENCY_KEY_CHARS = 255;

/** Longer ones would push the rest of a table's line out of sight. */
export const MAX_ACCOUNT_NAME_CHARS = 120;
export const MAX_KEY_NAME_CHARS = 80;
/** Of one account, in force at the same time: one for each of many servers, and few enough to look through. */
export const MAX_KEYS = 100;
/** Of one account: a large company's whole team. */
export const MAX_MEMBERS = 200;
/** Test events, deliveries sent again and addresses looked up at an account's click, in a minute: quicker than anybody reads what came of them. */
export const MANUAL_SENDS_PER_MINUTE = 30;

/** Of one grant or plan: more than anybody means to give, and balances of millions of them stay exact integers. */
export const MAX_CREDITS = 1_000_000_000;

/** A photo from a good camera is 5 to 12 MB as JPEG. */
export const MAX_SOURCE_BYTES = 15 * MB;
/** Decoded RGBA of 40 megapixels is 160 MB, what one render worker can hold. */
export const MAX_SOURCE_PIXELS = 40_000_000;
/**
 * What a network may be asked to look at: IS-Net and BiRefNet, which operators may bring, see 1024 x 1024 pixels, and sides of
 * other proportions are rounded up.
 */
export const MAX_NETWORK_PICTURE_PIXELS = 1100 * 1100;
/** An operator's matte network: protocol buffers, of which ONNX files consist, end at 2 GB. */
export const MAX_MATTE_MODEL_BYTES = 2 * 1024 ** 3 - 1;
/** Below this a face has too few pixels for even the smallest card. */
export const MIN_SOURCE_SIDE_PX = 200;
/** A badge is shown at 400 px at most; anything over 5 MB is a mistake. */
export const MAX_BADGE_BYTES = 5 * MB;
/** 2,000 x 2,000: five times what is ever shown of it, and decoded in some 50 ms. */
export const MAX_BADGE_PIXELS = 4_000_000;
export const MIN_BADGE_SIDE_PX = 16;
export const MAX_SOURCE_REDIRECTS = 3;
/** For waiting, name look-up, connection, redirects and body together. */
export const SOURCE_TIMEOUT_MS = 10 * SECOND_MS;
/** A real progressive photo has about 10 scans; thousands, each over all pixels, would keep a decoder busy for minutes. */
export const MAX_JPEG_SCANS = 100;
/** A badge has no use for more than the usual 10. */
export const MAX_BADGE_SCANS = 20;
/** Scans times pixels is a decoder's work: 15 scans of the largest photo, a few seconds; 100 of them took 40. */
export const MAX_JPEG_SCAN_PIXELS = 15 * MAX_SOURCE_PIXELS;

/** Photos and badges being fetched at once. Each holds its whole file: 16 of the largest were measured at 0.7 GB. */
export const MAX_SOURCE_FETCHES = 16;
/** Of one account: typical photos take 80 ms, so four places bring 50 a second, many times what is rendered. */
export const MAX_SOURCE_FETCHES_PER_ACCOUNT = 4;
/** Places that only accounts without a fetch under way may take, so that a few slow accounts never hold all. */
export const SOURCE_FETCHES_KEPT_FREE = 4;
/** A fetch that takes longer lowers its account to one prompt fetch at once; each that is quicker gives one back. */
export const PROMPT_FETCH_MS = 2 * SECOND_MS;
/** Fetches of one account that wait for a place: a burst of 32 with badges goes through, a flood is told to slow down. */
export const MAX_WAITING_FETCHES_PER_ACCOUNT = 64;
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

/** File descriptors that must be free for a refused connection to be the other side's refusal. */
export const MIN_FREE_DESCRIPTORS = 8;
/** The pause after a lack of descriptors or ports on our side, before what it hindered is tried again. */
export const EXHAUSTED_RETRY_MS = 15 * SECOND_MS;

/** Photos and webhooks: room for presigned addresses with session tokens, which reach 2,000. */
export const MAX_OUTBOUND_URL_CHARS = 4096;
/** For one name, all tries together: half of what a photo has, so that there is time for another reason to show. */
export const LOOKUP_TIMEOUT_MS = 5 * SECOND_MS;
/** One question to one name server. A recursive server answers within a second or two or gives up itself. */
export const LOOKUP_TRY_MS = 1_500;
export const LOOKUP_TRIES = 3;
/** Once a name's IPv4 or IPv6 addresses are there the others get this long: some name servers drop such questions. */
export const LOOKUP_OTHER_FAMILY_MS = 500;
/** Look-ups under way for one account's photos, or one webhook endpoint; each is a socket. Most take milliseconds. */
export const MAX_LOOKUPS_PER_PARTY = 2;
/** A name that was not found, or whose servers are silent, is not asked for again for so long. */
export const FAILED_LOOKUP_KEPT_MS = 30 * SECOND_MS;
/** More than all accounts can make fail in that time, two at once and five seconds each; a quick NXDOMAIN costs little. */
export const MAX_FAILED_LOOKUPS_KEPT = 1_000;
/** Pieces of an answer that may be tiny before their average counts: headers of slow links, and files of a few bytes. */
export const MAX_TINY_PIECES = 1_000;
/** The average piece of an answer. A TCP segment carries 500 bytes and more; every piece costs a turn of the event loop. */
export const MIN_PIECE_BYTES = 64;
/** 1xx answers before the real one. Servers send one; an endless row of them would only cost memory. */
export const MAX_INTERIM_RESPONSES = 8;

/** Ten years, in days: longer than anybody keeps cards, and far from what a date can hold. */
export const MAX_RETENTION_DAYS = 3_650;

export const DEFAULT_LIST_LIMIT = 20;
export const MAX_LIST_LIMIT = 100;

/** Longer than any render may take, so that only a dead worker's lease expires. */
export const LEASE_MS = 90 * SECOND_MS;
/** One render, from the photo's bytes to the finished picture. */
export const RENDER_TIMEOUT_MS = 45 * SECOND_MS;
/** A photo that breaks the renderer three times will break it a fourth time. */
export const MAX_RENDERS = 3;
/** Free space that creates leave, unless the operator says otherwise: about 150 of the largest pictures. */
export const MIN_FREE_DISK_BYTES = 256 * MB;
/** The pause before another attempt when the disk would not take the picture: an operator needs minutes to make room. */
export const STORAGE_RETRY_MS = 15 * SECOND_MS;
/** No image waits longer for another attempt: what says otherwise was written by a clock that has been set back since. */
export const MAX_RETRY_PAUSE_MS = MINUTE_MS;
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

/** Templates that a browser keeps a page open of: each costs 40 MB, and is opened again in 0.2 s. */
export const MAX_WARM_PAGES = 4;
/** A whole family of Chinese has about 10 MB; larger files of a template were never subset or shrunk. */
export const MAX_TEMPLATE_FILE_BYTES = 20 * 1024 * 1024;
/** Each worker holds a template's files in memory, and each version of them takes room in the data folder. */
export const MAX_TEMPLATE_BYTES = 64 * 1024 * 1024;
/** More files than this are a folder put there by mistake, such as node_modules. */
export const MAX_TEMPLATE_FILES = 500;
/** A template's own fields: as many as a form can show, and lists as long as a card can. */
export const MAX_TEMPLATE_FIELDS = 40;
export const MAX_TEMPLATE_LIST_ITEMS = 24;
/** Characters of one text field: nobody reads more on a picture. */
export const MAX_TEMPLATE_TEXT_CHARS = 300;

/** Recycling a browser bounds what a leak can cost. */
export const RENDERS_PER_BROWSER = 100;
/** A browser's share lies up to this part of the average beside it (80 to 120), so that they take turns. */
export const RENDERS_SPREAD = 0.2;
export const BROWSER_LIFETIME_MS = HOUR_MS;

/** A worker with its browser, measured at 0.8 GB with the largest photos; one that holds twice that leaks, and is replaced. */
export const WORKER_MEMORY_BYTES = 1_600 * MB;
/** At this many times the limit it is ended at once, with the render it is at: the machine's other programs come first. */
export const WORKER_MEMORY_END = 2;
/** How often memory is looked at: a photo takes seconds to fill it, and a look takes milliseconds. */
export const MEMORY_LOOK_MS = 2 * SECOND_MS;

/** SIGTERM to exit: what orchestrators grant before SIGKILL. */
export const DRAIN_TIMEOUT_MS = 25 * SECOND_MS;

/** Clocks are corrected by seconds all the time; further than this is no correction. */
export const CLOCK_TOLERANCE_MS = MINUTE_MS;
/** A time that stays for so long is believed: mistakes are found by then, and webhooks signed in the old time are retried. */
export const CLOCK_HOLD_MS = 15 * MINUTE_MS;
/** After a jump that was believed nothing is deleted for so long: somebody has read the alarm by then. */
export const DELETION_PAUSE_MS = DAY_MS;
/** A start that finds the last change this far away, before it or after it, may have been told the wrong time. */
export const LONG_ABSENCE_MS = 7 * DAY_MS;

export const SWEEP_INTERVAL_MS = 30 * SECOND_MS;
/** Polling is the truth, wake-ups are hints: this is how late a lost hint can make a render. */
export const QUEUE_POLL_MS = SECOND_MS;

/** Requests a minute for each account and environment. */
export const RATE_LIMIT_PER_MINUTE = { starter: 120, growth: 600, scale: 6000 } as const;
export const RATE_WINDOW_MS = MINUTE_MS;
/** Refused keys a minute for each client address: far above any honest mistake, far below a search. */
export const REFUSED_KEYS_PER_MINUTE = 60;

/**
 * Bytes of photos and badges an account may have fetched in a UTC day: 5,000 typical photos of 4 MB for the smallest
 * plan, which is many times its credits. Bounds what one account can do to the disk and the line.
 */
export const SOURCE_BYTES_PER_DAY = { starter: 20 * GB, growth: 100 * GB, scale: 500 * GB } as const;
/** Photos of failed images, which cost nothing, are kept to be looked at; beyond this an account's go at once. */
export const FAILED_SOURCE_BYTES_PER_DAY = GB;
/** Pictures drawn for an account's test images in sizes not drawn lately: 350 of the largest, thousands of usual ones. */
export const PLACEHOLDER_BYTES_PER_DAY = GB;
/** Sizes of test pictures whose file is shared by the images to come. */
export const MAX_SHARED_PLACEHOLDERS = 64;

/** Two years: who did what is asked after a season's end, and before the next but one. */
export const AUDIT_RETENTION_MS = 730 * DAY_MS;

/** A source nobody asked for again is fetched anew when it is needed. */
export const SOURCE_RETENTION_MS = 7 * DAY_MS;

/** What a partner sends is there for as long: a squad is prepared within days. */
export const UPLOAD_LIFETIME_MS = 7 * DAY_MS;
/** Of one account at a time: ten squads of 500. */
export const MAX_UPLOADED_PHOTOS = 5_000;
/** Of one account at a time: 500 large photos for the smallest plan. */
export const MAX_UPLOADED_BYTES = { starter: 4 * GB, growth: 20 * GB, scale: 100 * GB } as const;
/** The largest photo, and the lines around it. */
export const MAX_UPLOAD_BODY_BYTES = MAX_SOURCE_BYTES + 64 * KB;
/** For a photo to arrive whole: 15 MB over a line of 2 Mbit/s. */
export const UPLOAD_TIMEOUT_MS = MINUTE_MS;
/** Photos being received at once; each is held whole, twice for a moment. */
export const MAX_UPLOADS = 16;
export const MAX_UPLOADS_PER_ACCOUNT = 4;

/** Cards of one batch: a club's whole academy, in a body that is parsed in some 20 ms. */
export const MAX_BATCH_CARDS = 1_000;
/** 1,000 cards with presigned addresses of 2,000 characters. */
export const MAX_BATCH_BODY_BYTES = 4 * MB;
/** Cards of all batches of one account that are not finished: twenty whole ones, some hours of rendering. */
export const MAX_OPEN_BATCH_CARDS = 20_000;
/** Photos of batches fetched at once, of all accounts and of one; the rest of the places is for single creates. */
export const MAX_BATCH_FETCHES = 8;
export const MAX_BATCH_FETCHES_PER_ACCOUNT = 2;
/** A photo of a batch that could not be had is asked for again after these pauses, if its host may just have been busy. */
export const BATCH_FETCH_PAUSES_MS = [5 * SECOND_MS, 30 * SECOND_MS] as const;

/** A squad list: a thousand rows of long addresses as CSV, or a spreadsheet with a club's logo in it. */
export const MAX_LIST_BYTES = 4 * MB;
/** Of a spreadsheet once unpacked; one of a thousand players has a few megabytes, a bomb gigabytes. */
export const MAX_LIST_UNPACKED_BYTES = 64 * MB;
/** Exports of club software have some dozens. */
export const MAX_LIST_COLUMNS = 100;
/** A presigned address; more is no cell of a squad list. */
export const MAX_LIST_CELL_CHARS = 4096;
/** How long a list that was read waits for its cards to be asked for: a meeting, or a lunch. */
export const LIST_KEPT_MS = 4 * HOUR_MS;
/** Lists waiting at a time, each of one person; at a usual 200 KB together 10 MB, at the largest 400 MB. */
export const MAX_LISTS_KEPT = 50;
/** Cards drawn before a batch is paid for, and kept as long as their list: some 60 KB each. */
export const MAX_LIST_PREVIEWS_KEPT = 300;

/** What was mailed to whom is looked up for so long. */
export const MAIL_RETENTION_MS = 30 * DAY_MS;
/** Greylisting servers want minutes, broken ones hours; after the last of these pauses a mail is given up, in two days. */
export const MAIL_RETRY_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  15 * HOUR_MS,
  24 * HOUR_MS,
] as const;
/** For connection, greeting and the whole mail: servers that scan take some seconds. */
export const MAIL_TIMEOUT_MS = 30 * SECOND_MS;
/** How often mails that are due are looked for, and twice as seldom what there is to write of. */
export const MAIL_POLL_MS = 15 * SECOND_MS;
/** An endpoint that fails for so long is worth a mail: shorter faults are repaired by themselves. */
export const ENDPOINT_FAILING_MAIL_MS = HOUR_MS;
/** The digest of a day is written from this hour of the next on, UTC: it is there when people start to work. */
export const DIGEST_HOUR = 5;

/** How far back the log of requests reaches. */
export const REQUEST_LOG_RETENTION_MS = 30 * DAY_MS;
/** Successful reads and 429s of one account that the log keeps in a minute; beyond it they only repeat each other. */
export const LOGGED_READS_PER_MINUTE = 60;
/** Requests that wait to be written to the log, a second's worth at the worst; a row has about a kilobyte. */
export const MAX_BUFFERED_REQUESTS = 5_000;
/** The beginning of a refused body: a usual create whole. */
export const LOGGED_BODY_CHARS = 4_000;

/** How often the service looks whether a backup is due. */
export const BACKUP_POLL_MS = MINUTE_MS;
/** The pause after a backup that failed: an operator needs time to make room, or to mount the disk. */
export const BACKUP_RETRY_MS = HOUR_MS;

/** A console nobody touches for a working day signs itself out; a week later everyone signs in again. */
export const SESSION_IDLE_MS = 8 * HOUR_MS;
export const SESSION_LIFETIME_MS = 7 * DAY_MS;
/** Long enough for a link sent before the weekend. */
export const SETUP_LINK_LIFETIME_MS = 3 * DAY_MS;
/** A link that anybody can have sent to somebody's mailbox lies there no longer than it takes to read it. */
export const RESET_LINK_LIFETIME_MS = HOUR_MS;
/** Requests for a new password in an hour: enough for mails that went astray, too few to fill a mailbox. */
export const RESETS_PER_EMAIL = 3;
export const RESETS_PER_ADDRESS = 20;
/** Failed sign-ins in a window: far above any honest mistake, far below a search. */
export const SIGN_IN_WINDOW_MS = 15 * MINUTE_MS;
export const SIGN_INS_PER_EMAIL_AND_ADDRESS = 8;
export const SIGN_INS_PER_ADDRESS = 40;
/** Against guesses from many addresses at one email. */
export const SIGN_INS_PER_EMAIL = 200;
/** Names that each of these budgets remembers, 50 MB in all; more than passwords can be checked in a window. */
export const MAX_SIGN_IN_NAMES = 50_000;
/** Budgets remembered at a time, of accounts and of client addresses. */
export const MAX_BUDGETS = 100_000;
/** Client addresses whose network is remembered, under 1 MB; all of them are forgotten when there are more. */
export const MAX_KNOWN_NETWORKS = 5_000;
/** API keys whose rows are remembered between commits, about 10 MB; more partners than call within a second. */
export const MAX_KNOWN_KEYS = 10_000;
/** NIST SP 800-63B asks for 8 and longer rather than stranger; 12 resists an offline search of Argon2id. */
export const MIN_PASSWORD_CHARS = 12;
/** Hashing is cheap in the length, but a body full of password is no password. */
export const MAX_PASSWORD_CHARS = 256;
/** Passwords waiting to be hashed or checked: two to three seconds of one thread, longer than anybody would wait to sign in. */
export const MAX_WAITING_PASSWORDS = 64;
