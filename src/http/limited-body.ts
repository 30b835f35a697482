/** Ten times what commands, webhooks and pages need. */
export const MOST_BODY_BYTES = 64 * 1024;

/** Reads a request body into memory: at most `MOST_BODY_BYTES` and one chunk. Null when it is longer or breaks off. */
export async function limitedBody(request: Request): Promise<Uint8Array | null> {
  if (Number(request.headers.get('content-length') ?? 0) > MOST_BODY_BYTES) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.length;
      if (length > MOST_BODY_BYTES) return null;
      chunks.push(chunk);
    }
  } catch {
    return null; // the client is gone
  }
  return Buffer.concat(chunks);
}
