import { appendFileSync, readdirSync, readFileSync } from 'node:fs';

/** A process as /proc tells it apart from a later one with the same number. Null where it has ended, or there is no /proc. */
function startedAt(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? null : (fields[18] ?? null); // proc_pid_stat(5), field 22
  } catch {
    return null;
  }
}

/** Notes a process in the list of this run. */
export function noteStarted(list: string, pid: number, command: string): void {
  appendFileSync(list, `${JSON.stringify([pid, startedAt(pid), command])}\n`);
}

/** Kills what of the list still runs, with all below it. @returns the commands */
export function killListed(list: string): readonly string[] {
  const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  const noted = lines.map((line) => JSON.parse(line) as [pid: number, startedAt: string | null, command: string]);
  const running = noted.filter(([pid, at]) => at !== null && startedAt(pid) === at);
  for (const [pid] of running) killWithDescendants(pid);
  return running.map(([, , command]) => command);
}

/** @returns which these were */
export function killWithDescendants(pid: number): readonly number[] {
  const all = [pid, ...descendantsOf(pid)];
  for (const one of all) kill(one);
  return all;
}

/** Not of a zombie. Where there is no /proc, always false. */
export function isRunning(pid: number): boolean {
  return startedAt(pid) !== null;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}

/** Read from /proc; empty where there is none. */
export function descendantsOf(pid: number): readonly number[] {
  try {
    const children = readdirSync(`/proc/${pid}/task`)
      .map((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'))
      .flatMap((line) => line.split(' ').filter(Boolean).map(Number));
    return children.flatMap((child) => [child, ...descendantsOf(child)]);
  } catch {
    return [];
  }
}
