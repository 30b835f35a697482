import { isIncomplete } from '../../transport/answer.ts';
import type { Answer } from '../../transport/answer.ts';
import { contentRangeForm, isSessionAddress } from './content-range.ts';
import type { UploadForm, UploadProtocol } from './form.ts';
import { originOf } from '../../transport/scrub.ts';
import { putForm } from './put.ts';
import { isTus, tusForm } from './tus.ts';

const forms: Readonly<Record<UploadProtocol, (sizeBytes: number) => UploadForm>> = {
  put: putForm,
  'content-range': contentRangeForm,
  tus: tusForm,
};

/** Maximum number of origins remembered. A service may use a different one for each file. */
const mostOrigins = 1000;

/** Remembers which protocol each upload host speaks, judging by its answers. */
export class KnownForms {
  readonly #known = new Map<string, UploadProtocol>();

  /** @param given protocol that the caller chose; undefined: the one that the host is known for, otherwise one PUT */
  formFor(address: string, given: UploadProtocol | undefined, sizeBytes: number): UploadForm {
    const usual = isSessionAddress(address) ? 'content-range' : 'put';
    return forms[given ?? this.#known.get(originOf(address)) ?? usual](sizeBytes);
  }

  remember(address: string, protocol: UploadProtocol): void {
    if (this.#known.size >= mostOrigins) this.#known.clear();
    this.#known.set(originOf(address), protocol);
  }
}

/**
 * Returns the protocol that an answer without an offset reveals; null if there is no reason for another one.
 *
 * @param form of the request that was answered
 */
export function revealedBy(answer: Answer, { protocol }: UploadForm, isQuestion: boolean): UploadProtocol | null {
  if (protocol === 'put') return isTus(answer) ? 'tus' : isIncomplete(answer) ? 'content-range' : null;
  // A host without this protocol does not understand the question.
  return isQuestion && notUnderstood.has(answer.status) && !isTus(answer) ? 'put' : null;
}

/**
 * Statuses of a host without the protocol: 200 or 204 to a HEAD, the others to a method or header that it does not
 * support (RFC 9110 sections 14.5 and 15.5).
 */
const notUnderstood: ReadonlySet<number> = new Set([200, 204, 400, 405, 411, 501]);
