/**
 * What is stored beside the database, each kind with its own names: photos and badges as fetched (by their
 * SHA-256), cutouts (by their photo's), finished pictures (by the last part of their address), the
 * placeholders test images share (by what they show), and template files as they were when images were
 * accepted (by their digest).
 */
export const BLOB_KINDS = ["source", "cutout", "picture", "placeholder", "template"] as const;
export type BlobKind = (typeof BLOB_KINDS)[number];

export interface BlobName {
  kind: BlobKind;
  name: string;
}

/**
 * The blob store: a folder on this machine, or a remote bucket. Every method rejects with the store's own
 * error when it cannot be reached.
 */
export interface Blobs {
  /**
   * Stores bytes, or moves a local file into the store. Atomic: once it resolves the blob is complete and
   * survives a power cut; before that, it does not exist.
   */
  put(kind: BlobKind, name: string, from: Uint8Array | string | { path: string }): Promise<void>;
  /**
   * Gives a blob a second name, which remains when the first is removed. `linked`: takes no extra space.
   * `absent`: there is no such blob, or it cannot have more names.
   */
  copy(from: BlobName, to: BlobName): Promise<"linked" | "copied" | "absent">;
  /**
   * Marks it as recently used, so that no removal by age touches it. False when it is absent or has another
   * length.
   */
  refresh(kind: BlobKind, name: string, bytes: number): Promise<boolean>;
  /** Its length in bytes; null when it is absent. */
  stat(kind: BlobKind, name: string): Promise<{ bytes: number } | null>;
  /** Its bytes, read lazily; null when it is absent. */
  open(kind: BlobKind, name: string): Promise<Blob | null>;
  /** Answers a request for it, or for the range the request asks for; null when it is absent. */
  serve(kind: BlobKind, name: string, request: Request, headers: HeadersInit): Promise<Response | null>;
  /**
   * The path of a local file with its bytes, for programs that read files; nothing is at the path when it is
   * absent.
   */
  local(kind: BlobKind, name: string): Promise<string>;
  /**
   * Removes it; with `unlessYoungerThan` (epoch ms) only when it has not been used since. True if something
   * was removed.
   */
  remove(kind: BlobKind, name: string, options?: { unlessYoungerThan?: number }): Promise<boolean>;
  /** Removes all whose names start with `beginning`, at least two characters. */
  removeStartingWith(kind: BlobKind, beginning: string): Promise<void>;
  /** Names of those last put or refreshed at `until` (epoch ms) or before. */
  list(kind: BlobKind, until: number): AsyncIterable<string>;
  /**
   * Removes the leftovers of unfinished puts that began at `until` (epoch ms) or before, and what this
   * machine holds of blobs that another one has removed. Returns how many.
   */
  tidy(until: number): Promise<number>;
  /** Whether a put would succeed now. */
  isWritable(): Promise<boolean>;
}
