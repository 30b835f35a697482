import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Switches } from '../profiles/switch-table.ts';

type Signed = Switches['upload_headers'];

/** Returns the headers that an upload address was signed with, for services that name them. */
export function signedHeaders(uploadUrl: string): Readonly<Record<string, string>> {
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
