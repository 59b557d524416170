/**
 * What is kept beside the database, each kind with names of its own: photos and badges as fetched (by their SHA-256),
 * cutouts (by their photo's), finished pictures (by the last part of their address), the placeholders that test images
 * share (by what they show), and the files of templates as images were accepted with them (by their digest).
 */
export const BLOB_KINDS = ["source", "cutout", "picture", "placeholder", "template"] as const;
export type BlobKind = (typeof BLOB_KINDS)[number];

export interface BlobName {
  kind: BlobKind;
  name: string;
}

/**
 * Where they are kept: a folder of this machine, or whatever else is reached over a network. Every method rejects with
 * the store's own error where it cannot be asked.
 */
export interface Blobs {
  /**
   * Keeps bytes, or a file of this machine, which is gone from its path afterwards. Once it resolves they are there whole
   * and outlive a power cut; before that, not at all.
   */
  put(kind: BlobKind, name: string, from: Uint8Array | string | { path: string }): Promise<void>;
  /**
   * Gives a blob a second name, which stays when the first one goes. `linked`: it takes no room of its own. `absent`: it
   * is not there, or has as many names as it may have.
   */
  copy(from: BlobName, to: BlobName): Promise<"linked" | "copied" | "absent">;
  /** Makes it young, so that nothing that goes by age removes it. False when it is not there, or not that long. */
  refresh(kind: BlobKind, name: string, bytes: number): Promise<boolean>;
  /** How long it is, in bytes; null when it is not there. */
  stat(kind: BlobKind, name: string): Promise<{ bytes: number } | null>;
  /** Its bytes, read as they are asked for; null when it is not there. */
  open(kind: BlobKind, name: string): Promise<Blob | null>;
  /** Answers a request for it, or for the part that the request asks for; null when it is not there. */
  serve(kind: BlobKind, name: string, request: Request, headers: HeadersInit): Promise<Response | null>;
  /** The path of a file of this machine with its bytes, for a process that reads files; none is there when it is not. */
  local(kind: BlobKind, name: string): Promise<string>;
  /** Removes it, if it is there; with `unlessYoungerThan` (epoch ms) only when nobody made it young since. True if it did. */
  remove(kind: BlobKind, name: string, options?: { unlessYoungerThan?: number }): Promise<boolean>;
  /** Removes all whose names begin so; at least two characters. */
  removeStartingWith(kind: BlobKind, beginning: string): Promise<void>;
  /** Names of those that were put or made young last at `until` (epoch ms) or before. */
  list(kind: BlobKind, until: number): AsyncIterable<string>;
  /** Removes what is left of puts that began at `until` (epoch ms) or before and never ended. Returns how many. */
  tidy(until: number): Promise<number>;
  /** Whether something could be put now. */
  isWritable(): Promise<boolean>;
}
