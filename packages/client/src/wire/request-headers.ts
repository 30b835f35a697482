import { maySend } from './upload-headers.ts';

/** Headers that this client sets for requests to the service, besides those of the connection. */
const own = /^(?:authorization|accept|accept-encoding|content-type|user-agent|idempotency-key)$/;

/**
 * Reads the caller's headers for requests to the service.
 *
 * @returns headers with lower-case names
 * @throws {TypeError} the client or the connection sets such a header, or its value could end the line; the message
 *   omits the value, which may be a secret
 */
export function requestHeaders(given: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const headers = Object.entries(given).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  for (const [name, value] of headers) {
    if (!maySend(name) || own.test(name))
      throw new TypeError(`headers: a request cannot carry ${JSON.stringify(name.slice(0, 100))} of yours`);
    if (typeof value !== 'string' || !/^[\x20-\x7e]*$/.test(value))
      throw new TypeError(`headers: ${JSON.stringify(name)} must be a string of visible ASCII characters and spaces`);
  }
  return Object.fromEntries(headers);
}
