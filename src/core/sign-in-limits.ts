import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time.ts";

// Limits of signing in to the console.

/** A session idle for a working day ends; everyone signs in again after a week. */
export const SESSION_IDLE_MS = 8 * HOUR_MS;
export const SESSION_LIFETIME_MS = 7 * DAY_MS;
/**
 * Groups are looked at when somebody signs in: a user who lost theirs at the provider is out within a working
 * day, while nobody signs in twice in one.
 */
export const PROVIDER_SESSION_LIFETIME_MS = 12 * HOUR_MS;
/** How long somebody may take at the provider: for a second factor, or a forgotten password there. */
export const PROVIDER_VISIT_MS = 15 * MINUTE_MS;
/** How long a call to the provider may take: people wait for it. */
export const PROVIDER_TIMEOUT_MS = 10_000;
/** Discovery and keys have some kilobytes; tokens of somebody in thousands of groups some hundred. */
export const MAX_PROVIDER_BYTES = 1024 * 1024;
/** By how much the clocks of this service and the provider may differ. */
export const PROVIDER_CLOCK_TOLERANCE_S = 60;
/** OpenID Connect Core allows no longer one. */
export const MAX_SUBJECT_CHARS = 255;
/** Long enough for a link sent before the weekend. */
export const SETUP_LINK_LIFETIME_MS = 3 * DAY_MS;
/** Anybody can have this link sent to somebody's mailbox, so it only lives as long as it takes to read it. */
export const RESET_LINK_LIFETIME_MS = HOUR_MS;
/** Password reset requests per hour: enough for mails that went astray, too few to fill a mailbox. */
export const RESETS_PER_EMAIL = 3;
export const RESETS_PER_ADDRESS = 20;
/**
 * Requests of 15 seconds, until the mail loop has looked at them. Each holds an email; more come of nobody
 * but a flood.
 */
export const MAX_WAITING_RESETS = 1_000;
/** Failed sign-ins in a window: far above any honest mistake, far below a search. */
export const SIGN_IN_WINDOW_MS = 15 * MINUTE_MS;
export const SIGN_INS_PER_EMAIL_AND_ADDRESS = 8;
export const SIGN_INS_PER_ADDRESS = 40;
/** Against guesses at one email from many addresses. */
export const SIGN_INS_PER_EMAIL = 200;
/**
 * Names each of these budgets remembers, 50 MB in all; more than passwords can be checked within a window.
 */
export const MAX_SIGN_IN_NAMES = 50_000;
/**
 * NIST SP 800-63B recommends length over complexity, with at least 8; 12 resists an offline search of
 * Argon2id.
 */
export const MIN_PASSWORD_CHARS = 12;
/** Hashing cost hardly depends on length, but a whole body is no password. */
export const MAX_PASSWORD_CHARS = 256;
/**
 * Passwords waiting to be hashed or checked: two to three seconds of one thread, longer than anybody waits.
 */
export const MAX_WAITING_PASSWORDS = 64;
