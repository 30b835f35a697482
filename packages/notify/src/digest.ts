import type { Envelope, Message } from './message.ts';
import type { LocalClock, OutboxRow } from './ports.ts';
import type { DayWindow } from './target.ts';

/** Maximum number of messages that a digest lists. */
const mostShown = 20;

/** Maximum number of waiting messages that are sent one by one. Above this they become a digest. */
const mostAlone = 3;

/** A message, with the outbox rows that it covers. */
interface Batch {
  readonly seqs: readonly number[];
  readonly envelope: Envelope;
}

/**
 * Returns the next message for a target: the oldest one, or a digest of all if many are waiting, several share a cause,
 * or some are from the target's quiet hours. A message that was sent without an answer comes first, unchanged. Pure.
 *
 * @param rows waiting messages, oldest first; at least one
 * @param world.dropped number of older messages that the outbox could not keep
 * @param world.id id of the outbox, which makes message ids unique across machines
 * @param world.host name of the sending host
 * @param world.page address of the host's status page, if other machines can reach it
 * @param world.clock local clock of this machine
 */
export function nextBatch(
  rows: readonly OutboxRow[],
  world: {
    readonly quiet: DayWindow | null;
    readonly dropped: number;
    readonly now: number;
    readonly id: string;
    readonly host: string;
    readonly page?: string | undefined;
    readonly clock: LocalClock;
  },
): Batch {
  const { quiet, dropped, now, id, host, page, clock } = world;
  const causes = rows.map(({ message }) => (message as Message).cause);
  const isOfQuiet = quiet !== null && rows.some(({ at }) => clock.isInWindow(quiet, at));
  const areOfOneCause = new Set(causes).size < causes.length;
  const isMuch = rows.length > mostAlone || (rows.length > 1 && (isOfQuiet || areOfOneCause));
  const [oldest] = rows;
  if (oldest === undefined) throw new Error('no message waits');
  // A message that may have arrived is repeated unchanged, even if others have followed, because receivers recognise it
  // by its id.
  const isRepeat = oldest.triedAt !== null;
  const taken = isRepeat ? rows.filter(({ triedAt }) => triedAt === oldest.triedAt) : isMuch ? rows : [oldest];
  const isDigest = taken.length > 1;
  const messages = taken.map(({ message }) => message as Message);
  const message = isDigest ? digestOf(messages, now, clock) : (oldest.message as Message);
  const seqs = taken.map(({ seq }) => seq);
  return {
    seqs,
    envelope: {
      ...message,
      body: withDropped(message.body, dropped),
      host,
      ...(page !== undefined && { page: `${page}${message.view ?? ''}` }),
      id: [id, oldest.seq, ...seqs.slice(1).slice(-1)].join('-'),
      isRepeat,
    },
  };
}

function digestOf(messages: readonly Message[], now: number, clock: LocalClock): Message {
  // Successes must not push problems out of the list.
  const bad = messages.filter(({ level }) => level === 'warn').slice(-mostShown);
  const good = messages.filter(({ level }) => level !== 'warn').slice(bad.length - mostShown || messages.length);
  const shown = new Set([...bad, ...good]);
  const lines = messages.filter((each) => shown.has(each)).map(({ at, title }) => `${clock.timeOf(at, now)}  ${title}`);
  const hidden = messages.length - lines.length;
  const isBad = messages.some(({ level }) => level === 'warn');
  return {
    type: 'digest',
    level: isBad ? 'warn' : 'info',
    title: `${messages.length} messages from dropcast`,
    body: [...(hidden > 0 ? [`${hidden} other messages are not shown.`] : []), ...lines].join('\n'),
    cause: 'digest',
    at: now,
    count: messages.length,
    files: [],
  };
}

function withDropped(body: string, dropped: number): string {
  if (dropped === 0) return body;
  const line = `And ${dropped} older ${dropped === 1 ? 'message was' : 'messages were'} dropped.`;
  return body === '' ? line : `${body}\n${line}`;
}
