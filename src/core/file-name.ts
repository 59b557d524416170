/** What file systems do not take in a name, and what separates folders. */
const NOT_IN_NAMES = /[/\\:*?"<>|\p{Cc}]+/gu;

/**
 * The `Content-Disposition` of a file to keep, under a name that people gave; `plainName` stands in where
 * nothing of it is plain, for clients that read only that.
 */
export function attachment(name: string, plainName: string, extension: string): string {
  const safe = name.toWellFormed().replaceAll(NOT_IN_NAMES, "-");
  const plain =
    safe
      .normalize("NFD")
      .replaceAll(/[^\w -]/g, "")
      .trim() || plainName;
  const whole = encodeURIComponent(safe).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);
  return `attachment; filename="${plain}.${extension}"; filename*=UTF-8''${whole}.${extension}`;
}

/** The `Content-Disposition` of a file whose name is ours, and plain. */
export const plainAttachment = (file: string): string => `attachment; filename="${file}"`;
