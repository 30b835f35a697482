import type { FileReader } from '@dropcast/client';
import type { Facts } from '../../pipeline/file/facts.ts';
import { parseImportLink } from '../../routing/import-link.ts';

/** What the service was given: bytes with this hash (hex), or, by a link file, the address of a video. */
export type SentContent = Pick<Facts, 'sha256' | 'sourceUrl'>;

/** Whether an open file has the bytes that were sent, or the address that was imported. @throws {AbortedError} the signal fired */
export async function isSent(
  reader: FileReader,
  path: string,
  { sha256, sourceUrl }: SentContent,
  signal: AbortSignal,
): Promise<boolean> {
  if (sha256 !== null) return (await reader.hash(signal)) === sha256;
  return sourceUrl !== null && (await addressIn(reader, path, signal)) === sourceUrl;
}

/** A link file with an address is no larger (`parseImportLink`). */
const mostBytes = 256 * 1024;

async function addressIn(reader: FileReader, path: string, signal: AbortSignal): Promise<string | null> {
  if (reader.sizeBytes > mostBytes) return null;
  const bytes = Buffer.alloc(reader.sizeBytes);
  await reader.read(0, bytes, signal);
  const link = parseImportLink(path, bytes.toString('utf8'));
  return link.ok ? link.url : null;
}
