/**
 * Decides when a request may leave: to share an hourly allowance between parts of a program, or between programs. Every
 * JSON request passes it, repetitions included; uploads do not count against the service's limit and do not pass it.
 */
export interface RequestGate {
  /**
   * Awaited before each request. Its rejection ends the call, and nothing was sent.
   *
   * @param request the request; stop waiting when its `signal` fires
   */
  pass(request: RequestAtGate): Promise<void>;
  /**
   * Called when the service answered 429. Awaited if it is async; its error ends the call.
   *
   * @param retryAfterMs the requested wait, in milliseconds, 1,000 or more; undefined if the answer has none
   */
  throttled(retryAfterMs: number | undefined): void;
}

/** A request about to be sent. It contains no secret: of an upload address only the origin. */
export interface RequestNote {
  /** In words: `list videos`, `upload file`. */
  readonly operation: string;
  readonly method: string;
  /** Below the base address, without query. */
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
}

/** A request that waits at a gate. */
export interface RequestAtGate extends RequestNote {
  /** Fires when the caller aborts the call or closes the client. */
  readonly signal: AbortSignal;
  /** The `priority` that the call was given. */
  readonly priority?: string;
}
