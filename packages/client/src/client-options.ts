import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';

import type { RequestGate, RequestNote } from './request-gate.ts';
import type { SeenExchange } from './transport/exchange.ts';
import type { ProxyEnvironment } from './transport/proxy.ts';
import type { Authorities } from './transport/trusting-agent.ts';
import type { Bandwidth } from './upload/bandwidth.ts';
import type { UploadProtocol } from './upload/protocols/protocol.ts';
import type { WaitNote } from './waiting.ts';

/**
 * Options of `createVideoClient`. Only `baseUrl` and `apiKey` are required. `undefined` selects the default, here and
 * in every call.
 */
export interface VideoClientOptions {
  /**
   * Address of the service with its version segment, such as `https://video.example.com/v1`. Plain http is allowed only
   * for this machine.
   */
  readonly baseUrl: string;
  /**
   * Sent as a bearer token with every request to the service (api-spec section 5). Never appears in errors or hooks.
   */
  readonly apiKey: string;
  /** Timeout for one JSON request including its response, in milliseconds, 1 to 2,147,483,647. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum number of retries for a request that may be repeated, 0 to 10. 0 disables all automatic retries. Default 2.
   */
  readonly maxRetries?: number | undefined;
  /**
   * Longest `Retry-After` that a call waits for, in milliseconds, 0 to 86,400,000. If the service asks for longer, the
   * call fails immediately with `retryAfterMs` in the error. Default 60,000.
   */
  readonly maxRetryAfterMs?: number | undefined;
  /** The `User-Agent` header. Default `dropcast-client/` and the version of this package. */
  readonly userAgent?: string | undefined;
  /**
   * Additional headers for every request to the service, such as one that a gateway requires. Upload hosts do not get
   * them. Headers that the client or the connection sets, such as `Authorization` and `Host`, are refused.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Origins that receive the key with uploads, besides the origin of `baseUrl`, for upload hosts that require it. They
   * may also be nearer to this machine than the service is (see `UploadRejectedError`).
   */
  readonly sendKeyTo?: readonly string[] | undefined;
  /**
   * Certificates (PEM) to trust in addition to Node's, such as the sandbox's own: for every host, or by host name,
   * where `*.example.com` is every name below `example.com`. Before Node 22.15 they replace those of
   * `NODE_EXTRA_CA_CERTS`.
   */
  readonly ca?: Authorities | undefined;
  /**
   * `HTTPS_PROXY` and `NO_PROXY`; default: the process environment. Plain http never uses a proxy. Node before 22.21 or
   * 24.5 does not support proxies at all, which a process warning reports.
   */
  readonly proxyEnv?: ProxyEnvironment | undefined;
  /**
   * Agents of Node or of another package that open the connections instead of this client's own, for example through a
   * SOCKS proxy. An https agent replaces `ca` and `proxyEnv`, which are then refused, and decides what is trusted. Agents
   * stay open when the client is closed. With `keepAlive`, a create request may meet a connection that the service has
   * just closed, and nothing then shows whether it arrived. An agent that resolves names itself, or has connections of
   * other parts of the program, bypasses the check that an upload address is not nearer than the service; only literal
   * addresses are then checked.
   */
  readonly agent?: { readonly http?: HttpAgent | undefined; readonly https?: HttpsAgent | undefined } | undefined;
  /**
   * Bandwidth limit for the uploads of this client and of every other client given the same object. See
   * `createBandwidth`.
   */
  readonly bandwidth?: Bandwidth | undefined;
  /**
   * Keeps across processes how upload hosts take files. Read when an upload goes to a host that this client does not
   * know. Default: the client forgets it when it is closed.
   */
  readonly uploadForms?: UploadFormStore | undefined;
  /**
   * Whether the service creates only one record for all create requests with the same `Idempotency-Key`. If so, every
   * create request carries a key and is retried like any other request, and also after a 409, which means that an
   * earlier one is still in progress. Default false: the specification does not mention the header, so none is sent.
   */
  readonly honoursIdempotencyKey?: boolean | undefined;
  /** Awaited before every JSON request, including retries. Lets parts of a program share a request budget. */
  readonly requestGate?: RequestGate | undefined;
  /**
   * Called before each request is sent, including retries and uploads. If it throws, the error becomes a process
   * warning.
   */
  readonly onRequest?: ((note: RequestNote) => void) | undefined;
  /** Called when each request has finished. If it throws, the error becomes a process warning. */
  readonly onResponse?: ((note: ResponseNote) => void) | undefined;
  /**
   * Called with each answered request and its response, including uploads: what the service really does, for diagnosis.
   * Both contain the key and signed addresses, so keep them out of logs. If it throws, the error becomes a process
   * warning.
   */
  readonly onExchange?: ((exchange: SeenExchange) => void) | undefined;
  /**
   * Called before each wait between two requests, with the length and the reason. If it throws, the error becomes a
   * process warning.
   */
  readonly onWait?: ((note: WaitNote) => void) | undefined;
  /** Receives one entry for each finished request and for each wait. If it throws, the error becomes a process warning. */
  readonly logger?: ClientLogger | undefined;
}

/** A logger such as pino or `console`. */
export interface ClientLogger {
  /** Called when a request has finished, and before a wait for a video that is not ready. */
  debug(entry: ClientLogEntry): void;
  /** Called before a wait after a failure or a 429. */
  warn(entry: ClientLogEntry): void;
}

/** One log entry: a fixed message, and the fields of the note. Contains no secrets. */
export type ClientLogEntry =
  | (ResponseNote & { readonly msg: 'request finished' })
  | (WaitNote & { readonly msg: 'waiting' });

/** The outcome of a request. Without `status` there was no response. */
export interface ResponseNote extends RequestNote {
  readonly status?: number;
  /** Time from the start of the request to the end of the response, in milliseconds. */
  readonly ms: number;
  /** The service's id for the request, to quote to its support. */
  readonly requestId?: string;
}

/** How an upload host takes files, where that is not the usual way: one PUT with a content type. */
export interface UploadForm {
  /** Protocol that the host speaks. Default: one PUT. */
  readonly protocol?: Exclude<UploadProtocol, 'put'>;
  /** Present if the host refuses a content type that neither it nor the caller named. */
  readonly withoutType?: true;
}

/** Keeps the forms of upload hosts for later processes. */
export interface UploadFormStore {
  /** Returns what was last saved for an origin. Anything that is not an `UploadForm`, or an error, counts as nothing. */
  load(origin: string): Promise<unknown>;
  /** Saves what a host's answers have shown; null: the host takes the usual form, or its form is no longer known. */
  save(origin: string, form: UploadForm | null): unknown;
}
