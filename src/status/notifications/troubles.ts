import type { FolderStatus } from '../../intake/watched-folder.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Pause } from '../../pipeline/events.ts';
import type { Failure } from '../../pipeline/file/failure.ts';
import type { UnknownName } from '../../pipeline/service-names.ts';
import type { Trouble } from './conditions.ts';

const minuteMs = 60_000;

/** What can be seen to be wrong with the daemon as a whole. */
export interface Seen {
  readonly pause: Pause | null;
  /** Channels and feeds that the service does not have. */
  readonly unknown: readonly UnknownName[];
  readonly folders: readonly Pick<FolderStatus, 'path' | 'state' | 'why'>[];
  /** Feeds whose last publication failed. */
  readonly feeds: ReadonlyMap<string, Failure>;
  readonly budget: { readonly isUsedUp: boolean; readonly limit: number };
  readonly expectations: readonly Trouble[];
}

/** Pure: everything that is wrong now. */
export function troublesOf({ pause, unknown, folders, feeds, budget, expectations }: Seen): readonly Trouble[] {
  return [
    ...(pause === null ? [] : [ofPause(pause)]),
    ...unknown.map(ofUnknown),
    ...folders.filter(({ state }) => state === 'frozen').map(ofFolder),
    ...[...feeds].map(([feed, failure]) => ofFeed(feed, failure)),
    ...(budget.isUsedUp ? [ofBudget(budget.limit)] : []),
    ...expectations,
  ];
}

/** Codes of this machine are in capitals, like ENOSPC: all others are answers of the service. */
function ofPause({ kind, holds, why, code }: Pause): Trouble {
  if (kind === 'suspended' && holds === 'everything' && !/^[A-Z]/.test(code))
    return {
      cause: 'key',
      kind: 'key_refused',
      holdMs: 0,
      title: 'The service refuses the account or key: all work waits',
      body: sentence(why),
      overTitle: 'The service accepts the key again: all work goes on',
    };
  const what = holds === 'uploads' ? 'uploads wait' : 'all work waits';
  return {
    cause: holds === 'uploads' ? 'uploads paused' : 'paused',
    kind: 'paused',
    holdMs: 5 * minuteMs,
    title: `${kind === 'offline' ? 'The service cannot be reached' : 'This machine needs help'}: ${what}`,
    body: `${sentence(why)} dropcast tries again by itself.`,
    overTitle: `${holds === 'uploads' ? 'Uploads go' : 'All work goes'} on`,
  };
}

function ofUnknown({ kind, name }: UnknownName): Trouble {
  const what = `${kind} ${escapeControls(name)}`;
  const [wait, go] =
    kind === 'channel'
      ? ['files that go there wait', 'files that go there go on']
      : ['videos wait to be published there', 'it is published'];
  return {
    cause: `unknown ${kind}: ${name}`,
    kind: 'needs_you',
    holdMs: minuteMs,
    title: `The service has no ${what}: ${wait}`,
    body: 'Create it there, or correct the rules and run dropcast reload.',
    overTitle: `The service has the ${what}: ${go}`,
  };
}

function ofFolder({ path, why }: Seen['folders'][number]): Trouble {
  const name = escapeControls(path);
  return {
    cause: `folder: ${path}`,
    kind: 'folder_away',
    holdMs: minuteMs,
    title: `${name} cannot be used: its files wait`,
    body: why === null ? '' : sentence(why),
    overTitle: `${name} is back`,
  };
}

function ofFeed(feed: string, { kind, message }: Failure): Trouble {
  return {
    cause: `feed: ${feed}`,
    kind: 'feed_failed',
    // What asking again cannot help is told at once.
    holdMs: kind === 'permanent' || kind === 'gone' ? 0 : 5 * minuteMs,
    title: `The feed ${escapeControls(feed)} is not published`,
    body: sentence(message),
    overTitle: `The feed ${escapeControls(feed)} is published again`,
  };
}

function ofBudget(limit: number): Trouble {
  return {
    cause: 'budget',
    kind: 'budget',
    holdMs: 30 * minuteMs,
    title: `All ${limit} requests of the hour have been used for half an hour`,
    body: 'Files wait for requests. Something else may use the same key, or the limit is too low: see dropcast status.',
    overTitle: 'There are requests again',
  };
}

function sentence(text: string): string {
  const escaped = escapeControls(text);
  const begun = escaped.charAt(0).toUpperCase() + escaped.slice(1);
  return begun === '' || /[.!?]$/.test(begun) ? begun : `${begun}.`;
}
