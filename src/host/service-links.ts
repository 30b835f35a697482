export type LinkKind = 'video' | 'feed';

/** Of each kind. The oldest are forgotten first. */
const mostLinks = 10_000;

const longestLink = 2_000;

export type ServiceLinks = ReturnType<typeof createServiceLinks>;

/** Addresses that the service gave in its answers: where a video is embedded, and where a feed is read. In memory; never requested. */
export function createServiceLinks() {
  const links: Readonly<Record<LinkKind, Map<string, string>>> = { video: new Map(), feed: new Map() };
  return {
    /** @param url as the service says: it may be anything */
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

/** Pure: what somebody may safely follow; null for any other scheme, a password in it, or what is no address. */
export function webAddress(text: string): string | null {
  if (text.length > longestLink || !URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' ? href : null;
}
