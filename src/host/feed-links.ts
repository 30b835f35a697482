/** Maximum number of feeds whose address is remembered. The oldest are forgotten first. */
const mostFeeds = 10_000;

const longestLink = 2_000;

export type FeedLinks = ReturnType<typeof createFeedLinks>;

/** Remembers where each feed is read, from the service's list of feeds. Kept in memory, never requested. */
export function createFeedLinks() {
  const known = new Map<string, string>();
  return {
    /** @param url untrusted text from the service */
    heard: (feed: string, url: string): void => {
      const link = webAddress(url);
      if (link === null) return;
      known.set(feed, link);
      const [oldest] = known.keys();
      if (known.size > mostFeeds && oldest !== undefined) known.delete(oldest);
    },
    /** Returns a web address; null if none is known. */
    find: (feed: string): string | null => known.get(feed) ?? null,
  };
}

/** Returns an address that is safe to follow; null for other schemes, embedded credentials, or invalid text. Pure. */
export function webAddress(text: string): string | null {
  if (text.length > longestLink || !URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' ? href : null;
}
