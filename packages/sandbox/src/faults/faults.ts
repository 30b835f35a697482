import type { Clock } from '../clock.ts';
import type { Events } from '../events.ts';
import type { Fate } from '../lifecycle.ts';
import { seededFraction } from '../seeded-random.ts';
import type { FaultRule, FaultOf } from './fault-rule.ts';

interface FaultParts {
  readonly clock: Clock;
  readonly events: Events;
  /** Seed for the draws: the same seed, rules and calls give the same faults. */
  readonly seed: number;
  /** Returns the video's channel, or '' for an unknown video. */
  readonly channelOf: (videoId: string) => string;
}

/** An active rule, and how often it has matched and hit. */
export interface Fault {
  readonly id: string;
  readonly rule: FaultRule;
  readonly expiresAtMs: number | null;
  /** Number of matching calls that no earlier rule hit. */
  readonly calls: number;
  readonly applied: number;
}

/**
 * The active faults. Rules are tried in the order in which they were added. The first that hits takes the call, and
 * later rules never see it, so several one-shot rules hit one call each. A restart clears the rules.
 */
export class Faults {
  readonly #parts: FaultParts;
  #faults: Mutable<Fault>[] = [];
  #lastNumber = 0;

  /**
   * @param parts clock for expiry, events for changes, seed for draws, and a lookup of a video's channel for
   *   `channel_id`
   */
  constructor(parts: FaultParts) {
    this.#parts = parts;
  }

  add(rule: FaultRule): Fault {
    const expiresAtMs = rule.ttl_ms === undefined ? null : this.#parts.clock.nowMs() + rule.ttl_ms;
    this.#lastNumber += 1;
    const fault = { id: `fault_${this.#lastNumber}`, rule, expiresAtMs, calls: 0, applied: 0 };
    this.#faults.push(fault);
    this.#changed(fault.id);
    return { ...fault };
  }

  replace(rules: readonly FaultRule[]): Fault[] {
    this.clear();
    return rules.map((rule) => this.add(rule));
  }

  /** Lists the faults in the order in which they are tried. */
  list(): Fault[] {
    return this.#inForce().map((fault) => ({ ...fault }));
  }

  /** @returns false if no fault has this id */
  remove(id: string): boolean {
    const rest = this.#faults.filter((fault) => fault.id !== id);
    const isKnown = rest.length < this.#faults.length;
    this.#faults = rest;
    if (isKnown) this.#changed(id);
    return isKnown;
  }

  clear(): void {
    if (this.#faults.length === 0) return;
    this.#faults = [];
    this.#changed('');
  }

  /** Removes all rules, and restarts numbering and random draws. */
  reset(): void {
    this.clear();
    this.#lastNumber = 0;
  }

  /** Whether any rule could hit a request for this operation, and whether that depends on the request's channel. */
  interestIn(operation: string): 'none' | 'any channel' | 'the channel' {
    const could = this.#inForce().filter(
      ({ rule }) => !isFate(rule) && (rule.operation === '*' || rule.operation === operation),
    );
    if (could.length === 0) return 'none';
    return could.some(({ rule }) => rule.channel_id !== undefined) ? 'the channel' : 'any channel';
  }

  /** Returns the fault that hits this request, and counts it as applied. */
  take(call: Call): Fault | undefined {
    return this.#take(call, (rule) => !isFate(rule));
  }

  /** Returns the outcome that a fault imposes on this video's processing, if any. */
  fateOf(videoId: string): Fate | undefined {
    const call = { operation: 'processing', videoId, channelId: this.#parts.channelOf(videoId) };
    const rule = this.#take(call, isFate)?.rule;
    if (!rule || !isFate(rule)) return undefined;
    return rule.kind === 'stuck_processing' ? 'stuck' : { code: rule.code, message: rule.message };
  }

  #take(call: Call, isConcerned: (rule: FaultRule) => boolean): Fault | undefined {
    const hit = this.#inForce().find((fault) => isConcerned(fault.rule) && this.#hits(fault, call));
    if (!hit) return undefined;
    hit.applied += 1;
    this.#changed(hit.id);
    return { ...hit };
  }

  #hits(fault: Mutable<Fault>, call: Call): boolean {
    if (!isMatch(fault.rule, call)) return false;
    fault.calls += 1;
    const draw = seededFraction(this.#parts.seed, ['fault', fault.id, fault.calls]);
    return isDue(fault.rule, fault.calls, { applied: fault.applied, draw });
  }

  /** Drops expired rules and returns the rest. */
  #inForce(): Mutable<Fault>[] {
    const nowMs = this.#parts.clock.nowMs();
    const isOver = ({ expiresAtMs }: Fault) => expiresAtMs !== null && expiresAtMs <= nowMs;
    const over = this.#faults.filter(isOver);
    if (over.length === 0) return this.#faults;
    this.#faults = this.#faults.filter((fault) => !isOver(fault));
    for (const { id } of over) this.#changed(id);
    return this.#faults;
  }

  #changed(id: string): void {
    this.#parts.events.emit('faults.changed', id);
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A call as it arrives. Ids are '' where the call names none. */
export interface Call {
  readonly operation: string;
  readonly videoId: string;
  readonly channelId: string;
}

export function isMatch(rule: FaultRule, { operation, videoId, channelId }: Call): boolean {
  return (
    (rule.operation === '*' || rule.operation === operation) &&
    (rule.video_id === undefined || rule.video_id === videoId) &&
    (rule.channel_id === undefined || rule.channel_id === channelId)
  );
}

/**
 * Whether a rule hits its matching call number `callNumber` (from 1), after hitting `applied` calls before. Pure.
 * @param draw a fraction in [0, 1) for this call
 */
export function isDue(
  rule: FaultRule,
  callNumber: number,
  { applied, draw }: { applied: number; draw: number },
): boolean {
  const { nth, times = nth === undefined ? Infinity : 1, probability = 1 } = rule;
  return callNumber >= (nth ?? 1) && applied < times && draw < probability;
}

/** Whether the fault affects a video's processing rather than a request. */
function isFate(rule: FaultRule): rule is FaultOf<'stuck_processing' | 'failed_processing'> {
  return rule.kind === 'stuck_processing' || rule.kind === 'failed_processing';
}
