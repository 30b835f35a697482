import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { ApiError } from '../http/api-error.ts';
import type { Switches } from '../profiles/switch-table.ts';
import { HEAD_BYTES, type ReceivedFile } from './receive.ts';

/** A protocol in which a broken upload can be continued. */
export type ResumableProtocol = Exclude<Switches['upload_protocol'], 'put'>;

/** A request that sends a part of a file, or that asks how much has arrived. */
interface PartRequest {
  /** Position at which the body begins; null for a question. */
  readonly offset: number | null;
  /** Length of the body. */
  readonly length: number;
  /** Size of the whole file; null if the request does not state it. */
  readonly sizeBytes: number | null;
}

/** Returns an upload address in the form of the protocol. A resumable session of GCS has its id in the query. */
export function toldAddress(uploadUrl: string, protocol: Switches['upload_protocol']): string {
  if (protocol !== 'content_range') return uploadUrl;
  const id = createHash('sha256').update(`session of ${uploadUrl}`).digest('hex').slice(0, 32);
  return `${uploadUrl}?uploadType=resumable&upload_id=${id}`;
}

/**
 * Reads a request in the protocol: a session of GCS (cloud.google.com/storage/docs/performing-resumable-uploads), or
 * tus 1.0 (tus.io/protocols/resumable-upload). @throws ApiError
 */
export function readPartRequest({ method, headers }: IncomingMessage, protocol: ResumableProtocol): PartRequest {
  if (protocol === 'tus') return readTus(method, headers);
  if (method !== 'PUT') throw new ApiError('method_not_allowed', 'Send the file with PUT.', { Allow: 'PUT, OPTIONS' });
  const range = headers['content-range'];
  const length = lengthIn(headers);
  if (range === undefined) return { offset: 0, length, sizeBytes: length };
  const [, first, last, size] = /^bytes (?:\*|(\d{1,15})-(\d{1,15}))\/(\d{1,15})$/.exec(range) ?? [];
  const [offset, sizeBytes] = [numberIn(first), numberIn(size)];
  const end = offset === null ? 0 : Number(last) + 1;
  // RFC 9110 section 14.4: the last position must be below the size.
  if (sizeBytes === null || end > sizeBytes || length !== end - (offset ?? 0))
    throw new ApiError(
      'bad_request',
      'This Content-Range is not valid, or does not agree with the length of the body.',
    );
  return { offset, length, sizeBytes };
}

function readTus(method: string | undefined, headers: IncomingHttpHeaders): PartRequest {
  if (method !== 'HEAD' && method !== 'PATCH')
    throw new ApiError('method_not_allowed', 'Send the file with PATCH.', { Allow: 'HEAD, PATCH, OPTIONS' });
  if (headers['tus-resumable'] !== TUS_VERSION)
    throw new ApiError('precondition_failed', `Tus-Resumable must be ${TUS_VERSION}.`, { 'Tus-Version': TUS_VERSION });
  if (method === 'HEAD') return { offset: null, length: 0, sizeBytes: null };
  if (headers['content-type'] !== 'application/offset+octet-stream')
    throw new ApiError('unsupported_media_type', 'The type must be application/offset+octet-stream.');
  const offset = numberIn(String(headers['upload-offset']));
  if (offset === null) throw new ApiError('bad_request', 'Upload-Offset is missing.');
  return { offset, length: lengthIn(headers), sizeBytes: numberIn(String(headers['upload-length'])) };
}

function lengthIn(headers: IncomingHttpHeaders): number {
  const length = numberIn(headers['content-length']);
  if (length !== null) return length;
  throw new ApiError('length_required', 'Send the file with a Content-Length.');
}

/** Checks that a body continues what has arrived before it. @throws ApiError */
export function requireFitting(
  { offset, length, sizeBytes }: PartRequest & { readonly offset: number },
  before: PartialFile,
  protocol: ResumableProtocol,
): void {
  if (offset > before.arrived || (protocol === 'tus' && offset !== before.arrived))
    throw new ApiError('conflict', `${before.arrived} bytes have arrived.`);
  const size = before.sizeBytes ?? sizeBytes;
  if (size === null) return;
  if (sizeBytes !== null && sizeBytes !== size)
    throw new ApiError('bad_request', `The file has ${size} bytes according to an earlier request.`);
  if (offset + length > size) throw new ApiError('payload_too_large', `The file has only ${size} bytes.`);
}

