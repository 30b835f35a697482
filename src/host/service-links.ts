export type LinkKind = 'video' | 'feed';

/** Maximum number of links of each kind. The oldest are forgotten first. */
const mostLinks = 10_000;

const longestLink = 2_000;

export type ServiceLinks = ReturnType<typeof createServiceLinks>;

/**
 * Remembers addresses from the service's answers: where a video is embedded, and where a feed is read. Kept in memory,
 * never requested.
 */
export function createServiceLinks() {
  const links: Readonly<Record<LinkKind, Map<string, string>>> = { video: new Map(), feed: new Map() };
  return {
    /** @param url untrusted text from the service */
    heard: (kind: LinkKind, id: string, url: string | undefined): void => {
      const link = url === undefined ? null : webAddress(url);
      const known = links[kind];
      if (link === null) return;
      known.set(id, link);
      const [oldest] = known.keys();
      if (known.size > mostLinks && oldest !== undefined) known.delete(oldest);
    },
    /** Returns a web address; null if none is known. */
    find: (kind: LinkKind, id: string): string | null => links[kind].get(id) ?? null,
  };
}

/** Returns an address that is safe to follow; null for other schemes, embedded credentials, or invalid text. Pure. */
export function webAddress(text: string): string | null {
  if (text.length > longestLink || !URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' ? href : null;
}
