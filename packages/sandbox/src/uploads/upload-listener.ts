import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { UploadReceipt } from '../contract/types.gen.ts';
import { answerEarly, answerJson, refuseEarly, type Exchange } from '../http/exchange.ts';
import { ApiError, codeOfStatus, isDefect, toApiError } from '../http/api-error.ts';
import type { RawListener } from '../http/server.ts';
import type { Records } from '../store/records.ts';
import type { UploadAddressStore } from '../store/upload-addresses.ts';
import type { Acceptance, AcceptResult } from './acceptance.ts';
import type { Switchboard } from '../profiles/switchboard.ts';
import type { Switches } from '../profiles/switch-table.ts';
import { receiveFile, type ReceivedFile } from './receive.ts';
import {
  answerOffset,
  PartialUploads,
  readPartRequest,
  requireFitting,
  TUS_VERSION,
  type ResumableProtocol,
} from './resumable.ts';
import { sizeRefusal, isFormBody, isFormType, isSigned, signatureMismatch } from './refusals.ts';

interface UploadParts {
  readonly records: Pick<Records, 'addresses' | 'videos'>;
  readonly acceptance: Acceptance;
  /** Folder for bodies that are still arriving. */
  readonly incoming: string;
  readonly nowMs: () => number;
  readonly switchboard: Switchboard;
  readonly onDefect: (error: unknown) => void;
}

/**
 * Handles the PUT to an upload address on the plain Node request: large bodies must reach the disk without web streams,
 * and a refusal must precede 100 Continue.
 */
export function createUploadListener(parts: UploadParts): RawListener {
  const partial = new PartialUploads(parts.incoming);
  return async (request, response, awaitsContinue) => {
    const exchange = { request, response, awaitsContinue };
    const { upload_protocol: protocol } = parts.switchboard.now;
    try {
      if (request.method === 'OPTIONS') response.writeHead(204, ALLOW).end();
      else if (isRedirected(request, parts)) redirect(exchange);
      else if (protocol === 'put') await takeBody(exchange, parts);
      else await takePart(exchange, protocol, partial, parts);
    } catch (error) {
      if (!response.destroyed) refuse({ request, response, awaitsContinue }, error, parts.onDefect);
    }
  };
}

const ALLOW = { Allow: 'PUT, OPTIONS' };

/** Returns whether to redirect an upload. The target is the same address with a mark, where the file is accepted. */
function isRedirected({ method, url = '' }: IncomingMessage, { switchboard }: UploadParts): boolean {
  return switchboard.now.upload_redirect === '307' && method === 'PUT' && !url.endsWith(REDIRECTED);
}

const REDIRECTED = '?redirected';

function redirect(exchange: Exchange): void {
  const address = `${exchange.request.url?.split('?', 1)[0]}${REDIRECTED}`;
  answerEarly(exchange, { status: 307, headers: { Location: address }, body: '' });
}

/**
 * Receives the file. assumed: 200 with a receipt; the specification does not show the answer (api-spec section 4.5).
 */
async function takeBody({ request, response, awaitsContinue }: Exchange, parts: UploadParts): Promise<void> {
  const videoId = admittedVideo(request, parts);
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (!isSigned(path, request.headers, parts.switchboard.now.upload_headers))
    return answerEarly({ request, response, awaitsContinue }, signatureMismatch);
  const { max_upload_size: form } = parts.switchboard.now;
  const tooLarge = sizeRefusal(Number(request.headers['content-length']), form);
  if (tooLarge !== null) return answerEarly({ request, response, awaitsContinue }, tooLarge);
  if (awaitsContinue) response.writeContinue();
  const { era } = parts.acceptance;
  const file = await receiveFile(request, parts.incoming);
  answerJson(response, 200, JSON.stringify(await acceptFile(videoId, file, era, parts)));
}

async function acceptFile(
  videoId: string,
  file: ReceivedFile,
  era: number,
  { acceptance, switchboard }: UploadParts,
): Promise<UploadReceipt> {
  await requireNoForm(file);
  const result = await acceptance.accept(videoId, file, era);
  requireAccepted(result, switchboard.now);
  const { sizeBytes: size, sha256 } = file;
  return { id: videoId, status: 'processing', size, sha256 };
}