/** Version of tus, which every answer names, even a refusal. */
export const TUS_VERSION = '1.0.0';

/** Answers how much has arrived. */
export function answerOffset(
  response: ServerResponse,
  protocol: ResumableProtocol,
  { arrived, sizeBytes }: PartialFile,
  isQuestion: boolean,
): void {
  if (protocol === 'tus') {
    const length = sizeBytes === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(sizeBytes) };
    const headers = { 'Upload-Offset': String(arrived), ...(isQuestion && { ...length, 'Cache-Control': 'no-store' }) };
    response.writeHead(isQuestion ? 200 : 204, headers).end();
    return;
  }
  const isWhole = arrived === sizeBytes;
  const range = arrived === 0 || isWhole ? {} : { Range: `bytes=0-${arrived - 1}` };
  response.writeHead(isWhole ? 200 : 308, { ...range, 'Content-Length': '0' }).end();
}

function numberIn(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** A file that has arrived in part. */
interface PartialFile {
  readonly path: string;
  readonly arrived: number;
  readonly sizeBytes: number | null;
}

/** Called before and after the body of a request. */
interface Appending {
  /** Admits or refuses the body, given what has arrived before it. @throws ApiError */
  admit(before: PartialFile): void;
  /** Stores a file that is whole. Requests for the same upload wait until then. */
  complete(file: ReceivedFile): Promise<unknown>;
}

/** The files that have arrived in part, by upload. They are lost when the sandbox stops. */
export class PartialUploads {
  readonly #incoming: string;
  readonly #files = new Map<string, PartialFile>();
  readonly #receiving = new Map<string, { readonly request: IncomingMessage; readonly done: Promise<unknown> }>();

  /** @param incoming folder for files that are still arriving */
  constructor(incoming: string) {
    this.#incoming = incoming;
  }

  /** Returns what has arrived for an upload. A request that is still sending to it is cut off first. */
  async at(upload: string): Promise<PartialFile> {
    await this.#cutOff(upload);
    return this.#known(upload);
  }

  /**
   * Appends a body. Bytes that had arrived before are skipped, and those of an interrupted body are kept.
   * @throws what `admit` and `complete` throw @throws errors of the request or the disk
   */
  async append(
    upload: string,
    request: IncomingMessage,
    { offset, sizeBytes }: PartRequest & { readonly offset: number },
    { admit, complete }: Appending,
  ): Promise<PartialFile> {
    // Nothing may run between the end of this loop and `set`: two requests could have waited for the same third one.
    while (this.#receiving.has(upload)) await this.#cutOff(upload);
    const before = this.#known(upload);
    admit(before);
    const file = { ...before, sizeBytes: before.sizeBytes ?? sizeBytes };
    const done = this.#receive(upload, request, file, file.arrived - offset).then(async (after) => {
      if (after.arrived === after.sizeBytes) await complete(await received(after));
      return after;
    });
    this.#receiving.set(upload, { request, done: done.catch(() => undefined) });
    try {
      return await done;
    } finally {
      this.#receiving.delete(upload);
    }
  }

  async #cutOff(upload: string): Promise<void> {
    for (let running; (running = this.#receiving.get(upload)) !== undefined;) {
      running.request.destroy();
      await running.done;
    }
  }

  #known(upload: string): PartialFile {
    return this.#files.get(upload) ?? { path: join(this.#incoming, randomUUID()), arrived: 0, sizeBytes: null };
  }

  /** Writes without a buffer, so that the number of bytes is exact when a request breaks. */
  async #receive(upload: string, request: IncomingMessage, file: PartialFile, known: number): Promise<PartialFile> {
    let skip = known;
    let { arrived } = file;
    await using out = await open(file.path, 'a', 0o600);
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        const rest = chunk.subarray(Math.min(skip, chunk.length));
        skip -= chunk.length - rest.length;
        await out.appendFile(rest);
        arrived += rest.length;
      }
      await out.sync();
    } finally {
      this.#files.set(upload, { ...file, arrived });
    }
    return this.#known(upload);
  }
}

async function received({ path, arrived }: PartialFile): Promise<ReceivedFile> {
  const hash = createHash('sha256');
  let head: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path)) {
    const bytes = chunk as Buffer;
    hash.update(bytes);
    if (head.length < HEAD_BYTES) head = Buffer.concat([head, bytes.subarray(0, HEAD_BYTES - head.length)]);
  }
  return { path, sizeBytes: arrived, sha256: hash.digest('hex'), head };
}
