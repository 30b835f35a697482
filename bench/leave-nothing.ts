import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/**
 * From here on, everything temporary lies in one folder, which is gone when this process ends, together with all
 * programs that it started: also after a failure or Ctrl-C.
 */
export function leaveNothing(): void {
  const folder = mkdtempSync(join(tmpdir(), 'dropcast-bench-'));
  process.env['TMPDIR'] = folder;
  for (const [signal, number] of Object.entries(signals)) process.once(signal, () => process.exit(128 + number));
  process.once('exit', () => {
    // A second time for those that were just being started.
    for (let time = 0; time < 2; time += 1) for (const pid of descendantsOf(process.pid)) kill(pid);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    // Where a revision was checked out, git still knows of it.
    spawnSync('git', ['-C', import.meta.dirname, 'worktree', 'prune']);
  });
}

function descendantsOf(parent: number): readonly number[] {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const below = (of: number): number[] =>
    parents.filter(([, its]) => its === of).flatMap(([pid]) => [pid, ...below(pid)]);
  return below(parent);
}

/** NaN: it has ended meanwhile. */
function parentOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Behind the name, which may hold spaces: state and parent.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  } catch {
    return Number.NaN;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
