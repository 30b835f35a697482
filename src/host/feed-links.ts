import { isDeepStrictEqual } from 'node:util';
import type { NoteStore } from '../pipeline/file/ports.ts';

/** Where feeds are read. */
export interface FeedLinks {
  /** Takes the addresses of all feeds from the service's list: untrusted text. */
  heard(list: readonly ListedFeed[]): void;
  /** Returns a web address; null if none is known. */
  find(feed: string): string | null;
}

interface ListedFeed {
  readonly id: string;
  readonly url?: string | undefined;
}

/** Name of the note that holds the addresses, so that they are known after a restart without a request. */
const linksNote = 'feed links';

const mostFeeds = 2_000;

const longestLink = 2_000;

/** @param failed called if the note cannot be written; the addresses are then unknown after a restart */
export async function createFeedLinks(notes: NoteStore, failed: (error: unknown) => void): Promise<FeedLinks> {
  let known = await knownLinks(notes);
  let saving = Promise.resolve();
  return {
    heard: (list) => {
      const links = new Map(list.flatMap(linkOf).slice(0, mostFeeds));
      if (isDeepStrictEqual(links, known)) return;
      known = links;
      saving = saving.then(() => notes.saveNote(linksNote, Object.fromEntries(links))).catch(failed);
    },
    find: (feed) => known.get(feed) ?? null,
  };
}

export async function readFeedLinks(notes: Pick<NoteStore, 'note'>): Promise<Pick<FeedLinks, 'find'>> {
  const known = await knownLinks(notes);
  return { find: (feed) => known.get(feed) ?? null };
}

async function knownLinks(notes: Pick<NoteStore, 'note'>): Promise<ReadonlyMap<string, string>> {
  const note = (await notes.note(linksNote)) ?? {};
  return new Map(Object.entries(note).flatMap(([id, url]) => linkOf({ id, url: String(url) })));
}

function linkOf({ id, url = '' }: ListedFeed): readonly (readonly [string, string])[] {
  const link = webAddress(url);
  return link === null ? [] : [[id, link]];
}

/** Returns an address that is safe to follow; null for other schemes, embedded credentials, or invalid text. Pure. */
export function webAddress(text: string): string | null {
  if (text.length > longestLink || !URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  return ['http:', 'https:'].includes(protocol) && username === '' && password === '' ? href : null;
}
