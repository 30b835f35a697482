import { mostUploadBytes, type Switches } from '../profiles/switch-table.ts';
import type { EarlyAnswer } from '../http/exchange.ts';
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

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

/**
 * Recognises from the body's type that a file is wrapped in a form, as sent by `curl -F` and by browsers with FormData.
 * The types of the form's parts do not matter.
 * @param contentType of the request
 */
export function isFormType(contentType: string | undefined): boolean {
  return /^\s*multipart\//i.test(contentType ?? '');
}

/**
 * Recognises a form by its first bytes if its type does not show it, which happens when programs set a Content-Type for
 * FormData. No media file begins with a boundary of up to 70 characters (RFC 2046 section 5.1.1) followed by the first
 * part's headers.
 * @param head the first bytes, up to 1 KiB
 */
export function isFormBody(head: Buffer): boolean {
  const [, headers] =
    /^(?:\r\n)?--[\x20-\x7e]{1,70}\r?\n((?:[\x21-\x7e]+:[^\n]*\n)+)/.exec(head.toString('latin1')) ?? [];
  return /^content-disposition:\s*form-data/im.test(headers ?? '');
}

type Signed = Switches['upload_headers'];

/** Returns the headers that an upload address was signed with, for services that name them. */
function signedHeaders(uploadUrl: string): Readonly<Record<string, string>> {
  const signature = createHash('sha256')
    .update(`headers of ${new URL(uploadUrl).pathname}`)
    .digest('hex');
  return { 'Content-Type': 'application/octet-stream', 'X-Upload-Signature': signature };
}

/** Returns what the answer to a creation states about the upload's headers. */
export function toldHeaders(uploadUrl: string, signed: Signed): Readonly<Record<string, unknown>> {
  if (signed === 'any' || signed === 'without_type') return {};
  const headers = signedHeaders(uploadUrl);
  if (signed !== 'headers') return { [signed]: headers };
  return { headers: Object.entries(headers).map(([name, value]) => ({ name, value })) };
}

/** Returns whether an upload has the headers that its address was signed with. @param path path of the address */
export function isSigned(path: string, headers: IncomingHttpHeaders, signed: Signed): boolean {
  if (signed === 'any') return true;
  if (signed === 'without_type') return headers['content-type'] === undefined;
  const wanted = Object.entries(signedHeaders(`http://upload.invalid${path}`));
  return wanted.every(([name, value]) => headers[name.toLowerCase()] === value);
}

/** The answer of an object store (S3, GCS) to headers other than the signed ones. */
export const signatureMismatch = {
  status: 403,
  headers: { 'Content-Type': 'application/xml' },
  body: '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>SignatureDoesNotMatch</Code><Message>The request signature we calculated does not match the signature you provided.</Message></Error>\n',
} as const;
