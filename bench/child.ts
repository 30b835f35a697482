import { execFile, spawn } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

/** @returns what the command printed. @throws when it fails */
export async function output(
  command: string,
  args: readonly string[],
  options: { cwd?: string } = {},
): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1' };
  return (await promisify(execFile)(command, [...args], { ...options, env, maxBuffer: 2 ** 28 })).stdout;
}

/** What a finished command used. */
export interface Usage {
  readonly wallMs: number;
  /** User and system time of it and of all processes that it waited for. */
  readonly cpuMs: number;
  readonly code: number;
}

/** Runs a command to its end, with its output thrown away. `isFine` are the exit codes that are expected. */
export async function usageOf(
  command: string,
  args: readonly string[],
  isFine: readonly number[] = [0],
): Promise<Usage> {
  // Node tells the resources of no child; bash's `time` has them from the kernel.
  const script = `TIMEFORMAT='%R %U %S'; time "$@" >/dev/null 2>&1; exit $?`;
  const child = spawn('bash', ['-c', script, 'bash', command, ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  const told: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => told.push(chunk));
  const [code] = (await once(child, 'close')) as [number];
  if (!isFine.includes(code)) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
  const [wall = 0, user = 0, system = 0] = Buffer.concat(told).toString().trim().split(/\s+/).map(Number);
  return { wallMs: wall * 1_000, cpuMs: (user + system) * 1_000, code };
}

/** What a process uses. */
export interface Watched {
  /** CPU seconds of all its threads so far. The kernel counts in hundredths. */
  cpuSeconds(): Promise<number>;
  /** Megabytes of memory now, and the most so far. */
  memory(): Promise<{ readonly rssMb: number; readonly peakMb: number }>;
}

/** A program that runs beside the benchmark. */
export interface Running extends Watched, AsyncDisposable {
  readonly pid: number;
}

/** A process that something else started and ends. */
export function watched(pid: number): Watched {
  return { cpuSeconds: () => cpuSecondsOf(pid), memory: () => memoryOf(pid) };
}

/** Starts a program. It is killed when it is disposed of: a daemon would first let its uploads end, for up to 45 s. */
export function start(command: string, args: readonly string[], options: SpawnOptions = {}): Running {
  const child = spawn(command, [...args], {
    stdio: 'ignore',
    ...options,
    env: { ...process.env, NO_COLOR: '1', ...options.env },
  });
  const pid = child.pid;
  if (pid === undefined) throw new Error(`${command} cannot be started`);
  const ended = once(child, 'exit');
  return {
    pid,
    ...watched(pid),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const cpuSecondsOf = async (pid: number): Promise<number> => ticksOf(pid, [11, 12]);

/** CPU seconds of a process, with its children that ended. Zero when it has just ended itself. */
export async function cpuSecondsWithEnded(pid: number): Promise<number> {
  return ticksOf(pid, [11, 12, 13, 14]).catch(() => 0);
}

/** Fields 14 to 17 of proc(5) are user and system time in ticks of 1/100 s, its own and of its children that ended. */
async function ticksOf(pid: number, wanted: readonly number[]): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return wanted.reduce((sum, index) => sum + Number(fields[index]), 0) / 100;
}

async function memoryOf(pid: number): Promise<{ rssMb: number; peakMb: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string): number =>
    Number(new RegExp(`${name}:\\s+(\\d+)`, 'u').exec(status)?.[1] ?? Number.NaN);
  return { rssMb: kilobytes('VmRSS') / 1_000, peakMb: kilobytes('VmHWM') / 1_000 };
}

/** Waits for a condition. @throws {Error} after half an hour: a slow machine misses its targets, but is measured */
export async function until(isSo: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  const deadline = performance.now() + 1_800_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`still not so after half an hour: ${isSo.toString()}`);
    await setTimeout(everyMs);
  }
}
