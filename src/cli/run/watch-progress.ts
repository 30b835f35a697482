import type { Daemon } from '../../daemon/daemon.ts';
import { viewOf } from '../../daemon/files/file-view.ts';
import { createsWait } from '../../view/words/waiting-words.ts';
import { uploadsStart } from '../../daemon/outlook/upload-times.ts';
import type { UploadTimes } from '../../daemon/outlook/upload-times.ts';
import type { Summary } from '../../daemon/summary.ts';
import { RunTally } from './run-tally.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { folderAway } from '../../pipeline/pause.ts';
import type { Conductor } from '../../pipeline/conductor.ts';
import type { FileView } from '../../daemon/files/file-view.ts';
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { lineStream } from '../output/permanent-line.ts';
import { createProgress } from '../output/progress.ts';
import type { Progress, ProgressView } from '../output/progress-view.ts';
import type { Shell } from '../shell.ts';

/** How often the progress is updated, milliseconds. */
const everyMs = 200;

/** Files shown that wait and have not changed; the others are only counted. */
const mostWaiting = 20;

/** More than any run has. */
const allFiles = 10_000_000;

/** Why it ended. `stuck`: key, account, disk or network, which only a person can fix. */
export type WatchEnd = { readonly is: 'idle' | 'stopped' } | { readonly is: 'stuck'; readonly why: string };

/**
 * Shows the progress of a daemon in this process until it is idle, needs a person, or the command is stopped.
 *
 * @param since counts only files that arrived or ended at or after this time (epoch milliseconds), or have not ended
 * @param offlineMs how long to wait for an unreachable service, milliseconds
 */
export async function watchUntilIdle(
  daemon: Daemon,
  progress: Progress,
  shell: Shell,
  { since, offlineMs }: { readonly since: number; readonly offlineMs: number },
): Promise<WatchEnd> {
  const report = pauseReporter((text) => progress.line(text));
  const tally = new RunTally(since);
  const stopListening = daemon.events.listen((event) => tally.note(event));
  try {
    tally.begin(await daemon.ledger.list({ since, limit: allFiles }));
    while (!shell.stopping.aborted) {
      progress.update(progressOf(daemon, tally));
      if (await daemon.isIdle()) {
        await catchUp(tally, daemon);
        progress.update(progressOf(daemon, tally));
        return { is: 'idle' };
      }
      const why = daemon.folders.isSettling() ? null : whyAway(tally.active(), daemon.folders.status());
      if (why !== null) return { is: 'stuck', why };
      const wait = waitOf({ ...daemon.conductor, startAt: daemon.times.startAt }, await daemon.summary(), offlineMs);
      report(wait);
      if (wait?.isStuck === true) return { is: 'stuck', why: wait.why };
      await sleep(everyMs, shell.stopping);
    }
    return { is: 'stopped' };
  } finally {
    stopListening();
    progress.finish();
  }
}

/** News comes after its row is written: of the last ones it may be still to come. */
async function catchUp(tally: RunTally, { ledger }: Pick<Daemon, 'ledger'>): Promise<void> {
  for (const before of tally.active()) {
    const facts = await ledger.load(before.id);
    if (facts !== null) tally.note({ type: 'file', before, facts, note: null });
  }
}

/** Why no file can go on, when each of them waits for a folder that is frozen; else null. */
export function whyAway(
  active: Iterable<Facts>,
  folders: readonly { readonly path: string; readonly state: string; readonly why: string | null }[],
): string | null {
  const frozen = new Map(folders.filter(({ state }) => state === 'frozen').map((folder) => [folder.path, folder]));
  if (frozen.size === 0) return null;
  const waitedFor = new Set<string>();
  for (const facts of active) {
    const { folder, lastFailure } = facts;
    if (stateOf(facts) !== 'retrying' || lastFailure?.code !== folderAway || !frozen.has(folder)) return null;
    waitedFor.add(folder);
  }
  if (waitedFor.size === 0) return null;
  return [...waitedFor].map((path) => `${path} was left alone: ${frozen.get(path)?.why ?? ''}`).join('\n');
}

/**
 * What is waited for, or null. `isStuck`: a person must fix it, or it takes longer than the command is to wait.
 *
 * @param offlineMs how long to wait for an unreachable service, milliseconds
 */
