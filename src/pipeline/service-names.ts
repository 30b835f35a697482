import type { Events, NameKind } from './events.ts';
import { unknownNameCodes } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { Answer, Clock, VideoLibrary } from './file/ports.ts';

/** A channel or feed that files are meant for but the service does not have. */
export interface UnknownName {
  readonly kind: NameKind;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** The times are on the monotonic clock. */
interface Unlisted extends UnknownName {
  /** When the service last refused the name. Until then, it is tried. */
  readonly refusedAt: number;
  /** When a file or feed last had to wait for it. */
  wantedAt: number;
}

export type NamesOfService = Readonly<Record<NameKind, readonly string[]>>;

export interface NamesWorld {
  readonly library: Pick<VideoLibrary, 'names'>;
  readonly clock: Clock;
  readonly events: Events;
  /** Called when an unknown name has become known, so that files that waited for it continue. */
  back(): void;
  ringAt(at: number): void;
}

/** Interval between two lookups of a name that files are waiting for. */
const lookAgainMs = 10 * 60_000;

/**
 * Minimum interval between two lookups after refusals. The service may refuse a thousand files because of one name, or
 * for a reason other than the name.
 */
const refusedAgainMs = 10_000;

/**
 * How long a name counts as refused. Each waiting file checks by itself, without a request; after this time the first
 * of them is tried, because the list may lack a name that works.
 */
const fileWaitsMs = 60 * 60_000;

export type ServiceNames = ReturnType<typeof createServiceNames>;

/**
 * Tracks which channels and feeds the service has. dropcast reads the lists at a start and a reload, when the service
 * refuses something that names one, and while files are waiting for one. A list alone holds nothing back, because it
 * may be wrong: a file whose name is not listed is tried, and once the service refuses it too, the other files wait as
 * a group without requests of their own.
 */
export function createServiceNames({ library, clock, events, back, ringAt }: NamesWorld) {
  const lists = new Map<NameKind, readonly string[]>();
  /** The last lookup after a refusal, by kind. */
  const refusals = new Map<NameKind, { readonly at: number; readonly answer: Promise<Answer<readonly string[]>> }>();
  const unknown = new Map<string, Unlisted>();
  /** Names that are not listed but that the service accepts. */
  const proven = new Set<string>();
  let used: NamesOfService = { channel: [], feed: [] };
  /** Whether the lists could not be read at the start. A service that has no such lists is not asked again. */
  let isOwed = false;
  let isDueNow = false;
  let lookAt = Infinity;

  const keyOf = (kind: NameKind, name: string): string => `${kind} ${name}`;

  const become = (kind: NameKind, name: string, refusedAt = -Infinity): void => {
    const before = unknown.get(keyOf(kind, name));
    const { since, wantedAt } = before ?? { since: clock.now(), wantedAt: -Infinity };
    unknown.set(keyOf(kind, name), { kind, name, since, wantedAt, refusedAt });
    if (before === undefined) events.emit({ type: 'name', kind, name, isKnown: false });
  };

  const isThere = ({ kind, name }: UnknownName): void => {
    unknown.delete(keyOf(kind, name));
    events.emit({ type: 'name', kind, name, isKnown: true });
    back();
  };

  const learn = (kind: NameKind, names: readonly string[]): void => {
    lists.set(kind, names);
    for (const one of unknown.values()) if (one.kind === kind && names.includes(one.name)) isThere(one);
    const isNew = (name: string): boolean => !unknown.has(keyOf(kind, name)) && !proven.has(keyOf(kind, name));
    for (const name of used[kind]) if (!names.includes(name) && isNew(name)) become(kind, name);
  };

  const askFor = async (kind: NameKind, signal: AbortSignal): Promise<Answer<readonly string[]>> => {
    const answer = await library.names(kind, signal);
    if (answer.ok) learn(kind, answer.value);
    return answer;
  };

  const askForBoth = async (signal: AbortSignal): Promise<Answer<NamesOfService>> => {
    const channel = await askFor('channel', signal);
    if (!channel.ok) return channel;
    const feed = await askFor('feed', signal);
    return feed.ok ? { ok: true, value: { channel: channel.value, feed: feed.value } } : feed;
  };

  const planNext = (): void => {
    forget();
    lookAt = isWanted() ? clock.elapsed() + lookAgainMs : Infinity;
    if (lookAt < Infinity) ringAt(lookAt);
  };

  /** Whether anything is waiting for a name. */
  const isWanted = (): boolean => {
    const lately = clock.elapsed() - fileWaitsMs - lookAgainMs;
    return unknown.values().some(({ wantedAt }) => wantedAt >= lately);
  };

  const whyNot = (kind: NameKind, name: string): Failure | null => {
    const one = unknown.get(keyOf(kind, name));
    if (one === undefined) return null;
    one.wantedAt = clock.elapsed();
    if (lookAt === Infinity) planNext();
    return clock.elapsed() - one.refusedAt < fileWaitsMs ? unknownName(kind, name) : null;
  };

  /** Forgets names that no rule uses and no file has waited for lately, until the service refuses one again. */
  const forget = (): void => {
    const lately = clock.elapsed() - 2 * fileWaitsMs;
    for (const [key, { kind, name, wantedAt }] of unknown)
      if (!used[kind].includes(name) && wantedAt < lately) unknown.delete(key);
  };

  return {
    /** Records a changed configuration. @param said the service's lists; null if it did not send them */
    change: (names: NamesOfService, said: NamesOfService | null): void => {
      used = names;
      // The new configuration may refer to a different service.
      proven.clear();
      isOwed = said === null;
      if (said !== null) learn('channel', said.channel);
      if (said !== null) learn('feed', said.feed);
      planNext();
    },
    /** Requests both lists. Configured names that are in neither list count as unknown from then on. */
    ask: async (names: NamesOfService, signal: AbortSignal): Promise<Answer<NamesOfService>> => {
      used = names;
      const answer = await askForBoth(signal);
      isOwed = !answer.ok && (signal.aborted || mayPass.has(answer.failure.kind));
      planNext();
      return answer;
    },
    /** Returns why nothing can go to this channel or feed at present; null if no reason is known. */
    whyNot,
    /**
     * Handles a request with this name that the service refused. @returns why nothing can go there; null if the name is
     * not the cause
     */
    refused: async (
      { kind: failed, status }: Failure,
      { kind, name }: { readonly kind: NameKind; readonly name: string },
      signal: AbortSignal,
    ): Promise<Failure | null> => {
      const isAnswer = failed === 'gone' || failed === 'permanent' || status === 404;
      // The list is known to be wrong about this name, so the name is not to blame.
      if (!isAnswer || proven.has(keyOf(kind, name))) return null;
      // The list read at the start may be months old.
      const last = refusals.get(kind);
      const isRecent = last !== undefined && clock.elapsed() - last.at < refusedAgainMs;
      const asked = isRecent ? last : { at: clock.elapsed(), answer: askFor(kind, signal) };
      refusals.set(kind, asked);
      const answer = await asked.answer;
      if (!answer.ok || answer.value.includes(name)) return null;
      become(kind, name, clock.elapsed());
      return whyNot(kind, name);
    },
    /** Records that the service accepted this name, even if its list lacks the name. */
    worked: (kind: NameKind, name: string): void => {
      const one = unknown.get(keyOf(kind, name));
      if (one === undefined) return;
      proven.add(keyOf(kind, name));
      isThere(one);
    },
    /** Records that the service answers again, so that missing lists can be read. */
    serviceBack: (): void => {
      isDueNow = isOwed || isWanted();
    },
    isDue: (): boolean => isDueNow || lookAt <= clock.elapsed(),
    look: async (signal: AbortSignal): Promise<void> => {
      isDueNow = false;
      const kinds = new Set([...unknown.values()].map(({ kind }) => kind));
      if (isOwed) isOwed = !(await askForBoth(signal)).ok;
      else for (const kind of kinds) await askFor(kind, signal);
      planNext();
    },
    unknown: (): readonly UnknownName[] =>
      [...unknown.values()].map(({ kind, name, since }) => ({ kind, name, since })),
    /** Returns the lists as the service last sent them; null if it never did. */
    known: (): NamesOfService | null => {
      const [channel, feed] = [lists.get('channel'), lists.get('feed')];
      return channel === undefined || feed === undefined ? null : { channel, feed };
    },
  };
}

const mayPass: ReadonlySet<string> = new Set(['offline', 'transient', 'throttled', 'suspended']);

const unknownName = (kind: NameKind, name: string): Failure => ({
  kind: 'suspended',
  code: unknownNameCodes[kind],
  message: `the service has no ${kind} ${JSON.stringify(name)}: create it there, or correct the rule or sidecar`,
  ...(kind === 'channel' ? { retryAfterMs: fileWaitsMs } : { feed: name }),
});
