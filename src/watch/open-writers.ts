import { readFileSync, readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { MonotonicClock } from './clock.ts';
import { monotonicClock } from './clock.ts';
import { SharedMappings } from './shared-mappings.ts';

/** A process of this machine that has a file open for writing, or mapped into its memory. */
export interface Writer {
  readonly pid: number;
  readonly command: string;
}

/**
 * Which files of this machine are open for writing, from `/proc/<pid>/fdinfo`, or mapped for it. Only a veto: it sees what the user may see
 * (`hidepid`, other users), and never a writer on the far side of a share.
 */
export class OpenWriters {
  readonly #procPath: string;
  readonly #clock: MonotonicClock;
  readonly #mappings: SharedMappings;
  #pass: { readonly startedAt: number; readonly descriptors: Promise<Descriptors> } | null = null;

  constructor(procPath = '/proc', clock: MonotonicClock = monotonicClock) {
    this.#procPath = procPath;
    this.#clock = clock;
    this.#mappings = new SharedMappings(procPath, clock);
  }

  /**
   * A pass over all processes serves every question within a second of its start, but not for a file that changed since: its writer
   * may have opened it later. Whether a descriptor found is still open is checked again.
   *
   * @param unchangedForMs for how long the file has been unchanged
   * @returns `null` when nobody has it open or mapped for writing, or when that cannot be known. Never throws.
   */
  async of(version: FileVersion, unchangedForMs: number): Promise<Writer | null> {
    const descriptors = await this.#descriptors(Math.min(unchangedForMs, PASS_VALID_MS));
    for (const { pid, fd, inode } of descriptors.get(version.ino) ?? []) {
      if (readOpenFile(this.#procPath, pid, fd)?.inode !== inode) continue;
      if (await this.#isOnDevice(pid, fd, version)) return { pid, command: this.#commandOf(pid) };
    }
    const pid = await this.#mappings.of(version, unchangedForMs);
    return pid === null ? null : { pid, command: this.#commandOf(pid) };
  }

  #descriptors(notOlderThanMs: number): Promise<Descriptors> {
    const now = this.#clock.elapsed();
    if (this.#pass === null || now - this.#pass.startedAt >= notOlderThanMs) {
      this.#pass = { startedAt: now, descriptors: readAllDescriptors(this.#procPath) };
    }
    return this.#pass.descriptors;
  }

  async #isOnDevice(pid: number, fd: string, version: FileVersion): Promise<boolean> {
    try {
      const target = await stat(`${this.#procPath}/${pid}/fd/${fd}`, { bigint: true });
      return String(target.dev) === version.dev && String(target.ino) === version.ino;
    } catch {
      return false;
    }
  }

  #commandOf(pid: number): string {
    return readText(`${this.#procPath}/${pid}/comm`)?.trim() ?? 'unknown';
  }
}

/** By inode number. Several devices may use the same number. */
type Descriptors = Map<string, { readonly pid: number; readonly fd: string; readonly inode: string }[]>;

const PASS_VALID_MS = 1000;
/** How long a pass may hold the event loop in one go. */
const SLICE_MS = 5;

/** Synchronous on purpose: fdinfo is kernel memory and cannot hang on a dead share; 125 processes take about 8 ms. */
async function readAllDescriptors(procPath: string): Promise<Descriptors> {
  const found: Descriptors = new Map();
  let sliceStart = performance.now();
  for (const pid of listNames(procPath).map(Number)) {
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    for (const fd of listNames(`${procPath}/${pid}/fdinfo`)) {
      const open = readOpenFile(procPath, pid, fd);
      if (open === null) continue;
      const same = found.get(open.inode);
      if (same === undefined) found.set(open.inode, [{ pid, fd, inode: open.inode }]);
      else same.push({ pid, fd, inode: open.inode });
    }
    if (performance.now() - sliceStart < SLICE_MS) continue;
    await setImmediate();
    sliceStart = performance.now();
  }
  return found;
}

/** `null` unless the descriptor is open for writing. The inode line needs Linux 5.14; before that there is no veto. */
function readOpenFile(procPath: string, pid: number, fd: string): { readonly inode: string } | null {
  const text = readText(`${procPath}/${pid}/fdinfo/${fd}`);
  const flags = /^flags:\s*([0-7]+)$/mu.exec(text ?? '')?.[1];
  const inode = /^ino:\s*(\d+)$/mu.exec(text ?? '')?.[1];
  if (flags === undefined || inode === undefined) return null;
  const accessMode = Number.parseInt(flags, 8) & 3;
  return accessMode === 1 || accessMode === 2 ? { inode } : null;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function listNames(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
