// Memory of large buffers that is freed as soon as they have been sent. It would be freed later anyway, but V8 collects garbage after every 30 to
// 60 MB that are allocated outside of its heap, which takes longer than creating and sending them.

/** The memory that was given away. Memory that others may use, such as that of slices and of Node's pool, is never in here. */
const given = new WeakSet<ArrayBufferLike>();

/** Returns these bytes, whose memory nothing else uses. It is freed when they are sent. */
export function giveAway(bytes: Buffer): Buffer {
  given.add(bytes.buffer);
  return bytes;
}

/** Frees the memory of a chunk, if it was given away. Nothing, not even the operating system, may need the chunk any more. */
export function freeGiven(chunk: string | Uint8Array): void {
  if (typeof chunk === 'string' || !given.delete(chunk.buffer)) return;
  (chunk.buffer as ArrayBuffer).transfer(0);
}
