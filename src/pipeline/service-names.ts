import type { Events, NameKind } from './events.ts';
import { unknownNameCodes } from './file/failure.ts';
import type { Failure } from './file/failure.ts';
import type { Answer, Clock, VideoLibrary } from './file/ports.ts';

/** A channel or feed that files go to and that the service does not have. */
export interface UnknownName {
  readonly kind: NameKind;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** The channels and feeds in the service's own lists. */
export type NamesOfService = Readonly<Record<NameKind, readonly string[]>>;

export interface NamesWorld {
  readonly library: Pick<VideoLibrary, 'names'>;
  readonly clock: Clock;
  readonly events: Events;
  /** An unknown name is known now, so files that waited for it continue. */
  back(): void;
  /** There is something to look up from this time on, on the monotonic clock. */
  ringAt(at: number): void;
}

/** The interval between two lookups of a name that files wait for. */
const lookAgainMs = 10 * 60_000;

/**
 * The interval between two lookups after a refusal: the service may refuse a thousand files for one name, or for
 * something that is not a name.
 */
const refusedAgainMs = 10_000;

/**
 * Each waiting file also checks, without a request. Once in this time the first of them is tried, because the list may
 * lack a name that works.
 */
const fileWaitsMs = 60 * 60_000;

export type ServiceNames = ReturnType<typeof createServiceNames>;

/**
 * Which channels and feeds the service has. dropcast reads the lists at a start and a reload, when the service refuses
 * something that names one, and while files wait for one. A list alone holds nothing back, because it may be wrong: a
 * file whose name is not listed is tried, and once the service refuses it too, the other files wait as a group, without
 * a request of their own.
 */
export function createServiceNames({ library, clock, events, back, ringAt }: NamesWorld) {
  const lists = new Map<NameKind, readonly string[]>();
  /** The last lookup after a refusal, by kind. */
  const refusals = new Map<NameKind, { readonly at: number; readonly answer: Promise<Answer<readonly string[]>> }>();
  const unknown = new Map<string, UnknownName>();
  /** When the service last refused each name, on the monotonic clock. Other unknown names are tried. */
  const refusedAt = new Map<string, number>();
  /** Names that are not listed, and that the service nevertheless accepts. */
  const proven = new Set<string>();
  /** When a file or feed last waited for each name. */
  const wantedAt = new Map<string, number>();
  let used: NamesOfService = { channel: [], feed: [] };
  /** The lists could not be read at the start; a service without such lists is not asked again. */
  let isOwed = false;
  let isDueNow = false;
  let lookAt = Infinity;

  const keyOf = (kind: NameKind, name: string): string => `${kind} ${name}`;

  const become = (kind: NameKind, name: string): void => {
    if (unknown.has(keyOf(kind, name))) return;
    unknown.set(keyOf(kind, name), { kind, name, since: clock.now() });
    events.emit({ type: 'name', kind, name, isKnown: false });
  };

  const isThere = ({ kind, name }: UnknownName): void => {
    const key = keyOf(kind, name);
    unknown.delete(key);
    wantedAt.delete(key);
    refusedAt.delete(key);
    events.emit({ type: 'name', kind, name, isKnown: true });
    back();
  };

  const learn = (kind: NameKind, names: readonly string[]): void => {
    lists.set(kind, names);
    for (const one of unknown.values()) if (one.kind === kind && names.includes(one.name)) isThere(one);
    for (const name of used[kind]) if (!names.includes(name) && !proven.has(keyOf(kind, name))) become(kind, name);
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

  /** Whether anything waits for a name. */
  const isWanted = (): boolean => {
    const lately = clock.elapsed() - fileWaitsMs - lookAgainMs;
    return [...unknown.keys()].some((key) => (wantedAt.get(key) ?? -Infinity) >= lately);
  };

  const whyNot = (kind: NameKind, name: string): Failure | null => {
    const key = keyOf(kind, name);
    if (!unknown.has(key)) return null;
    wantedAt.set(key, clock.elapsed());
    if (lookAt === Infinity) planNext();
    const isRefused = clock.elapsed() - (refusedAt.get(key) ?? -Infinity) < fileWaitsMs;
    return isRefused ? unknownName(kind, name) : null;
  };

  /** Forgets a name that no rule uses and no file has waited for lately, until a file is refused for it again. */
  const forget = (): void => {
    const lately = clock.elapsed() - 2 * fileWaitsMs;
    for (const [key, { kind, name }] of unknown)
      if (!used[kind].includes(name) && (wantedAt.get(key) ?? -Infinity) < lately) {
        unknown.delete(key);
        refusedAt.delete(key);
      }
  };

  return {
    /** The configuration changed; null: its service did not send its lists. */
    change: (names: NamesOfService, said: NamesOfService | null): void => {
      used = names;
      // The new configuration may name another service.
      proven.clear();
      isOwed = said === null;
      if (said !== null) learn('channel', said.channel);
      if (said !== null) learn('feed', said.feed);
      planNext();
    },
    /** Asks for both lists. Names of the configuration that are in neither are unknown from then on. */
    ask: async (names: NamesOfService, signal: AbortSignal): Promise<Answer<NamesOfService>> => {
      used = names;
      const answer = await askForBoth(signal);
      isOwed = !answer.ok && (signal.aborted || mayPass.has(answer.failure.kind));
      planNext();
      return answer;
    },
    /** Why nothing can go there at present; null: no known reason. */
    whyNot,
    /**
     * The service refused a request with this name. @returns why nothing can go there; null when the service has the
     * name, or does not say
     */
    refused: async (
      { kind: failed, status }: Failure,
      { kind, name }: { readonly kind: NameKind; readonly name: string },
      signal: AbortSignal,
    ): Promise<Failure | null> => {
      const isAnswer = failed === 'gone' || failed === 'permanent' || status === 404;
      // The list is wrong about this name, so the name is not to blame.
      if (!isAnswer || proven.has(keyOf(kind, name))) return null;
      // The list read at the start may be months old.
      const last = refusals.get(kind);
      const isRecent = last !== undefined && clock.elapsed() - last.at < refusedAgainMs;
      const asked = isRecent ? last : { at: clock.elapsed(), answer: askFor(kind, signal) };
      refusals.set(kind, asked);
      const answer = await asked.answer;
      if (!answer.ok || answer.value.includes(name)) return null;
      become(kind, name);
      refusedAt.set(keyOf(kind, name), clock.elapsed());
      return whyNot(kind, name);
    },
    /** The service accepted this name, whatever its list says. */
    worked: (kind: NameKind, name: string): void => {
      const one = unknown.get(keyOf(kind, name));
      if (one === undefined) return;
      proven.add(keyOf(kind, name));
      isThere(one);
    },
    /** The service answers again: the missing lists are read. */
    serviceBack: (): void => {
      isDueNow = isOwed || isWanted();
    },
    isDue: (): boolean => isDueNow || lookAt <= clock.elapsed(),
    /** Checks whether the lists have changed. */
    look: async (signal: AbortSignal): Promise<void> => {
      isDueNow = false;
      const kinds = new Set([...unknown.values()].map(({ kind }) => kind));
      if (isOwed) isOwed = !(await askForBoth(signal)).ok;
      else for (const kind of kinds) await askFor(kind, signal);
      planNext();
    },
    unknown: (): readonly UnknownName[] => [...unknown.values()],
    /** The lists as the service last sent them; null: never. */
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
