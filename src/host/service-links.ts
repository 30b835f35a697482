export type LinkKind = 'video' | 'feed';

/** The limit of each kind. The oldest are forgotten first. */
const mostLinks = 10_000;

const longestLink = 2_000;

export type ServiceLinks = ReturnType<typeof createServiceLinks>;

/**
 * Addresses in answers of the service: where a video is embedded, and where a feed is read. In memory; never requested.
 */
export function createServiceLinks() {
  const links: Readonly<Record<LinkKind, Map<string, string>>> = { video: new Map(), feed: new Map() };
  return {
    /** @param url as the service sent it, so it may be anything */
    heard: (kind: LinkKind, id: string, url: string | undefined): void => {
      const link = url === undefined ? null : webAddress(url);
      const known = links[kind];
      if (link === null) return;
      known.set(id, link);
      const [oldest] = known.keys();
      if (known.size > mostLinks && oldest !== undefined) known.delete(oldest);
    },
    /** A web address; null: none is known. */
    find: (kind: LinkKind, id: string): string | null => links[kind].get(id) ?? null,
  };
}

/**
 * Pure: an address that is safe to follow; null for another scheme, a password in it, or text that is not an address.
 */
export function webAddress(text: string): string | null {
  if (text.length > longestLink || !URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' ? href : null;
}
