/** Return type of the client's methods: a promise of the value, with access to the response it was read from. */
export interface Call<T> extends Promise<T> {
  /** Resolves to the value and its response. Sends no further request, and rejects as the call itself does. */
  withResponse(): Promise<WithResponse<T>>;
}

/** A value and the response it was read from. */
export interface WithResponse<T> {
  readonly data: T;
  readonly response: RawResponse;
}

/** An unmodified response from the service. The body of a create response contains the signed upload address. */
export interface RawResponse {
  /** 200 to 299. */
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** The service's id for the request, to quote to its support. */
  readonly requestId?: string;
  /** Number of attempts made, from 1. */
  readonly attempts: number;
}

/** Builds a call from work that resolves to the value and its response. */
export function callOf<T>(work: Promise<WithResponse<T>>): Call<T> {
  const value = work.then(({ data }) => data);
  const withResponse = (): Promise<WithResponse<T>> => {
    // Callers that await only the response never handle the bare value, so its rejection must not count as unhandled.
    value.catch(() => {});
    return work.then((answered) => answered);
  };
  return Object.assign(value, { withResponse });
}
