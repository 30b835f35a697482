import { UploadRejectedError } from '../errors.ts';

/** Codes that say that a file is too large, such as S3's `EntityTooLarge`. */
const sizeCode = /too[_-]?(?:large|big)|max(?:imum)?[_-]?(?:file)?[_-]?size|size[_-]?(?:limit|exceeded)/i;

/** Words of a limit on something other than the size of one file. */
const otherLimit = /quota|storage|upload[_-]?limit|per (?:day|month)|daily|monthly/i;

const limitWord = /too (?:large|big)|exceed|maximum|at most|larger than|limit/i;

const amount = /\b(\d{1,15}(?:\.\d{1,3})?) ?(bytes|[KMGT]i?B)\b/gi;

/**
 * Decimal units, as in most documentation. If the host means binary ones, the limit computed is too low, but never too
 * high.
 */
const factors: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const binaryFactors: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

/** Smallest stated limit that is believed. No video service has a lower one. */
const leastLimitBytes = 1_048_576;

/**
 * Whether an upload host refused a file because of its size: with 413 (RFC 9110 section 15.5.14), with a code such as
 * S3's `EntityTooLarge`, or with 400 and a message that names a lower limit. Quotas are excluded.
 *
 * @param error thrown by `videos.send`
 * @param sizeBytes size of the file
 * @returns null if the refusal has another reason. `mostBytes`: the limit that the answer states, from 1 MiB to below
 *   the file's size; null if it states none
 */
export function sizeRefusalOf(error: unknown, sizeBytes: number): { readonly mostBytes: number | null } | null {
  if (!(error instanceof UploadRejectedError) || otherLimit.test(`${error.code} ${error.message}`)) return null;
  const mostBytes = statedLimit(error.message, sizeBytes);
  if (error.status === 413 || sizeCode.test(error.code)) return { mostBytes };
  return error.status === 400 && mostBytes !== null && limitWord.test(error.message) ? { mostBytes } : null;
}

/** Returns the largest size below the file's own: the message may name that one too, or a smallest size. */
function statedLimit(message: string, sizeBytes: number): number | null {
  const stated = [...message.matchAll(amount)].map(([, digits, unit]) => Number(digits) * factorOf(unit ?? ''));
  const possible = stated.map(Math.floor).filter((bytes) => bytes >= leastLimitBytes && bytes < sizeBytes);
  return possible.length === 0 ? null : Math.max(...possible);
}

function factorOf(unit: string): number {
  const word = unit.toLowerCase();
  if (word === 'bytes') return 1;
  const table = word.includes('i') ? binaryFactors : factors;
  return table[word.charAt(0)] ?? 1;
}
