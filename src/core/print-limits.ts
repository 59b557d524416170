/** The bounds of print files, which are written while they are read. */

/**
 * So many at a time: each holds a page's pictures, up to nine, for as long as its reader takes, and the
 * processors make two pictures at a time for all of them anyway.
 */
export const MAX_PRINT_FILES = 8;
/** Of those an account's, so that others get theirs. */
export const MAX_ACCOUNT_PRINT_FILES = 3;
/** A deck takes seconds to minutes: to ask sooner is no use. */
export const PRINT_RETRY_SECONDS = 15;
