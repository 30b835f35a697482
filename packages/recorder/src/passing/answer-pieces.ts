import type { IncomingMessage } from 'node:http';
import { mostHeld } from './body-capture.ts';

interface Piece {
  readonly bytes: Buffer;
  /** Length of the whole body, if the body was changed. */
  readonly length?: number;
}

/** Whether the body may contain addresses, that is, whether it is readable JSON, even without a JSON content type. */
export function mayHaveAddresses({ headers }: IncomingMessage): boolean {
  const type = headers['content-type'] ?? 'text/plain';
  return /\bjson\b|^text\/plain\b/i.test(type) && /^(?:identity)?$/i.test(headers['content-encoding'] ?? '');
}

/** Yields the body as it arrives. @throws the error of a connection that breaks before the end */
export async function* piecesOf(incoming: IncomingMessage): AsyncGenerator<Piece> {
  for await (const bytes of incoming as AsyncIterable<Buffer>) yield { bytes };
}

/**
 * Yields the changed body once it is complete. A body longer than `mostHeld` passes through unchanged.
 *
 * @throws the error of a connection that breaks before the end
 */
export async function* rewrittenPieces(
  incoming: IncomingMessage,
  rewrite: (body: Buffer) => Buffer,
): AsyncGenerator<Piece> {
  const held: Buffer[] = [];
  let room = mostHeld;
  for await (const bytes of incoming as AsyncIterable<Buffer>) {
    held.push(bytes);
    room -= bytes.length;
    if (room < 0) yield { bytes: Buffer.concat(held.splice(0)) };
  }
  if (held.length === 0) return;
  const body = Buffer.concat(held);
  const changed = rewrite(body);
  yield changed === body ? { bytes: body } : { bytes: changed, length: changed.length };
}
