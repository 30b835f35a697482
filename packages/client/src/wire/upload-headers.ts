/** Fields of a create response in which services list the headers that their upload address requires. */
const fields = ['upload_headers', 'required_headers', 'headers', 'uploadHeaders', 'requiredHeaders'] as const;

const mostHeaders = 32;
const longestName = 100;
/** Maximum number of characters of all values. Servers refuse longer headers, and each value is removed from errors. */
const mostCharacters = 16_384;

/**
 * Reads the upload headers from a create response: an object by name, or a list of `{name, value}`. Ignores headers
 * that belong to the connection (RFC 9110 section 7.6.1) or to this client, malformed ones, and those beyond the
 * limits.
 *
 * assumed: api-spec section 4.5 does not show the headers of the PUT.
 *
 * @returns headers with lower-case names
 */
export function uploadHeadersOf(answer: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const found = fields.flatMap((field) => pairsOf(answer[field]).slice(0, 2 * mostHeaders));
  const headers = new Map<string, string>();
  let left = mostCharacters;
  for (const [name, value] of found) {
    const key = typeof name === 'string' ? name.toLowerCase() : '';
    if (headers.size >= mostHeaders || headers.has(key) || !maySend(key) || !isValue(value, left)) continue;
    headers.set(key, value);
    left -= value.length;
  }
  return Object.fromEntries(headers);
}

/** Whether an upload may carry a header. @param name in lower case */
export function maySend(name: string): boolean {
  return name.length <= longestName && /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !reserved.test(name);
}

/**
 * Headers that the connection and the client set, among them those that say which part of a file is sent. A cookie
 * would be someone's session, and `__proto__` is not a header.
 */
const reserved =
  /^(?:host|content-length|content-range|upload-offset|upload-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|cookie|proxy-.*|__proto__)$/;

/** Accepts visible ASCII, as in signed headers, and nothing that could end the header or the line. */
function isValue(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length <= longest && /^[\x20-\x7e]*$/.test(value);
}

function pairsOf(field: unknown): readonly (readonly [name: unknown, value: unknown])[] {
  if (typeof field !== 'object' || field === null) return [];
  if (!Array.isArray(field)) return Object.entries(field);
  return field.flatMap((each: unknown) => {
    const { name, key, value } = (each ?? {}) as { readonly name?: unknown; readonly key?: unknown; value?: unknown };
    return [[name ?? key, value] as const];
  });
}