export function waitOf(
  conductor: Pick<Conductor, 'pause' | 'createsWaitUntil'> & Pick<UploadTimes, 'startAt'>,
  {
    uploading,
    queued,
    processing,
    awaitingPublish,
  }: Pick<Summary, 'uploading' | 'queued' | 'processing' | 'awaitingPublish'>,
  offlineMs: number,
): { readonly why: string; readonly isStuck: boolean } | null {
  const isAllElseDone = uploading + processing + awaitingPublish === 0;
  const pause = conductor.pause();
  if (pause !== null) {
    const isTooLong = Date.now() - pause.since > offlineMs && (pause.holds === 'everything' || isAllElseDone);
    return { why: pause.why, isStuck: pause.kind === 'suspended' || isTooLong };
  }
  const startAt = conductor.startAt();
  if (startAt !== null && queued > 0)
    return { why: uploadsStart(startAt, Date.now()), isStuck: isAllElseDone && startAt - Date.now() > offlineMs };
  const until = conductor.createsWaitUntil();
  if (until === null) return null;
  return { why: createsWait(until), isStuck: isAllElseDone && until - Date.now() > offlineMs };
}

/** Reports once that everything waits, and again when the reason changes or the waiting starts again. */
export function pauseReporter(line: (text: string) => void): (pause: { readonly why: string } | null) => void {
  let reported: string | null = null;
  return (pause) => {
    const why = pause?.why ?? null;
    if (why !== null && why !== reported) line(`Waiting: ${escapeControls(why)}`);
    reported = why;
  };
}

/** The progress display on stderr, and a stream for log lines that appear above it. */
export function openProgress(shell: Shell): { readonly progress: Progress; readonly lines: NodeJS.WritableStream } {
  const progress = createProgress({
    stream: shell.stderr,
    isTerminal: shell.stderr.isTTY,
    now: () => performance.now(),
    env: shell.env,
  });
  return { progress, lines: lineStream(progress) };
}

function progressOf(daemon: Daemon, tally: RunTally): ProgressView {
  const settling = daemon.folders.settling();
  const files = shownOf(daemon, tally);
  const { sentBytes, totalBytes, total, ...counts } = tally.totals();
  const gate = daemon.gate.snapshot();
  return {
    files: [...settling.slice(0, mostWaiting).map(settlingProgress), ...files.map(fileProgress)],
    more:
      Math.max(0, settling.length - mostWaiting) +
      tally.active().size -
      files.filter(({ times }) => times.ended === null).length,
    totals: {
      ...counts,
      total: total + settling.length,
      sentBytes: sentBytes + sum(daemon.conductor.uploads().map((upload) => upload.sentBytes)),
      totalBytes: totalBytes + sum(settling.map(({ size }) => size)),
    },
    requests: { used: gate.used, limit: gate.limit, waitingUntil: monotonic(gate.blockedUntil) },
  };
}

/** Files that changed since the last frame or that a step works on, and the first of those that wait: in the order in which they came. */
function shownOf(daemon: Daemon, tally: RunTally): readonly FileView[] {
  const active = tally.active();
  const shown = new Map(tally.takeChanged().map((facts) => [facts.id, facts]));
  for (const id of daemon.rows.held()) {
    const facts = active.get(id);
    if (facts !== undefined) shown.set(id, facts);
  }
  let waiting = 0;
  for (const facts of active) {
    if (waiting === mostWaiting) break;
    if (!shown.has(facts.id)) shown.set(facts.id, facts);
    waiting += 1;
  }
  const byArrival = [...shown.values()].toSorted((one, other) => one.discoveredAt - other.discoveredAt);
  return byArrival.map((facts) => viewOf(daemon, facts));
}

/** Converts a wall-clock time to the monotonic clock of the display; null when it has passed. */
function monotonic(at: number): number | null {
  return at > Date.now() ? performance.now() + at - Date.now() : null;
}

function settlingProgress({
  path,
  size,
  why,
}: {
  path: string;
  size: number;
  why: string;
}): ProgressView['files'][number] {
  return { id: path, name: basename(path), state: 'settling', sentBytes: 0, sizeBytes: size, why };
}

function fileProgress(file: FileView): ProgressView['files'][number] {
  return {
    id: file.id,
    name: basename(file.path),
    state: file.state,
    sentBytes: sentOf(file),
    sizeBytes: file.size,
    why: file.why,
  };
}

function sentOf({ times, sent, size }: FileView): number {
  return times.uploaded === null ? (sent ?? 0) : size;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Resolves when the time is over or the signal fires. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
