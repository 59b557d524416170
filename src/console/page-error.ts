/** A refusal that is shown as a page; its message tells the reader what to do. */
export class PageError extends Error {
  constructor(
    readonly status: 403 | 404 | 405 | 415,
    message: string,
  ) {
    super(message);
    this.name = "PageError";
  }
}

/** The same answer for what is not there and for what is not yours. */
export function notFound(): PageError {
  return new PageError(404, "There is no such page here, or it belongs to another account.");
}
