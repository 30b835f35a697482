import type { Daemon } from '../../daemon/daemon.ts';
import type { Facts } from '../../pipeline/file/facts.ts';

type Config = ReturnType<Daemon['config']>;

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

/** Returns how a file ended in this change; null when it did not end. Pure. */
export function endOf(before: Facts | null, facts: Facts): string | null {
  return facts.end !== null && facts.end !== before?.end ? facts.end : null;
}

/**
 * Returns how long the service took, in milliseconds, if processing finished or failed in this change; otherwise null.
 * Pure.
 */
export function processingOf(
  before: Facts | null,
  facts: Facts,
): { readonly ms: number; readonly isReady: boolean } | null {
  if (before === null || before.readyAt !== null || before.uploadedAt === null) return null;
  const since = before.processingSince ?? before.uploadedAt;
  if (facts.readyAt !== null) return { ms: Math.max(0, facts.readyAt - since), isReady: true };
  const hasFailed = facts.end === 'failed' && before.end === null && facts.endedAt !== null;
  return hasFailed ? { ms: Math.max(0, facts.endedAt - since), isReady: false } : null;
}

/** Returns the file step that a request belongs to, or null. */
export function stepOf(operation: string): string | null {
  return steps.get(operation) ?? null;
}

const steps: ReadonlyMap<string, string> = new Map([
  ['create video', 'create'],
  ['upload file', 'upload'],
  ['publish feed', 'publish'],
]);

/** Returns the feed's label. Only configured feeds have their own, because a sidecar may name any feed. */
export function feedLabel(feed: string, config: Pick<Config, 'folders'>): string {
  return feedsOf(config).has(feed) ? feed : 'other';
}

/** Returns the feeds that the rules in a configuration name. */
export function feedsOf({ folders }: Pick<Config, 'folders'>): ReadonlySet<string> {
  return new Set(folders.flatMap(({ rules }) => rules.flatMap(({ publish }) => publish)));
}
