/** Whether an If-None-Match header names this version, strongly or weakly, or any: RFC 9110, 13.1.2. */
export function namesVersion(header: string, etag: string): boolean {
  return header.split(",").some((tag) => ["*", etag].includes(tag.trim().replace(/^W\//, "")));
}
