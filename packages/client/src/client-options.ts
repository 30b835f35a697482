import type { ProxyEnvironment } from './transport/connection.ts';

export interface VideoClientOptions {
  /** With its version segment; https, or http on this machine. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** For one JSON exchange, in milliseconds, 1 to 2,147,483,647. Default 30 s. */
  readonly timeoutMs?: number;
  /** Repetitions of a request that may be repeated, 0 to 10. Default 2. */
  readonly maxRetries?: number;
  /**
   * A `Retry-After` up to this is waited out, in milliseconds, 0 to 86,400,000; a longer one is handed to the caller at once, as
   * `retryAfterMs` of the error. Default 60 s.
   */
  readonly maxRetryAfterMs?: number;
  /** Default `dropcast`. */
  readonly userAgent?: string;
  /** Further origins, beside that of `baseUrl`, whose uploads may see the key, and may be nearer to this machine than the service is. */
  readonly sendKeyTo?: readonly string[];
  /** Certificates (PEM) to trust beside the known ones: the sandbox makes its own. */
  readonly ca?: string;
  /** `HTTPS_PROXY` and `NO_PROXY`; by default those of this process. Plain http never goes through a proxy. */
  readonly proxyEnv?: ProxyEnvironment;
  /** Told of each request before it leaves, repetitions included. What it throws becomes a process warning. */
  readonly onRequest?: (note: RequestNote) => void;
  /** Told how each of them ended. What it throws becomes a process warning. */
  readonly onResponse?: (note: ResponseNote) => void;
}

/** A request that leaves now. Neither holds a secret: of an upload address only the origin is told. */
export interface RequestNote {
  /** In words: `list videos`, `upload file`. */
  readonly operation: string;
  readonly method: string;
  /** Below the base address, without query. */
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
}

/** How it ended; without `status` no answer came. */
export interface ResponseNote extends RequestNote {
  readonly status?: number;
  readonly ms: number;
  /** The service's own name for the request, to quote to its support. */
  readonly requestId?: string;
}