/** Receives a part of a file, or states how much has arrived. */
async function takePart(
  exchange: Exchange,
  protocol: ResumableProtocol,
  partial: PartialUploads,
  parts: UploadParts,
): Promise<void> {
  const { request, response, awaitsContinue } = exchange;
  if (protocol === 'tus') response.setHeader('Tus-Resumable', TUS_VERSION);
  const { offset, ...asked } = readPartRequest(request, protocol);
  const videoId = addressedVideo(request, parts, offset === null);
  const { era } = parts.acceptance;
  const upload = `${era} ${videoId}`;
  if (offset === null) return answerOffset(response, protocol, await partial.at(upload), true);
  const begun = { ...asked, offset };
  const tooLarge = sizeRefusal(asked.sizeBytes ?? offset + asked.length, parts.switchboard.now.max_upload_size);
  if (tooLarge !== null) return answerEarly(exchange, tooLarge);
  const file = await partial.append(upload, request, begun, {
    admit: (before) => {
      requireFitting(begun, before, protocol);
      if (awaitsContinue) response.writeContinue();
    },
    complete: (whole) => acceptFile(videoId, whole, era, parts),
  });
  answerOffset(response, protocol, file, false);
}

/**
 * Checks everything that does not need the body. assumed: the specification shows none of these errors. @throws
 * ApiError
 */
function admittedVideo(request: IncomingMessage, parts: UploadParts): string {
  if (request.method !== 'PUT') throw new ApiError('method_not_allowed', `Send the file with PUT. ${AS_BODY}`, ALLOW);
  const videoId = addressedVideo(request, parts, false);
  requirePlainBody(request);
  return videoId;
}

/** Returns the video of an address. @param isQuestion sends no file, so the video may have one @throws ApiError */
function addressedVideo(
  request: IncomingMessage,
  { records: { addresses, videos }, nowMs, switchboard }: UploadParts,
  isQuestion: boolean,
): string {
  const [, , videoId = '', token = '', ...rest] = (request.url ?? '').split('?', 1)[0]?.split('/') ?? [];
  if (rest.length > 0) throw new ApiError('not_found', 'There is nothing at this path.');
  const isPending = isQuestion || videos.find(videoId)?.status === 'pending';
  requireValidAddress(addresses.judge(videoId, token, nowMs()), isPending, switchboard.now);
  return videoId;
}

function requireValidAddress(
  state: ReturnType<UploadAddressStore['judge']>,
  isPending: boolean,
  { second_put: second, expired_address: expired }: Switches,
): void {
  if (state === 'unknown') throw noSuchAddress();
  if (state === 'wrong token') throw new ApiError('forbidden', 'This upload address is not valid.');
  if (state === 'void') throw new ApiError('gone', 'The video of this upload address was deleted.');
  if (!isPending && second === '404') throw noSuchAddress();
  if (!isPending && second === '409') throw new ApiError('conflict', 'This video already has its file.');
  if (state === 'expired') throw new ApiError(codeOfStatus(Number(expired)), 'This upload address has expired.');
}

const AS_BODY = 'Send the file itself as the body: curl -T FILE ADDRESS.';

function requirePlainBody({ headers }: IncomingMessage): void {
  if (isFormType(headers['content-type'])) throw FORM;
  if (headers['content-length'] === undefined)
    throw new ApiError('length_required', 'Send the file with a Content-Length.');
  // RFC 9110 section 14.5: treating a partial PUT as the whole would destroy the file.
  if (headers['content-range'] !== undefined)
    throw new ApiError('bad_request', 'Send the whole file; partial uploads are not supported.');
  if (!/^(?:identity)?$/i.test(headers['content-encoding'] ?? ''))
    throw new ApiError('unsupported_media_type', 'Send the file itself, without a Content-Encoding.');
}

/**
 * Refuses a form as the body. If it were accepted, the form would become the video's file, and the address would be
 * used up. @throws ApiError
 */
async function requireNoForm({ path, head }: ReceivedFile): Promise<void> {
  if (!isFormBody(head)) return;
  await rm(path, { force: true });
  throw FORM;
}

const FORM = new ApiError('unsupported_media_type', `The file is wrapped in a form (multipart). ${AS_BODY}`);

/** Refuses a file that arrived too late: another file may have been accepted in the meantime. @throws ApiError */
function requireAccepted(result: AcceptResult, { second_put: second }: Switches): void {
  if (result === 'video deleted') throw new ApiError('gone', 'The video was deleted during the upload.');
  if (result === 'accepted' || second === '200') return;
  if (second === '404') throw noSuchAddress();
  throw new ApiError('conflict', 'Another upload of this video finished first.');
}

function noSuchAddress(): ApiError {
  return new ApiError('not_found', 'This upload address does not exist.');
}

function refuse(exchange: Exchange, error: unknown, onDefect: UploadParts['onDefect']): void {
  if (isDefect(error)) onDefect(error);
  refuseEarly(exchange, toApiError(error));
}
