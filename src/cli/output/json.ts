import { escapeJson } from '../../log/unsafe-characters.ts';

/** Version of the JSON documents; raised when a field changes its meaning or disappears. */
const VERSION = 1;

/** Writes one line, `{"v":1,…}`. A list becomes `{"v":1,"items":[…]}`; big integers become strings of digits. */
export function printJson(value: object, stream: NodeJS.WritableStream = process.stdout): void {
  stream.write(jsonLine(value));
}

function jsonLine(value: object): string {
  const document = Array.isArray(value) ? { items: value as unknown } : value;
  const text = JSON.stringify(Object.assign({ v: VERSION }, document, { v: VERSION }), (_key, field: unknown) =>
    typeof field === 'bigint' ? String(field) : field,
  );
  return `${escapeJson(text)}\n`;
}
