import type { NewsKind } from './target.ts';
import type { Message } from './message.ts';

/** Something that is wrong as long as it lasts: a folder that is away, a key that is refused. */
export interface Trouble {
  readonly cause: string;
  readonly kind: NewsKind;
  /** Lasts so long before anybody is told. */
  readonly holdMs: number;
  readonly title: string;
  readonly body: string;
  /** Said when it is over. */
  readonly overTitle: string;
  /** When this changes, it is told again: missing, late. */
  readonly stage?: string;
  /** The hosts that saw it last, of a trouble that is not of one host; absent on a single host. */
  readonly seenBy?: readonly string[];
}

/** What is remembered of it, over restarts. Times are epoch milliseconds. */
export interface Condition {
  readonly trouble: Trouble;
  readonly isOn: boolean;
  /** When it began, or ended. */
  readonly changedAt: number;
  /** The stage that people know of; null: they know of nothing. */
  readonly told: string | null;
  /** When they were told, in the last hour. */
  readonly tellings: readonly number[];
}

/** By cause. */
export type Conditions = Readonly<Record<string, Condition>>;

/** Pure: what is remembered after a look at what is wrong now. A cause that `isKnown` says nothing about stays as it is. */
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

/** Over for so long before anybody is told, so that what comes right back is no news. */
const settledMs = minuteMs;

/** The same for what came back again and again in the last hour. */
const flappingMs = 15 * minuteMs;
const flaps = 3;

/** Pure: whether something of these kinds is wrong that people know of, or would know of if they could be told. */
export function lastsAny(conditions: Conditions, kinds: ReadonlySet<NewsKind>, now: number): boolean {
  return Object.values(conditions).some(
    ({ trouble, isOn, told, changedAt }) =>
      kinds.has(trouble.kind) && (told !== null || (isOn && lasted(changedAt, now) >= trouble.holdMs)),
  );
}

/** A clock that was set back must not make anybody wait. */
function lasted(since: number, now: number): number {
  return now < since ? Infinity : now - since;
}

/** Pure: what is to be told now, and what is remembered then. Only what was told is over. */
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
    // What is over stays until nobody can take its return for something new.
    if (after.isOn || after.told !== null || after.tellings.length > 0) next[cause] = after;
  }
  return { conditions: next, messages };
}

/** While one of these lasts, nothing is sent, whatever else is over. */
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
