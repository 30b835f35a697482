/** Ten times as much as commands, webhooks and pages need. */
export const MOST_BODY_BYTES = 64 * 1024;

/**
 * Reads a request body into memory, at most `MOST_BODY_BYTES` plus one chunk. Null if the body is longer or incomplete.
 */
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
