import { HOUR_MS, SECOND_MS } from "./time.ts";

/** The bounds of squad lists, which people upload in the console; each with its unit and its reason. */

const MB = 1024 * 1024;

/** A squad list: a thousand rows of long URLs as CSV, or a spreadsheet with a club's logo in it. */
export const MAX_LIST_BYTES = 4 * MB;
/** What is read of an unpacked workbook: a thousand players take a few megabytes, a zip bomb gigabytes. */
export const MAX_LIST_UNPACKED_BYTES = 32 * MB;
/** Files in a workbook: each sheet, picture and comment is one or two. */
export const MAX_WORKBOOK_FILES = 2_000;
/** Rows of a list with the empty ones: spreadsheets export some thousand of those below the last player. */
export const MAX_LIST_LINES = 20_000;
/**
 * The last column that may have something in it, empty ones counted: a reader of sheets makes all cells
 * before it.
 */
export const MAX_LIST_COLUMN = 500;
/**
 * A squad list is parsed in a process of its own, which needs 0.2 GB and under a second for a thousand
 * players: a file that needs more was built to. It is ended at either.
 */
export const LIST_READER_MEMORY_BYTES = 512 * MB;
export const LIST_READER_CPU_SECONDS = 6;
/** How often its memory is looked at: it can fill 0.1 GB in between. */
export const LIST_READER_LOOK_MS = 50;
/** In all, on a machine that has little time for it; people wait in front of the page. */
export const LIST_READER_TIMEOUT_MS = 20 * SECOND_MS;
/** Lists parsed at once, one for each account, and how many wait: people upload one now and then. */
export const MAX_LIST_READERS = 2;
export const MAX_WAITING_LISTS = 8;
/** Columns of a list: exports of club software have a few dozen. */
export const MAX_LIST_COLUMNS = 100;
/** One cell: a presigned URL; nothing in a squad list is longer. */
export const MAX_LIST_CELL_CHARS = 4096;
/** How long an uploaded list waits for its cards to be ordered: a meeting, or a lunch. */
export const LIST_KEPT_MS = 4 * HOUR_MS;
/** Lists waiting at a time, of everybody; 20 MB together at a usual 200 KB, 800 MB at worst. */
export const MAX_LISTS_KEPT = 100;
/** Of them, lists of one account: five people with all of theirs, and four other accounts as many. */
export const MAX_LISTS_PER_ACCOUNT = 20;
/** Lists of one person waiting at a time: first team, women, two of the youth. Their ids end with a digit. */
export const MAX_LISTS_PER_PERSON = 4;
/** Photos sent along with a list: one for each player, and half as many that belong to nobody. */
export const MAX_LIST_PHOTOS = 1_500;
/** The path of a photo in its folder; what matters of it stands at the end. */
export const MAX_PHOTO_PATH_CHARS = 300;
/** Cards previewed before a batch is paid for, kept as long as their list: about 15 KB each, the large 60. */
export const MAX_LIST_PREVIEWS_KEPT = 2_000;
/** The longest list of which all previews are drawn unasked: the teams of a small club. */
export const MAX_AUTO_PREVIEWS = 60;
/** Small previews of an account a day: a squad of 500 four times over. */
export const MAX_LIST_PREVIEWS_PER_DAY = 2_000;
