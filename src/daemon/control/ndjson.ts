const headers = { 'content-type': 'application/x-ndjson' };

/** Answers with these lines of JSON. */
export function ndjsonOf(lines: readonly object[]): Response {
  return new Response(lines.map(textOf).join(''), { headers });
}

/**
 * Streams lines of JSON until the reader disconnects.
 *
 * @param next resolves with the next line; null: an empty one, which shows that dropcast is not hung; undefined: the end
 * @param gone called when the reader disconnects
 */
export function streamNdjson(next: () => Promise<object | null | undefined>, gone: () => void): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const line = await next();
      if (line === undefined) controller.close();
      else controller.enqueue(encoder.encode(line === null ? '\n' : textOf(line)));
    },
    cancel: gone,
  });
  return new Response(body, { headers });
}

function textOf(line: object): string {
  return `${JSON.stringify(line)}\n`;
}
