import { feedsOf } from '../../view/outlook.ts';
import type { Daemon } from '../../daemon/daemon.ts';
import type { DropcastEvent } from '../../pipeline/events.ts';
import type { Facts } from '../../pipeline/file/facts.ts';

/** Counters since the daemon started. */
export interface Counted {
  /** Files by outcome. */
  readonly finished: Tally;
  /** Failures by class. */
  readonly failures: Tally;
  /** Requests by operation and code. */
  readonly requests: Tally;
  /** Step durations by step and outcome. */
  readonly steps: Durations;
  /** Publishes by feed and outcome. */
  readonly publishes: Tally;
  /** Maps each watched folder to when a complete file was last found in it, in epoch seconds. */
  readonly lastFound: ReadonlyMap<string, number>;
}

/**
 * Counts events. All counters start at 0 with the daemon, as Prometheus allows. They are plain numbers: the formatting
 * library (55 ms of CPU, 14 MB) is loaded at the first scrape.
 */
export function countEvents(daemon: Pick<Daemon, 'events' | 'config'>): Counted {
  const lastFound = new Map<string, number>();
  const counted = {
    finished: new Tally(),
    failures: new Tally(),
    requests: new Tally(),
    steps: new Durations(),
    publishes: new Tally(),
    lastFound,
  };
  for (const outcome of ['done', 'failed', 'held', 'skipped']) counted.finished.add({ outcome }, 0);
  for (const step of ['create', 'upload', 'processing', 'publish']) counted.steps.expect({ step, outcome: 'ok' });
  daemon.events.listen((event) => {
    switch (event.type) {
      case 'file':
        return ofFile(event, counted);
      case 'failure':
        return counted.failures.add({ class: event.failure.kind });
      case 'request':
        return ofRequest(event, counted);
      case 'feed': {
        // A sidecar may name any feed.
        const feed = feedsOf(daemon.config()).has(event.feed) ? event.feed : 'other';
        return counted.publishes.add({ feed, outcome: outcomeOf(event.failure === null) });
      }
      case 'arrival':
        for (const { path } of daemon.config().folders)
          if (event.path.startsWith(`${path}/`)) lastFound.set(path, Date.now() / 1_000);
        return undefined;
      default:
        return undefined;
    }
  });
  return counted;
}

function ofFile({ before, facts }: Extract<DropcastEvent, { type: 'file' }>, { finished, steps }: Counted): void {
  if (facts.end !== null && facts.end !== before?.end) finished.add({ outcome: facts.end });
  const processing = processingOf(before, facts);
  if (processing !== null)
    steps.add({ step: 'processing', outcome: outcomeOf(processing.isReady) }, processing.ms / 1_000);
}

function ofRequest(event: Extract<DropcastEvent, { type: 'request' }>, { requests, steps: durations }: Counted): void {
  const { operation, status, ms } = event;
  requests.add({ operation, code: status ?? 'none' });
  const step = steps.get(operation);
  const isOk = status !== null && status >= 200 && status < 300;
  if (step !== undefined) durations.add({ step, outcome: outcomeOf(isOk) }, ms / 1_000);
}

function outcomeOf(isOk: boolean): 'ok' | 'failed' {
  return isOk ? 'ok' : 'failed';
}

/** States reported by the gauge. All are always present, so that an alert never waits for one to appear. */
export const fileStates = [
  'settling',
  'queued',
  'uploading',
  'processing',
  'awaiting publish',
  'retrying',
  'done',
  'failed',
  'held',
  'skipped',
] as const;

/** Types of targets that receive messages. */
export const targetTypes = ['webhook', 'ntfy', 'email', 'command'] as const;

/**
 * Returns how long the service took, in milliseconds, if processing finished or failed in this change; otherwise null.
 * Pure.
 */
function processingOf(before: Facts | null, facts: Facts): { readonly ms: number; readonly isReady: boolean } | null {
  if (before === null || before.readyAt !== null || before.uploadedAt === null) return null;
  const since = before.processingSince ?? before.uploadedAt;
  if (facts.readyAt !== null) return { ms: Math.max(0, facts.readyAt - since), isReady: true };
  const hasFailed = facts.end === 'failed' && before.end === null && facts.endedAt !== null;
  return hasFailed ? { ms: Math.max(0, facts.endedAt - since), isReady: false } : null;
}

const steps: ReadonlyMap<string, string> = new Map([
  ['create video', 'create'],
  ['upload file', 'upload'],
  ['publish feed', 'publish'],
]);

type Labels = Readonly<Record<string, string | number>>;

/** Counts events by labels. */
export class Tally {
  readonly #counts = new Map<string, { readonly labels: Labels; count: number }>();

  add(labels: Labels, count = 1): void {
    const key = JSON.stringify(labels);
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { labels, count });
    else known.count += count;
  }

  list(): readonly { readonly labels: Labels; readonly count: number }[] {
    return [...this.#counts.values()];
  }
}

/** Durations with the same labels. */
export interface Times {
  readonly labels: Labels;
  readonly count: number;
  readonly sumSeconds: number;
  /** For each bucket, the number of durations above the previous bucket's bound and up to this one's. */
  readonly inBucket: readonly number[];
}

/** Bucket bounds in seconds: from a request answered immediately to an overnight upload. */
export const buckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200];

export class Durations {
  readonly #times = new Map<string, { labels: Labels; count: number; sumSeconds: number; inBucket: number[] }>();

  /** Makes `list` include these labels even if no duration is ever added. */
  expect(labels: Labels): void {
    this.#timesOf(labels);
  }

  add(labels: Labels, seconds: number): void {
    const times = this.#timesOf(labels);
    times.count += 1;
    times.sumSeconds += seconds;
    const bucket = buckets.findIndex((most) => seconds <= most);
    if (bucket >= 0) times.inBucket[bucket] = (times.inBucket[bucket] ?? 0) + 1;
  }

  list(): readonly Times[] {
    return [...this.#times.values()];
  }

  #timesOf(labels: Labels) {
    const key = JSON.stringify(labels);
    const known = this.#times.get(key);
    if (known !== undefined) return known;
    const times = { labels, count: 0, sumSeconds: 0, inBucket: buckets.map(() => 0) };
    this.#times.set(key, times);
    return times;
  }
}
