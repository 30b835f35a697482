/** Reads a request body into memory: at most `mostBytes` and one chunk. Null when it is longer or breaks off. */
export async function limitedBody(request: Request, mostBytes: number): Promise<Uint8Array | null> {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) return null;
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of request.body ?? []) {
      length += chunk.length;
      if (length > mostBytes) return null;
      chunks.push(chunk);
    }
  } catch {
    return null; // the client is gone
  }
  return Buffer.concat(chunks);
}
