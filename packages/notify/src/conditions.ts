import type { NewsKind } from './target.ts';
import type { Message } from './message.ts';

/** A lasting problem, such as an unavailable folder or a refused key. */
export interface Trouble {
  readonly cause: string;
  readonly kind: NewsKind;
  /** How long the trouble must last before targets are notified. */
  readonly holdMs: number;
  readonly title: string;
  readonly body: string;
  /** Title of the message sent when the trouble is over. */
  readonly overTitle: string;
  /** The current stage, such as missing or late. A change of stage sends another message. */
  readonly stage?: string;
  /** Hosts that last saw this trouble, if it belongs to no single host; absent without a fleet. */
  readonly seenBy?: readonly string[];
}

/** The state of a trouble, kept across restarts. Times are epoch milliseconds. */
interface Condition {
  readonly trouble: Trouble;
  readonly isOn: boolean;
  /** When the trouble began or ended. */
  readonly changedAt: number;
  /** Stage of the last message; null if none has been sent or the end has been announced. */
  readonly told: string | null;
  /** Times of the messages sent within the last hour. */
  readonly tellings: readonly number[];
}

/** Conditions by cause. */
export type Conditions = Readonly<Record<string, Condition>>;

/** Updates the conditions with the current troubles. Causes for which `isKnown` is false keep their state. Pure. */
export function looked(
  conditions: Conditions,
  troubles: readonly Trouble[],
  now: number,
  isKnown: (cause: string) => boolean = () => true,
): Conditions {
  const next: Record<string, Condition> = {};
  const present = new Map(troubles.map((trouble) => [trouble.cause, trouble]));
  for (const [cause, condition] of Object.entries(conditions)) {
    const trouble = present.get(cause);
    if (trouble !== undefined) next[cause] = on(condition, trouble, now);
    else if (isKnown(cause) && condition.isOn) next[cause] = { ...condition, isOn: false, changedAt: now };
    else next[cause] = condition;
  }
  for (const trouble of troubles)
    next[trouble.cause] ??= { trouble, isOn: true, changedAt: now, told: null, tellings: [] };
  return next;
}

function on(condition: Condition, trouble: Trouble, now: number): Condition {
  return { ...condition, trouble, isOn: true, changedAt: condition.isOn ? condition.changedAt : now };
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** How long a trouble must be over before its end is announced, so that a short gap sends no message. */
const settledMs = minuteMs;

/** Like `settledMs`, for a trouble that has returned repeatedly within the last hour. */
const flappingMs = 15 * minuteMs;
const flaps = 3;

/** Whether a trouble of one of these kinds has been announced, or has lasted long enough to be. Pure. */
export function lastsAny(conditions: Conditions, kinds: ReadonlySet<NewsKind>, now: number): boolean {
  return Object.values(conditions).some(
    ({ trouble, isOn, told, changedAt }) =>
      kinds.has(trouble.kind) && (told !== null || (isOn && lasted(changedAt, now) >= trouble.holdMs)),
  );
}

/** Returns the time since a change. A clock that was set back must not delay a message. */
function lasted(since: number, now: number): number {
  return now < since ? Infinity : now - since;
}

/**
 * Returns the messages that are due now and the updated conditions. An end is announced only for troubles that were
 * announced. Pure.
 */
export function toTell(
  conditions: Conditions,
  now: number,
): { readonly conditions: Conditions; readonly messages: readonly Message[] } {
  const next: Record<string, Condition> = {};
  const messages: Message[] = [];
  const stoppers = Object.values(conditions).filter(({ trouble, isOn }) => isOn && stopping.has(trouble.kind));
  for (const [cause, remembered] of Object.entries(conditions)) {
    const condition = { ...remembered, tellings: remembered.tellings.filter((at) => at <= now && now - at < hourMs) };
    const message = messageOf(condition, now, stoppers);
    if (message !== null) messages.push(message);
    const after = message === null ? condition : told(condition, now);
    // A finished condition is kept until its recurrence would count as a new trouble.
    if (after.isOn || after.told !== null || after.tellings.length > 0) next[cause] = after;
  }
  return { conditions: next, messages };
}

/** Kinds of trouble that stop all work while they last. */
export const stopping: ReadonlySet<NewsKind> = new Set(['paused', 'key_refused']);

function messageOf(condition: Condition, now: number, stoppers: readonly Condition[]): Message | null {
  const { trouble, isOn, changedAt, told, tellings } = condition;
  const last = tellings.at(-1);
  if (last !== undefined && now - last < minuteMs) return null;
  if (isOn) {
    if (told === stageOf(trouble)) return null;
    if (told === null && lasted(changedAt, now) < trouble.holdMs) return null;
    return {
      ...common(trouble, now),
      type: trouble.kind,
      level: 'warn',
      title: trouble.title,
      body: bodyOf(condition),
    };
  }
  if (told === null || lasted(changedAt, now) < (tellings.length >= flaps ? flappingMs : settledMs)) return null;
  return {
    ...common(trouble, now),
    type: 'recovered',
    of: trouble.kind,
    level: 'info',
    title: trouble.overTitle,
    body: stoppers.map((still) => `Still: ${still.trouble.title}.`).join('\n'),
  };
}

function common({ cause }: Trouble, at: number): Pick<Message, 'cause' | 'at' | 'count' | 'files'> {
  return { cause, at, count: 1, files: [] };
}

function bodyOf({ trouble, tellings }: Condition): string {
  const times = Math.ceil((tellings.length + 1) / 2);
  return times < flaps - 1
    ? trouble.body
    : `${trouble.body}\nThis is the ${ordinal(times)} time within an hour.`.trim();
}

function ordinal(n: number): string {
  return n === 2 ? 'second' : n === 3 ? 'third' : `${n}th`;
}

function told(condition: Condition, now: number): Condition {
  const { trouble, isOn, tellings } = condition;
  return { ...condition, told: isOn ? stageOf(trouble) : null, tellings: [...tellings, now] };
}

function stageOf({ stage = 'on' }: Trouble): string {
  return stage;
}
