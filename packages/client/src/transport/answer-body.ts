import { STATUS_CODES } from 'node:http';
import { z } from 'zod';

import type { Scrub } from './scrub.ts';

/** The longest message of the other side that is passed on. */
const longestMessage = 200;

const ErrorObject = z.object({
  code: z
    .union([z.string(), z.int().transform(String)])
    .optional()
    .catch(undefined),
  message: z.string().optional().catch(undefined),
});
const ErrorAnswer = z.union([
  z.object({ error: ErrorObject }).transform((wire) => wire.error),
  z.object({ error: z.string() }).transform((wire) => ({ code: undefined, message: wire.error })),
  ErrorObject,
]);

/**
 * Reads an error answer, whatever it is: `{error: {code, message}}`, other JSON, HTML, nothing.
 * @param scrub removes secrets that the other side echoes; applied before the text is cut, or half of one would stay
 */
export function readError(
  status: number,
  body: string,
  scrub: Scrub,
): { readonly code: string; readonly message: string } {
  const said = ErrorAnswer.safeParse(parseJson(body)).data;
  const code = plain(scrub(said?.code ?? ''), 60);
  const message = plain(scrub(said?.message ?? withoutTags(body)));
  return { code: code === '' ? codeOfStatus(status) : code, message };
}

/** Parses JSON; undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOfStatus(status: number): string {
  return STATUS_CODES[status]?.toLowerCase().replaceAll(/[^a-z]+/g, '_') ?? `http_${status}`;
}

function withoutTags(text: string): string {
  return text
    .slice(0, 4000)
    .replaceAll(/<(script|style)\b[^>]*>[^]*?<\/\1>/gi, ' ')
    .replaceAll(/<[^>]*>/g, ' ');
}

/** One line without control characters, so that a message cannot forge log lines or move the cursor. */
export function plain(text: string, longest = longestMessage): string {
  const line = text.replaceAll(/[\s\p{C}]+/gu, ' ').trim();
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}
