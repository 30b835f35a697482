import { once } from 'node:events';
import { escapeJson } from '../../log/escape.ts';

/** Of the documents below; raised when a field changes its meaning or goes away. */
const VERSION = 1;

/** Writes one line, `{"v":1,…}`. A list becomes `{"v":1,"items":[…]}`; big integers become strings of digits. */
export function printJson(value: object, stream: NodeJS.WritableStream = process.stdout): void {
  stream.write(jsonLine(value));
}

/**
 * Writes a line for each value as it comes, no faster than they are read. Returns early when the reader goes away, as `head` does.
 */
export async function printNdjson(
  values: Iterable<object> | AsyncIterable<object>,
  stream: NodeJS.WritableStream = process.stdout,
): Promise<void> {
  const gone = new AbortController();
  const leave = () => gone.abort();
  stream.once('error', leave).once('close', leave);
  try {
    for await (const value of values) {
      if (gone.signal.aborted) return;
      if (!stream.write(jsonLine(value))) await drained(stream, gone.signal);
    }
  } finally {
    stream.off('error', leave).off('close', leave);
  }
}

async function drained(stream: NodeJS.WritableStream, gone: AbortSignal): Promise<void> {
  try {
    await once(stream, 'drain', { signal: gone });
  } catch {
    // The stream broke or was closed: the caller sees it in the signal.
  }
}

function jsonLine(value: object): string {
  const document = Array.isArray(value) ? { items: value as unknown } : value;
  const text = JSON.stringify(Object.assign({ v: VERSION }, document, { v: VERSION }), (_key, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
  return `${escapeJson(text)}\n`;
}
