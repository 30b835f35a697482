import { mkdir, mkdtemp, realpath, rm, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSandbox } from '@dropcast/sandbox';
import { exitCodes } from '../../cli/shell.ts';
import { formatDuration, counted, UNKNOWN } from '../../cli/output/format.ts';
import type { Shell } from '../../cli/shell.ts';
import { aborted } from '../../pipeline/wake-up.ts';
import { openProgress } from '../../cli/run/watch-progress.ts';
import { dropFiles, prepareMember } from './demo-member.ts';
import { openDemoPostgres } from './demo-postgres.ts';
import { FleetCourse, Killing } from './fleet-course.ts';
import { createHash } from 'node:crypto';
import type { Sandbox } from '@dropcast/sandbox';
import { stageStyle } from '../../cli/output/file-table.ts';
import { tableOf } from '../../cli/output/table.ts';
import type { DemoFile } from './demo-member.ts';

const names = ['ingest1', 'ingest2', 'ingest3'];

/** Interval between checks of the members, in milliseconds. */
const everyMs = 200;

/** Time limit in milliseconds, after which the demo reports its results so far. A slow machine needs two minutes. */
const longestMs = 300_000;

/**
 * `dropcast demo --fleet`: runs PostgreSQL, three members and a service on this machine, and kills one member while it
 * is uploading.
 */
export async function fleetDemo(shell: Shell, samples: string): Promise<number> {
  shell.takeOverSignals();
  await using stack = new AsyncDisposableStack();
  const say = (text: string): void => void shell.stderr.write(`${text}\n`);
  const postgres = stack.use(await openDemoPostgres(shell));
  const scratch = await mkdtemp(join(await realpath(tmpdir()), 'dropcast-demo-'));
  stack.defer(() => rm(scratch, { recursive: true, force: true }));
  const share = join(scratch, 'nas');
  await mkdir(share);
  const sandbox = stack.use(await startSandbox({ processingMs: { min: 800, max: 2_500 }, uploadOrigin: 'separate' }));
  say(`PostgreSQL runs in ${postgres.where}; a local video service at ${sandbox.baseUrl}`);
  const fleet = { scratch, share, sandbox, postgres, shell };
  const members = await Promise.all(names.map(async (name) => stack.use(await prepareMember(name, fleet))));
  await Promise.race([Promise.all(members.map((member) => member.start())), aborted(shell.stopping)]);
  if (shell.stopping.aborted) return stopped(say);
  say(`Three members watch the share ${share}, and each a folder of its own: ${names.join(', ')}`);
  const files = await dropFiles(samples, share, members);
  say(`Dropped ${files.length} files. One member is killed while it uploads:\n`);
  const course = new FleetCourse(files);
  const { progress } = openProgress(shell);
  const killing = new Killing(members, (line) => progress.line(line));
  const endsAt = performance.now() + longestMs;
  const isLate = (): boolean => performance.now() > endsAt;
  try {
    while (!shell.stopping.aborted && !isLate() && !(course.isOver() && killing.isOver)) {
      await Promise.all(members.map(async (member) => course.hear(member.name, (await member.files()) ?? [])));
      progress.update(course.progress());
      await Promise.race([killing.look(course), aborted(shell.stopping)]);
      await delay(everyMs, undefined, { signal: shell.stopping }).catch(() => undefined);
    }
  } finally {
    progress.finish();
  }
  if (shell.stopping.aborted) return stopped(say);
  if (!course.isOver())
    say(
      `\nThe demo ends after ${formatDuration(longestMs)}, before every file is done: the table shows how far each one is`,
    );
  const result = await judgeFleet(files, course, sandbox);
  shell.stdout.write(`\n${fleetTable(files, course, shell)}\n${fleetSummary(result)}`);
  return result.isFine ? exitCodes.fine : exitCodes.failed;
}

function stopped(say: (text: string) => void): number {
  say('Stopped before the end: the members and PostgreSQL end now, and their files are removed');
  return exitCodes.failed;
}

/** Result of the demo, judged only by what the service holds in the end. */
interface FleetResult {
  readonly files: number;
  /** Files whose bytes are not on the service. */
  readonly lost: number;
  /** Files whose bytes the service received more than once. */
  readonly twice: number;
  readonly isFine: boolean;
}

/** Compares the dropped files with the service's content. */
async function judgeFleet(files: readonly DemoFile[], course: FleetCourse, sandbox: Sandbox): Promise<FleetResult> {
  const stored = sandbox.files().map(({ sha256 }) => sha256);
  const bodies = sandbox.requests().filter(({ method, status }) => method === 'PUT' && status === 200);
  const dropped = await Promise.all(files.map(async ({ path }) => sha256Of(await readFile(path))));
  const lost = dropped.filter((sha256) => !stored.includes(sha256)).length;
  const again = dropped.filter((sha256) => stored.filter((one) => one === sha256).length > 1).length;
  // An upload that replaced an identical file counts, too.
  const twice = Math.max(again, bodies.length - stored.length);
  return { files: files.length, lost, twice, isFine: lost === 0 && twice === 0 && course.isOver() };
}

export function fleetTable(files: readonly DemoFile[], course: FleetCourse, shell: Shell): string {
  const rows = files.map((file) => {
    const seen = course.senders(file);
    const { host = null, stage = 'unknown' } = course.view(file) ?? {};
    // The row names the sender even if the upload finished between two checks.
    return { ...file, stage, senders: host === null || seen.at(-1) === host ? seen : [...seen, host] };
  });
  return tableOf(
    rows,
    [
      ['FILE', ({ name }) => name, { cut: 'middle' }],
      ['STATE', ({ stage }) => stage, { style: stageStyle }],
      ['FINISHED BY', ({ senders }) => senders.at(-1) ?? UNKNOWN],
      ['ATTEMPTS', ({ senders }) => String(Math.max(1, senders.length)), { align: 'right' }],
      ['TAKEN OVER FROM', ({ senders }) => senders.slice(0, -1).join(', ')],
    ],
    shell,
  );
}

export function fleetSummary({ files, lost, twice }: FleetResult): string {
  return `${counted(files, 'file')}, ${lost} lost, ${twice} twice\n`;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
