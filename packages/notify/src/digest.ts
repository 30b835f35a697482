import type { Envelope, Message } from './message.ts';
import type { OutboxRow } from './outbox.ts';
import type { DayWindow } from './target.ts';

/** The clock on the wall of this machine. Times are epoch milliseconds. */
export interface LocalClock {
  /** `14:20`, or with its day when that is another one than now. */
  timeOf(at: number, now: number): string;
  isInWindow(window: DayWindow, at: number): boolean;
}

/** Messages of one digest that it shows. */
const mostShown = 20;

/** More than these become a digest. */
const mostAlone = 3;

/** A message, and the rows of the outbox that it is for. */
export interface Batch {
  readonly seqs: readonly number[];
  readonly envelope: Envelope;
}

/**
 * Pure: what to send next to a target: its oldest message; or a digest of all, when many wait, when several are of one cause, or when
 * they are from its quiet hours. What was sent before without an answer comes first, and as it was.
 *
 * @param rows what waits, oldest first; at least one
 * @param world.dropped older messages that the outbox could not keep
 * @param world.id of the ledger, for ids that differ from machine to machine
 * @param world.host that sends it
 * @param world.page address of its page, if other machines know one
 * @param world.clock of this machine
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
  // What may have arrived is sent again as it was, whatever came after it: who has it already knows it by its id.
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
      ...(page !== undefined && { page }),
      id: [id, oldest.seq, ...seqs.slice(1).slice(-1)].join('-'),
      isRepeat,
    },
  };
}

function digestOf(messages: readonly Message[], now: number, clock: LocalClock): Message {
  // What needs a person is not hidden by all that went well after it.
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
