import type { StatusReport } from "../../app/operations/status.ts";
import { isoTime } from "../../core/time.ts";

const escaped = (text: string) =>
  text
    // XML 1.0 has no way to write these.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The operator's notices as an Atom feed (RFC 4287); one that is resolved is a changed entry. */
export function statusFeed({ notices, updatedAt }: StatusReport, baseUrl: string): string {
  const page = escaped(`${baseUrl}/status`);
  const entries = notices.map(({ id, title, message, postedAt, resolvedAt }) => {
    const text = resolvedAt === null ? message : `${message}\n\nResolved at ${isoTime(resolvedAt)}.`;
    return `<entry><id>${page}#${escaped(id)}</id><title>${escaped(resolvedAt === null ? title : `Resolved: ${title}`)}</title><published>${isoTime(postedAt)}</published><updated>${isoTime(resolvedAt ?? postedAt)}</updated><link href="${page}#${escaped(id)}"/><content type="text">${escaped(text)}</content></entry>`;
  });
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${page}</id><title>Status of ${escaped(new URL(baseUrl).host)}</title><updated>${updatedAt}</updated><author><name>${escaped(new URL(baseUrl).host)}</name></author><link rel="self" href="${escaped(`${baseUrl}/status.atom`)}"/><link href="${page}"/>
${entries.join("\n")}
</feed>
`;
}
