/** Removes secrets from text sent by the other side. */
export type Scrub = (text: string) => string;

/**
 * Minimum length of a secret piece. Shorter ones are often ordinary words, and replacing those would garble messages.
 */
const shortestSecret = 8;

/**
 * Creates a scrub for the secrets of one exchange, because servers may echo them: S3 answers a bad signature with the
 * signature and the signed string, and others repeat the refused key.
 *
 * @param secrets whole values; pieces shorter than 8 characters are kept
 */
export function createScrub(secrets: readonly string[]): Scrub {
  const known = [...new Set(secrets)].filter((secret) => secret.length >= shortestSecret).sort(longestFirst);
  return (text) => scrubAddresses(known.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text));
}

/**
 * Returns the secrets of a signed address: the whole, its path and query, and each long piece of them, encoded or not.
 */
export function secretsOfAddress(address: string): readonly string[] {
  if (!URL.canParse(address)) return [address];
  const url = new URL(address);
  const pieces = [...url.pathname.split('/'), ...url.searchParams.values(), ...url.search.split(/[?&=]/)];
  const all = [address, url.href, `${url.pathname}${url.search}`, url.search, url.username, url.password, ...pieces];
  return [...all, ...all.map(decoded)];
}

/** Returns the values of upload headers and their long parts, each of which may be a token or a signature. */
export function secretsOfHeaders(headers: Readonly<Record<string, string>>): readonly string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (name === 'content-type' ? [] : [value]));
  return values.flatMap((value) => [value, ...value.split(/[\s,;="]+/)]);
}

/**
 * Cuts every web address down to its origin, and removes encoded addresses and bearer tokens. For text whose secrets
 * are unknown.
 */
export function scrubAddresses(text: string): string {
  return text
    .replaceAll(/\b(https?:\/\/[^\s/?#"'<>,;)]*)([^\s"'<>]*)/gi, (_, head: string, rest: string) => {
      return /^[.,:;)]*$/.test(rest) ? `${originOf(head)}${rest}` : `${originOf(head)}/…`;
    })
    .replaceAll(/(https?%3a%2f%2f)[^\s"'<>]+/gi, '$1…')
    .replaceAll(/\bbearer\s+\S+/gi, 'Bearer [secret]');
}

/** Returns the part of an address that is safe to show. */
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
