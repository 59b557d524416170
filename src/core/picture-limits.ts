// How large pictures are, and how finished ones are handed out: how wide, and to creates that wait for them.

/** Bounds of a picture's width and height. */
export const PICTURE_SIDE_PX = { minimum: 512, maximum: 2048 } as const;

/** Widths in pixels in which finished pictures are served besides their own. */
export const PICTURE_WIDTHS = [256, 512, 1024] as const;
/** How many pictures are made smaller at a time, about 50 ms of a core each: the rest is for renders. */
export const SHRINKS_AT_ONCE = 2;
export const MAX_SHRINKS_WAITING = 100;
/** What is kept of smaller pictures, a few hundred of them, and for how long. */
export const SMALLER_PICTURES_BYTES = 64 * 1024 ** 2;
export const SMALLER_PICTURES_KEPT_MS = 10 * 60_000;

/**
 * Seconds for which a create may wait for its image: most cards are ready by then, and proxies wait longer.
 */
export const MAX_PREFERRED_WAIT_S = 20;
/** Creates that wait at a time, each with a connection: the others are answered at once. */
export const MAX_WAITING_CREATES = 500;
export const MAX_WAITING_PER_ACCOUNT = 100;
/** How often a waiting create looks whether another server has ended its image. */
export const OTHER_NODES_POLL_MS = 1_000;

/** Picture fields of a template: each is one more file to fetch for every card. */
export const MAX_TEMPLATE_PICTURES = 4;

/**
 * Requests that wait for a sample card to be drawn, twenty times what a page of all templates asks for:
 * anybody may ask, and one sample is drawn at a time.
 */
export const MAX_WAITING_SAMPLES = 200;
/** How long the picture of a test card, which shows what was sent, is kept for others that look alike. */
export const SHARED_PLACEHOLDER_LIFETIME_MS = 24 * 3_600_000;
