/** What is written while it is read: archives, print files and tables. */
const isWrittenWhileRead = (headers: Headers) =>
  /^(application\/(zip|pdf)|text\/csv)\b/.test(headers.get("Content-Type") ?? "");

/** The response to HEAD: keeps the headers and sets the length, which would otherwise be reported as 0. */
export async function withoutBody(response: Response): Promise<Response> {
  const { status } = response;
  const headers = new Headers(response.headers);
  // Nobody reads it, so that it is not written, and its length would be known only then.
  if (isWrittenWhileRead(headers)) {
    headers.set("Transfer-Encoding", "chunked");
    // Some writers report that they were interrupted, which is what was asked of them.
    await response.body?.cancel().catch(() => {});
  }
  // Files are not read just to measure them.
  else if (status !== 304) headers.set("Content-Length", String((await response.blob()).size));
  return new Response(null, { status, headers });
}
