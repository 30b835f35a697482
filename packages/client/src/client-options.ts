import type { RequestGate, RequestNote } from './request-gate.ts';
import type { ProxyEnvironment } from './transport/connection.ts';
import type { Bandwidth } from './upload/bandwidth.ts';
import type { WaitNote } from './waiting.ts';

/**
 * Options of `createVideoClient`. Only `baseUrl` and `apiKey` are required; here and in every call `undefined` means
 * the default.
 */
export interface VideoClientOptions {
  /**
   * Address of the service with its version segment, like `https://video.example.com/v1`; plain http for this machine
   * only.
   */
  readonly baseUrl: string;
  /** Sent as a bearer token with every request to the service (api-spec section 5). No error and no hook shows it. */
  readonly apiKey: string;
  /** Time for one JSON request and its answer, in milliseconds, 1 to 2,147,483,647. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a request that may be repeated is tried again, 0 to 10; 0 switches all automatic repetition off. Default
   * 2.
   */
  readonly maxRetries?: number | undefined;
  /**
   * The longest `Retry-After` that a call waits for, in milliseconds, 0 to 86,400,000; for a longer one the call fails
   * at once, with `retryAfterMs` in the error. Default 60,000.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /** The `User-Agent` header. Default `dropcast`. */
  readonly userAgent?: string | undefined;
  /**
   * Further origins whose uploads receive the key, in addition to that of `baseUrl`: for an upload host that requires
   * it. These origins may also be nearer to this machine than the service is (see `UploadRejectedError`).
   */
  readonly sendKeyTo?: readonly string[] | undefined;
  /**
   * Certificates (PEM) to trust in addition to those that Node trusts: the sandbox makes its own. Before Node 22.15
   * they replace those of `NODE_EXTRA_CA_CERTS`.
   */
  readonly ca?: string | undefined;
  /**
   * `HTTPS_PROXY` and `NO_PROXY`; default: those of this process. Plain http never uses a proxy, and a Node before
   * 22.21 or 24.5 none at all: then a process warning says so.
   */
  readonly proxyEnv?: ProxyEnvironment | undefined;
  /**
   * Limits the uploads of this client, and of every other client that is given the same object. See `createBandwidth`.
   */
  readonly bandwidth?: Bandwidth | undefined;
  /**
   * Whether the service makes one record for all create requests with the same `Idempotency-Key`. Then each of them
   * carries one, and is repeated like any other request, and after a 409, which means that the service still carries
   * out an earlier one. Default false: the specification does not mention the header, so none is sent.
   */
  readonly honoursIdempotencyKey?: boolean | undefined;
  /**
   * Awaited before every JSON request, repetitions included: for a request budget that other parts of a program share.
   */
  readonly requestGate?: RequestGate | undefined;
  /**
   * Called before each request leaves, repetitions and uploads included. If it throws, the error becomes a process
   * warning.
   */
  readonly onRequest?: ((note: RequestNote) => void) | undefined;
  /** Called when each of them has ended. If it throws, the error becomes a process warning. */
  readonly onResponse?: ((note: ResponseNote) => void) | undefined;
  /**
   * Called before each wait between two requests, with its length and its reason. If it throws, the error becomes a
   * process warning.
   */
  readonly onWait?: ((note: WaitNote) => void) | undefined;
}

/** How a request ended; without `status` there was no answer. */
export interface ResponseNote extends RequestNote {
  readonly status?: number;
  /** From the start of the request to the end of the answer, in milliseconds. */
  readonly ms: number;
  /** The service's id of the request, to quote to its support. */
  readonly requestId?: string;
}
