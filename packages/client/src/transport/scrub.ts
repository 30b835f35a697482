/** Removes secrets from a text of the other side. */
export type Scrub = (text: string) => string;

/** Shorter pieces are words: replacing them would make messages unreadable. */
const shortestSecret = 8;

/**
 * Makes a scrub for the secrets of one exchange, which the server may echo: S3 answers a bad signature with the
 * signature and the string that was signed; others repeat the refused key.
 *
 * @param secrets whole values; pieces under 8 characters stay
 */
export function createScrub(secrets: readonly string[]): Scrub {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret).sort(longestFirst);
  return (text) => scrubAddresses(known.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text));
}

/** The secret parts of a signed address: all of it, its path and query, and each long piece of them, encoded or not. */
export function secretsOfAddress(address: string): readonly string[] {
  if (!URL.canParse(address)) return [address];
  const url = new URL(address);
  const pieces = [...url.pathname.split('/'), ...url.searchParams.values(), ...url.search.split(/[?&=]/)];
  const all = [address, url.href, `${url.pathname}${url.search}`, url.search, url.username, url.password, ...pieces];
  return [...all, ...all.map(decoded)];
}

/** The values of the headers of an upload, and their long parts: each may be a token or a signature. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (name === 'content-type' ? [] : [value]));
  return values.flatMap((value) => [value, ...value.split(/[\s,;="]+/)]);
}

/**
 * Cuts every web address to its origin, an encoded one whole, and removes every bearer token: for a text whose secrets
 * are not known.
 */
export function scrubAddresses(text: string): string {
  return text
    .replaceAll(/\b(https?:\/\/[^\s/?#"'<>,;)]*)([^\s"'<>]*)/gi, (_, head: string, rest: string) => {
      return /^[.,:;)]*$/.test(rest) ? `${originOf(head)}${rest}` : `${originOf(head)}/…`;
    })
    .replaceAll(/(https?%3a%2f%2f)[^\s"'<>]+/gi, '$1…')
    .replaceAll(/\bbearer\s+\S+/gi, 'Bearer [secret]');
}

/** The part of an address that may be shown. */
export function originOf(address: string): string {
  return URL.canParse(address) ? new URL(address).origin : 'an unreadable address';
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
