import PQueue from "p-queue";
import { BLOB_KINDS, type BlobKind, type Blobs } from "../../../blobs/blobs.ts";
import { OperatorError } from "../../../core/errors.ts";

/** Cutouts are made anew when they are needed. */
const MOVED_KINDS = BLOB_KINDS.filter((kind) => kind !== "cutout");
/** Each is in memory once or twice; a storage far away answers many as fast as one. */
const FILES_AT_ONCE = 8;

export interface MovedFiles {
  kind: BlobKind;
  files: number;
  bytes: number;
}

export interface MoveFilesOptions {
  from: Blobs;
  to: Blobs;
  /** Reports progress. */
  note: (text: string) => void;
  /**
   * Read what was written, and compare it byte by byte: for a target that is on this machine. Otherwise its
   * length is.
   */
  compare?: boolean;
}

/**
 * Copies photos, pictures and templates. What is there in its full length stays as it is: it was put whole by
 * a move that was broken off. Throws an OperatorError for a file that did not arrive as it was sent.
 */
export async function moveFiles({ from, to, note, compare }: MoveFilesOptions): Promise<MovedFiles[]> {
  const move = async (kind: BlobKind, name: string): Promise<number | undefined> => {
    const there = await to.stat(kind, name);
    if (there && there.bytes === (await from.stat(kind, name))?.bytes) return there.bytes;
    const bytes = await (await from.open(kind, name))?.bytes();
    // Expired while it was looked for.
    if (!bytes) return undefined;
    await to.put(kind, name, bytes);
    const isWhole = compare
      ? Buffer.from((await (await to.open(kind, name))?.bytes()) ?? []).equals(bytes)
      : (await to.stat(kind, name))?.bytes === bytes.length;
    if (isWhole) return bytes.length;
    throw new OperatorError(`${name} of kind ${kind} did not arrive whole. Run this again.`);
  };
  const moved: MovedFiles[] = [];
  for (const kind of MOVED_KINDS) {
    const sum = { kind, files: 0, bytes: 0 };
    const queue = new PQueue({ concurrency: FILES_AT_ONCE });
    let failure: unknown;
    for await (const name of from.list(kind, Number.POSITIVE_INFINITY)) {
      await queue.onSizeLessThan(FILES_AT_ONCE);
      if (failure !== undefined) break;
      void queue
        .add(() => move(kind, name))
        .then((bytes) => {
          if (bytes === undefined) return;
          sum.files += 1;
          sum.bytes += bytes;
          note(`${sum.files} of kind ${kind}`);
        })
        .catch((error) => {
          failure ??= error;
        });
    }
    await queue.onIdle();
    if (failure !== undefined) throw failure;
    moved.push(sum);
  }
  return moved;
}
