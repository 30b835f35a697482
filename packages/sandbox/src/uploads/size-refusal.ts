import { mostUploadBytes } from '../profiles/switch-table.ts';
import type { Switches } from '../profiles/switch-table.ts';
import type { EarlyAnswer } from '../http/exchange.ts';

const refusals: Readonly<Record<Exclude<Switches['max_upload_size'], 'none'>, (sizeBytes: number) => EarlyAnswer>> = {
  '413': () => ({
    status: 413,
    headers: { 'Content-Type': 'text/html' },
    body: '<html><head><title>413 Request Entity Too Large</title></head><body><h1>413 Request Entity Too Large</h1></body></html>\n',
  }),
  '400': () => ({
    status: 400,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ error: { code: 'invalid_file', message: 'The file exceeds the maximum of 2 MiB.' } }),
  }),
  entity_too_large: (sizeBytes) => ({
    status: 400,
    headers: { 'Content-Type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>EntityTooLarge</Code><Message>Your proposed upload exceeds the maximum allowed size</Message><ProposedSize>${sizeBytes}</ProposedSize><MaxSizeAllowed>${mostUploadBytes}</MaxSizeAllowed></Error>\n`,
  }),
};

/** Returns the refusal of an upload that is too large, before its body is read; null if it may continue. */
export function sizeRefusal(sizeBytes: number, form: Switches['max_upload_size']): EarlyAnswer | null {
  return form === 'none' || sizeBytes <= mostUploadBytes ? null : refusals[form](sizeBytes);
}
