// The container of WebP: RFC 9649, section 2.3.

/** A chunk, with the byte that makes its length even. */
export function riffChunk(type: string, data: Uint8Array): Uint8Array {
  return Buffer.concat([riffHead(type, data.length), data, new Uint8Array(data.length % 2)]);
}

/** A chunk's type and length. */
export function riffHead(type: string, length: number): Uint8Array {
  const head = new Uint8Array(8);
  head.set(new TextEncoder().encode(type));
  new DataView(head.buffer).setUint32(4, length, true);
  return head;
}

/** The chunks of a WebP file, one after the other. */
export function riffChunksOf(file: Uint8Array): { type: string; data: Uint8Array }[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const chunks: { type: string; data: Uint8Array }[] = [];
  for (let at = 12; at + 8 <= file.length; ) {
    const length = view.getUint32(at + 4, true);
    const type = String.fromCharCode(...file.subarray(at, at + 4));
    chunks.push({ type, data: file.subarray(at + 8, at + 8 + length) });
    at += 8 + length + (length % 2);
  }
  return chunks;
}
