import { STATUS_CODES } from 'node:http';
import * as z from 'zod/mini';

import type { Scrub } from './scrub.ts';
import { orMissing } from '../wire/tolerant.ts';

/** Maximum length of a message quoted from the other side. */
const longestMessage = 200;
/**
 * Maximum length of an error body that is read. Scrubbing 10 MiB with the secrets of a long address blocked the event
 * loop for minutes.
 */
const longestErrorText = 8192;
/** Maximum length of an error body that is parsed; anything longer is not an error object. */
const longestErrorJson = 65_536;

interface ErrorWords {
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** Google's APIs repeat the status as `code` and give the reason in the first of `errors`. */
const Reasons = z.array(z.object({ reason: orMissing(z.string()) }));
const ErrorObject = z.pipe(
  z.object({
    code: orMissing(z.union([z.string(), z.int()])),
    message: orMissing(z.string()),
    errors: orMissing(Reasons),
  }),
  z.transform(({ code, message, errors }): ErrorWords => ({
    code: typeof code === 'number' ? (errors?.[0]?.reason ?? String(code)) : code,
    message,
  })),
);
/** An error object without the `error` wrapper, or problem details (RFC 9457) from a gateway. */
const BareFields = z.object({
  code: orMissing(z.union([z.string(), z.pipe(z.int(), z.transform(String))])),
  message: orMissing(z.string()),
  detail: orMissing(z.string()),
  title: orMissing(z.string()),
});
const BareError = z.pipe(
  BareFields,
  z.transform(({ code, message, detail, title }: z.output<typeof BareFields>): ErrorWords => ({
    code,
    message: message ?? detail ?? title,
  })),
);
const ErrorAnswer = z.union([
  z.pipe(
    z.object({ error: ErrorObject }),
    z.transform((wire: { readonly error: ErrorWords }) => wire.error),
  ),
  z.pipe(
    z.object({ error: z.string() }),
    z.transform(({ error }: { readonly error: string }): ErrorWords => ({ code: undefined, message: error })),
  ),
  BareError,
]);

/**
 * Reads an error body in any form: `{error: {code, message}}`, other JSON, HTML or empty.
 * @param scrub removes secrets that the other side echoes. Applied to whole words before the message is shortened,
 *   because half a secret would not be recognised.
 */
export function readError(
  status: number,
  body: string,
  scrub: Scrub,
): { readonly code: string; readonly message: string } {
  const said =
    body.length > longestErrorJson ? undefined : (ErrorAnswer.safeParse(parseJson(body)).data ?? xmlError(body));
  const code = plain(scrub(wholeWords(said?.code ?? '')), 60);
  const message = plain(scrub(wholeWords(said?.message ?? withoutTags(body))));
  return { code: code === '' ? codeOfStatus(status) : code, message };
}

const xmlStart = /^\s*(?:<\?xml[^>]*>\s*)?<Error[\s>]/;

/**
 * Reads the XML error of an object store (S3, GCS, R2, Azure), with the limit that S3 adds to `EntityTooLarge`.
 * @returns undefined if the body is not such an error
 */
function xmlError(body: string): ErrorWords | undefined {
  const text = wholeWords(body);
  if (!xmlStart.test(text)) return undefined;
  const inside = (name: string): string | undefined => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1];
  const most = /^\d{1,15}$/.exec(inside('MaxSizeAllowed') ?? '')?.[0];
  const message = inside('Message') ?? '';
  return { code: inside('Code'), message: most === undefined ? message : `${message} (at most ${most} bytes)` };
}

/** Parses JSON; returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Codes of api-spec section 7 that differ from the status phrase. */
const codes: ReadonlyMap<number, string> = new Map([
  [429, 'rate_limited'],
  [500, 'server_error'],
]);

function codeOfStatus(status: number): string {
  const known = codes.get(status);
  if (known !== undefined) return known;
  return STATUS_CODES[status]?.toLowerCase().replaceAll(/[^a-z]+/g, '_') ?? `http_${status}`;
}

/** Cuts a long text at the end of a word. Secrets contain no white space, so none is cut in half. */
export function wholeWords(text: string): string {
  if (text.length <= longestErrorText) return text;
  let end = longestErrorText;
  while (end > 0 && /\S/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

function withoutTags(text: string): string {
  return wholeWords(text)
    .slice(0, 4000)
    .replaceAll(/<(script|style)\b[^>]*>[^]*?<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ');
}

/** Returns one line without control characters, so that a message cannot forge log lines or move the cursor. */
export function plain(text: string, longest = longestMessage): string {
  const line = text.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
