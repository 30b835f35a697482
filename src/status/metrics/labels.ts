import type { Daemon } from '../../daemon/daemon.ts';
import type { Facts } from '../../pipeline/file/facts.ts';

type Config = ReturnType<Daemon['config']>;

/** The states of the gauge: all are always present, so that an alert never waits for one to appear. */
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

/** Types of targets that take messages. */
export const targetTypes = ['webhook', 'ntfy', 'email', 'command'] as const;

/** Pure: the end of a file in this change; null when it did not end. */
export function endOf(before: Facts | null, facts: Facts): string | null {
  return facts.end !== null && facts.end !== before?.end ? facts.end : null;
}

/**
 * Pure: how long the service took, in milliseconds, if this change says that it has finished, well or not; else null.
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

/** The step that a request is, if it is one of a file's way. */
export function stepOf(operation: string): string | null {
  return steps.get(operation) ?? null;
}

const steps: ReadonlyMap<string, string> = new Map([
  ['create video', 'create'],
  ['upload file', 'upload'],
  ['publish feed', 'publish'],
]);

/** Only feeds of the configuration have a label of their own: a sidecar may name any. */
export function feedLabel(feed: string, config: Pick<Config, 'folders'>): string {
  return feedsOf(config).has(feed) ? feed : 'other';
}

/** Feeds that the rules of a configuration name. */
export function feedsOf({ folders }: Pick<Config, 'folders'>): ReadonlySet<string> {
  return new Set(folders.flatMap(({ rules }) => rules.flatMap(({ publish }) => publish)));
}
