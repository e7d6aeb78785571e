// Bodies of requests.

/** Bodies from this size on are sent compressed. */
const compressedBytes = 32_768;

/** Returns a body of JSON and its headers, compressed if it is large. */
export async function jsonBody(
  json: string,
): Promise<{ body: NonNullable<RequestInit['body']>; headers: Record<string, string> }> {
  const bytes = new TextEncoder().encode(json);
  const headers = { 'content-type': 'application/json' };
  if (bytes.length < compressedBytes) return { body: bytes, headers };
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  const body = await new Response(stream).arrayBuffer();
  return { body, headers: { ...headers, 'content-encoding': 'gzip' } };
}
