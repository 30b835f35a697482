import { isSuccess, startsLikePage, uploadError } from '../transport/answer.ts';
import type { Answer } from '../transport/answer.ts';
import type { Caller } from '../caller.ts';
import { UnreadableAnswerError, UploadServerError } from '../errors.ts';
import type { ServiceError } from '../errors.ts';
import type { FilePass } from './file-pass.ts';
import type { ProtocolStrategy, UploadProtocol } from './protocols/protocol.ts';
import { revealedBy } from './protocols/protocols.ts';
import { originOf, secretsOfAddress, secretsOfHeaders } from '../transport/scrub.ts';
import type { UploadRequest } from './upload-request.ts';

export interface HostOptions extends Pick<
  UploadRequest,
  'url' | 'headers' | 'signal' | 'stallTimeoutMs' | 'answerTimeoutMs' | 'onProgress'
> {
  readonly sizeBytes: number;
  /** Number of this attempt, for the client's hooks. */
  readonly attempt: number;
}

/** The host of one upload address, asked and answered in one protocol. */
export class UploadHost {
  readonly strategy: ProtocolStrategy;
  readonly #caller: Pick<Caller, 'upload' | 'scrub'>;
  readonly #options: HostOptions;

  constructor(caller: Pick<Caller, 'upload' | 'scrub'>, strategy: ProtocolStrategy, options: HostOptions) {
    this.strategy = strategy;
    this.#caller = caller;
    this.#options = options;
  }

  /**
   * Asks how many bytes of the file the host has.
   * @throws {OtherProtocol} the host does not speak this protocol
   * @throws {AddressDeadError | UploadServerError | UploadRejectedError} by the response's status, or no response
   */
  async locate(): Promise<number> {
    const question = this.strategy.offsetRequest();
    if (question === null) return 0;
    const answer = await this.#ask({ ...question, body: null });
    const offset = this.strategy.offsetIn(answer);
    if (offset === null) throw this.#error(answer, true);
    if (startsLikePage(answer.body)) throw this.#page(answer);
    return offset;
  }

  /**
   * Sends bytes from the position of the pass on, as many as the protocol allows in one request.
   *
   * @param beforeBytes as for `requestUpload`
   * @returns number of bytes that the host has
   * @throws {OtherProtocol} the host speaks another protocol
   * @throws {UploadServerError} the host took fewer bytes than it was sent
   * @throws as `requestUpload` and `uploadError`
   */
  async deliver(pass: FilePass, beforeBytes: NonNullable<UploadRequest['beforeBytes']>): Promise<number> {
    const { onProgress } = this.#options;
    const { end, ...request } = this.strategy.uploadRequest(pass.position);
    const answer = await this.#ask({ ...request, body: { pass, end }, beforeBytes, ...(onProgress && { onProgress }) });
    const offset = this.strategy.offsetIn(answer);
    if (offset === null) throw this.#error(answer, false);
    if (startsLikePage(answer.body)) throw this.#page(answer);
    if (pass.position < end)
      throw new UploadServerError(`the upload address answered ${answer.status} before it had the whole file`, {
        status: answer.status,
        code: 'early_answer',
      });
    if (offset !== end)
      throw new UploadServerError(
        `${originOf(this.#options.url)} has ${offset} bytes of the file, although ${end} were sent`,
        { status: answer.status, code: 'incomplete_upload' },
      );
    return offset;
  }

  #ask(request: Pick<UploadRequest, 'method' | 'headers' | 'body' | 'beforeBytes' | 'onProgress'>): Promise<Answer> {
    const { url, headers, signal, stallTimeoutMs, answerTimeoutMs, attempt } = this.#options;
    const common = { url, signal, stallTimeoutMs, answerTimeoutMs };
    return this.#caller.upload({ ...common, ...request, headers: { ...headers, ...request.headers } }, attempt);
  }

  #error(answer: Answer, isQuestion: boolean): ServiceError | OtherProtocol {
    const { url, headers } = this.#options;
    const scrub = this.#caller.scrub([...secretsOfAddress(url), ...secretsOfHeaders(headers)]);
    const error = isSuccess(answer.status)
      ? new UploadServerError(`${originOf(url)} answered ${answer.status}, but not how much of the file it has`, {
          status: answer.status,
          code: 'unreadable_answer',
        })
      : uploadError(answer, scrub, Date.now());
    const spoken = revealedBy(answer, this.strategy, isQuestion);
    return spoken === null ? error : new OtherProtocol(spoken, error);
  }

  #page({ status }: Answer): UnreadableAnswerError {
    return new UnreadableAnswerError(
      `${originOf(this.#options.url)} answered ${status} to the upload, but with a web page, as proxies and login portals send`,
      { status, code: 'web_page' },
    );
  }
}

/** The host speaks another protocol than the one of the request. */
export class OtherProtocol extends Error {
  readonly protocol: UploadProtocol;
  /** The error if the protocol may not be changed. */
  readonly error: ServiceError;

  constructor(protocol: UploadProtocol, error: ServiceError) {
    super(error.message);
    this.protocol = protocol;
    this.error = error;
  }
}
