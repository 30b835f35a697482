import { isIncomplete, isSuccess } from '../../transport/answer.ts';
import type { Answer } from '../../transport/answer.ts';
import { contentRangeProtocol } from './content-range.ts';
import type { ProtocolStrategy, UploadProtocol } from './protocol.ts';
import { isTus, tusProtocol } from './tus.ts';

export const strategies: Readonly<Record<UploadProtocol, (sizeBytes: number) => ProtocolStrategy>> = {
  put: putProtocol,
  'content-range': contentRangeProtocol,
  tus: tusProtocol,
};

/** One PUT with the whole file (api-spec section 4.5). A host that received only a part of it discards that. */
export function putProtocol(sizeBytes: number): ProtocolStrategy {
  return {
    protocol: 'put',
    asksFirst: false,
    offsetRequest: () => null,
    uploadRequest: () => ({ method: 'PUT', headers: {}, end: sizeBytes }),
    offsetIn: ({ status }) => (isSuccess(status) ? sizeBytes : null),
  };
}

/**
 * Returns the protocol that an answer without an offset reveals; null if there is no reason for another one.
 *
 * @param strategy of the request that was answered
 */
export function revealedBy(answer: Answer, { protocol }: ProtocolStrategy, isQuestion: boolean): UploadProtocol | null {
  if (protocol === 'put') return isTus(answer) ? 'tus' : isIncomplete(answer) ? 'content-range' : null;
  // A host without this protocol does not understand the question.
  return isQuestion && notUnderstood.has(answer.status) && !isTus(answer) ? 'put' : null;
}

/**
 * Statuses of a host without the protocol: 200 or 204 to a HEAD, the others to a method or header that it does not
 * support (RFC 9110 sections 14.5 and 15.5).
 */
const notUnderstood: ReadonlySet<number> = new Set([200, 204, 400, 405, 411, 501]);
