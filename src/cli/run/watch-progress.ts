import type { Daemon } from '../../daemon/daemon.ts';
import { viewOf } from '../../view/files/file-view.ts';
import { lastingWords, mainWait, waitWords, whyWords } from '../../view/waits.ts';
import type { Wait, WaitCause } from '../../view/waits.ts';
import { filesIn } from '../../view/stages.ts';
import type { Picture } from '../../view/picture/picture.ts';
import { RunTally } from './run-tally.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { folderAway } from '../../pipeline/pause.ts';
import type { FileView } from '../../view/files/file-view.ts';
import type { SettlingView } from '../../view/files/files-view.ts';
import { basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { whyOf } from '../output/file-table.ts';
import { createProgress, lineStream } from '../output/progress.ts';
import type { Progress } from '../output/progress.ts';
import type { FileProgress, ProgressView } from '../output/progress-view.ts';
import type { Shell } from '../shell.ts';

/** Interval between progress updates, in milliseconds. */
const everyMs = 200;

/** Maximum number of waiting files to show. The rest are only counted. */
const mostWaiting = 20;

/** Row limit that no run reaches. */
const allFiles = 10_000_000;

/**
 * Why watching ended. `stuck` means a problem with the key, account, disk or network that only the operator can fix.
 */
export type WatchEnd = { readonly is: 'idle' | 'stopped' } | { readonly is: 'stuck'; readonly why: string };

/**
 * Shows the progress of a daemon in this process until it is idle, needs the operator, or the command is stopped.
 *
 * @param since epoch milliseconds; counts only files that arrived or finished at or after this time, or are not
 *   finished
 * @param offlineMs how long to wait for an unreachable service, in milliseconds
 */
export async function watchUntilIdle(
  daemon: Daemon,
  progress: Progress,
  shell: Shell,
  { since, offlineMs }: { readonly since: number; readonly offlineMs: number },
): Promise<WatchEnd> {
  const report = waitReporter((text) => progress.line(text));
  const tally = new RunTally(since);
  const stopListening = daemon.events.listen((event) => tally.note(event));
  try {
    tally.begin(await daemon.ledger.rows({ group: 'any', where: { openSince: since }, limit: allFiles }));
    while (!shell.stopping.aborted) {
      progress.update(progressOf(daemon, tally));
      if (await daemon.isIdle()) {
        await catchUp(tally, daemon);
        progress.update(progressOf(daemon, tally));
        return { is: 'idle' };
      }
      const waits = daemon.waits();
      // The picture is read from the ledger only while something is blocked.
      const { stages, retrying } = waits.length === 0 ? { stages: [], retrying: { files: 0 } } : await daemon.picture();
      const why = daemon.folders.isSettling() ? null : whyAway(tally.active().values(), waits);
      if (why !== null) return { is: 'stuck', why };
      const wait = mainWait(waits, filesIn(stages, 'queued') + retrying.files);
      report(wait);
      if (wait !== null && isStuck(wait, stages, offlineMs))
        return { is: 'stuck', why: lastingWords(wait, Date.now()) };
      await sleep(everyMs, shell.stopping);
    }
    return { is: 'stopped' };
  } finally {
    stopListening();
    progress.finish();
  }
}

/** Reads the final rows. Events are sent after their rows are written, so the last ones may still be pending. */
async function catchUp(tally: RunTally, { ledger }: Pick<Daemon, 'ledger'>): Promise<void> {
  for (const before of tally.active().values()) {
    const facts = await ledger.load(before.id);
    if (facts !== null) tally.note({ type: 'file', before, facts, note: null });
  }
}

/** Why no file can continue, if every active file is waiting for a frozen folder; otherwise null. */
export function whyAway(active: Iterable<Facts>, waits: readonly Wait[]): string | null {
  const frozen = waits.filter(({ cause }) => cause === 'folder');
  if (frozen.length === 0) return null;
  const waitedFor = new Set<Wait>();
  for (const facts of active) {
    const wait = frozen.find(({ what }) => what === facts.folder);
    if (stateOf(facts) !== 'retrying' || facts.lastFailure?.code !== folderAway || wait === undefined) return null;
    waitedFor.add(wait);
  }
  return [...waitedFor].map((wait) => waitWords(wait, Date.now())).join('\n') || null;
}

/** Causes of waiting that only the operator can remove. */
const needPerson: ReadonlySet<WaitCause> = new Set<WaitCause>(['key', 'account', 'storage', 'channel', 'machine']);

/**
 * Whether a wait ends the run: only the operator can fix it, or it is taking longer than the command may wait.
 *
 * @param offlineMs how long to wait for an unreachable service, in milliseconds
 */
export function isStuck({ cause, holds, since, until }: Wait, stages: Picture['stages'], offlineMs: number): boolean {
  const isAllElseDone = filesIn(stages, 'uploading', 'processing', 'publishing') === 0;
  if (needPerson.has(cause)) return isAllElseDone || holds !== 'new files';
  if (cause === 'paused') return false;
  if (holds !== 'everything' && !isAllElseDone) return false;
  const ms = since === null ? (until ?? 0) - Date.now() : Date.now() - since;
  return ms > offlineMs;
}

/** Reports a wait once, and again when its reason changes or a new wait begins. */
export function waitReporter(line: (text: string) => void): (wait: Wait | null) => void {
  let reported: string | null = null;
  return (wait) => {
    const why = wait?.why ?? null;
    if (wait !== null && why !== reported) line(`Waiting: ${escapeControls(whyWords(wait, Date.now()))}`);
    reported = why;
  };
}

/** Opens the progress display on stderr, and a stream for log lines that appear above it. */
export function openProgress(shell: Shell): { readonly progress: Progress; readonly lines: NodeJS.WritableStream } {
  const progress = createProgress(shell);
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

/**
 * Files to show, in order of arrival: those that changed since the last frame or that a step is working on, and the
 * first few that are waiting.
 */
function shownOf(daemon: Daemon, tally: RunTally): readonly FileView[] {
  const active = tally.active();
  const shown = new Map(tally.takeChanged().map((facts) => [facts.id, facts]));
  for (const id of daemon.rows.held()) {
    const facts = active.get(id);
    if (facts !== undefined) shown.set(id, facts);
  }
  let waiting = 0;
  for (const facts of active.values()) {
    if (waiting === mostWaiting) break;
    if (!shown.has(facts.id)) shown.set(facts.id, facts);
    waiting += 1;
  }
  const byArrival = [...shown.values()].toSorted((one, other) => one.discoveredAt - other.discoveredAt);
  return byArrival.map((facts) => viewOf(daemon, facts));
}

/** Converts a wall-clock time to the display's monotonic clock; null if the time has passed. */
function monotonic(at: number): number | null {
  return at > Date.now() ? performance.now() + at - Date.now() : null;
}

function settlingProgress({ path, size, why }: Pick<SettlingView, 'path' | 'size' | 'why'>): FileProgress {
  return { id: path, name: basename(path), stage: 'settling', sentBytes: 0, sizeBytes: size, why };
}

function fileProgress(file: FileView): FileProgress {
  return {
    id: file.id,
    name: basename(file.path),
    stage: file.stage,
    isRetrying: file.state === 'retrying',
    sentBytes: sentOf(file),
    sizeBytes: file.size,
    why: file.not_before === null ? file.why : whyOf(file),
  };
}

function sentOf({ times, sent, size }: FileView): number {
  return times.uploaded === null ? (sent ?? 0) : size;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Resolves after the given time, or when the signal fires. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
