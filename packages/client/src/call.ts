/**
 * The return value of every method of the client: a promise of the value, and on request the answer that it was read
 * from.
 */
export interface Call<T> extends Promise<T> {
  /** The value together with the answer. Sends no further request, and rejects as the call itself does. */
  withResponse(): Promise<WithResponse<T>>;
}

/** A value, and the answer that it was read from. */
export interface WithResponse<T> {
  readonly data: T;
  readonly response: RawResponse;
}

/**
 * An unmodified answer of the service. Nothing is removed from it: the body of a create request has the signed upload
 * address.
 */
export interface RawResponse {
  /** 200 to 299. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The service's id of the request, to quote to its support. */
  readonly requestId?: string;
  /** How many attempts it took, from 1. */
  readonly attempts: number;
}

/** Makes a call of work that knows its answer. */
export function callOf<T>(work: Promise<WithResponse<T>>): Call<T> {
  const value = work.then(({ data }) => data);
  const withResponse = (): Promise<WithResponse<T>> => {
    // A caller that awaits the answer need not await the bare value too: its rejection is not unhandled then.
    value.catch(() => {});
    return work.then((answered) => answered);
  };
  return Object.assign(value, { withResponse });
}
