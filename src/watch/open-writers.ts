import { readFileSync, readdirSync } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import { monotonicClock } from './clock.ts';
import type { MonotonicClock } from './clock.ts';

/** A process on this machine that has a file open for writing or mapped into its memory. */
interface Writer {
  readonly pid: number;
  readonly command: string;
}

/**
 * Finds files on this machine that are open for writing (from `/proc/<pid>/fdinfo`) or mapped for writing. Used only as
 * a veto, because it covers only processes visible to our user (`hidepid`, other users) and never writers on other
 * machines.
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
   * Finds a process that is writing a file. The result of a pass over all processes is reused for one second, except
   * for files that changed since, whose writer may have opened them later. Descriptors that were found are rechecked.
   *
   * @param unchangedForMs how long the file has been unchanged, in milliseconds
   * @returns `null` if no process has the file open or mapped for writing, or if that is unknown. Never throws.
   */
  async of(version: FileVersion, unchangedForMs: number): Promise<Writer | null> {
    const descriptors = await this.#descriptors(Math.min(unchangedForMs, PASS_VALID_MS));
    for (const { pid, fd } of descriptors.get(version.ino) ?? []) {
      if (inodeWrittenBy(this.#procPath, pid, fd) !== version.ino) continue;
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

/** Descriptors by inode number. Several devices may use the same number. */
type Descriptors = Map<string, { readonly pid: number; readonly fd: string }[]>;

const PASS_VALID_MS = 1000;
/** Maximum time that a pass may block the event loop without yielding. */
const SLICE_MS = 5;

/**
 * Reads synchronously, because fdinfo is kernel memory and cannot hang on a dead share. 125 processes take about 8 ms.
 */
async function readAllDescriptors(procPath: string): Promise<Descriptors> {
  const found: Descriptors = new Map();
  let sliceStart = performance.now();
  for (const pid of listNames(procPath).map(Number)) {
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    for (const fd of listNames(`${procPath}/${pid}/fdinfo`)) {
      const inode = inodeWrittenBy(procPath, pid, fd);
      if (inode === null) continue;
      const same = found.get(inode);
      if (same === undefined) found.set(inode, [{ pid, fd }]);
      else same.push({ pid, fd });
    }
    if (performance.now() - sliceStart < SLICE_MS) continue;
    await setImmediate();
    sliceStart = performance.now();
  }
  return found;
}

/** Returns `null` unless the descriptor is open for writing. The inode line needs Linux 5.14; without it, no veto. */
function inodeWrittenBy(procPath: string, pid: number, fd: string): string | null {
  const text = readText(`${procPath}/${pid}/fdinfo/${fd}`);
  const flags = /^flags:\s*([0-7]+)$/mu.exec(text ?? '')?.[1];
  const inode = /^ino:\s*(\d+)$/mu.exec(text ?? '')?.[1];
  if (flags === undefined || inode === undefined) return null;
  const accessMode = Number.parseInt(flags, 8) & 3;
  return accessMode === 1 || accessMode === 2 ? inode : null;
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

/**
 * Finds files on this machine that are mapped for shared writing, from `/proc/<pid>/maps`. A process can close a file
 * and keep writing through memory, while its size and times stay the same for half a minute. Used only as a veto, like
 * `OpenWriters`.
 *
 * `maps` is long, and a hung process may block its readers. `maps` is therefore read off the event loop, in pieces, one
 * process at a time, and never before the previous read has finished. At most one thread can hang.
 */
export class SharedMappings {
  readonly #procPath: string;
  readonly #clock: MonotonicClock;
  #pass: { readonly startedAt: number; readonly mappings: Promise<Mappings> } | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #isStuck = false;

  constructor(procPath: string, clock: MonotonicClock) {
    this.#procPath = procPath;
    this.#clock = clock;
  }

  /**
   * @param unchangedForMs how long the file has been unchanged, in milliseconds; a pass is reused for five seconds,
   *   except for files that changed since
   * @returns the id of a process that has the file mapped; null if there is none or if that is unknown. Never throws.
   */
  async of(version: FileVersion, unchangedForMs: number): Promise<number | null> {
    const mappings = await this.#mappings(Math.min(unchangedForMs, MAPPINGS_VALID_MS));
    for (const pid of mappings.get(version.ino) ?? []) {
      const now = (await this.#inTurn(pid)) ?? [];
      for (const mapping of now) if (mapping.inode === version.ino && (await isOf(mapping, version))) return pid;
    }
    return null;
  }

  #mappings(notOlderThanMs: number): Promise<Mappings> {
    const now = this.#clock.elapsed();
    if (this.#pass === null || now - this.#pass.startedAt >= notOlderThanMs)
      this.#pass = { startedAt: now, mappings: this.#readAll() };
    return this.#pass.mappings;
  }

  async #readAll(): Promise<Mappings> {
    const found: Mappings = new Map();
    for (const name of await readdir(this.#procPath).catch(() => [])) {
      const pid = Number(name);
      if (!Number.isInteger(pid) || pid === process.pid) continue;
      const mappings = await this.#inTurn(pid);
      if (mappings === null) return found;
      for (const { inode } of mappings) found.set(inode, (found.get(inode) ?? new Set()).add(pid));
    }
    return found;
  }

  /** Reads one process at a time. Null if a read takes too long, and until that read has finished. */
  #inTurn(pid: number): Promise<readonly Mapping[] | null> {
    const answer = this.#turn.then(() => (this.#isStuck ? null : this.#read(pid)));
    this.#turn = answer;
    return answer;
  }

  async #read(pid: number): Promise<readonly Mapping[] | null> {
    const reading = readMappings(`${this.#procPath}/${pid}/maps`).finally(() => (this.#isStuck = false));
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const cancel = this.#clock.after(LONGEST_READ_MS, () => {
      this.#isStuck = true;
      resolve(null);
    });
    const answer = await Promise.race([reading, late]);
    cancel();
    return answer;
  }
}

/** Inode number → process ids. Several devices may use the same number. */
type Mappings = Map<string, Set<number>>;

interface Mapping {
  readonly inode: string;
  /** Major and minor device number, hexadecimal. */
  readonly device: string;
  readonly path: Buffer;
}

const MAPPINGS_VALID_MS = 5_000;
const LONGEST_READ_MS = 2_000;
const PIECE_BYTES = 64 * 1024;

/** Matches `7f…-7f… rw-s 00001000 fd:00 1234 /path`, proc_pid_maps(5). Names are bytes, which latin1 preserves. */
const SHARED_WRITABLE = /^\S+ .w.s \S+ (\S+) ([1-9]\d*)\s+(\/.*)$/u;

/** Reads the shared writable mappings of a process. Empty if the process is gone or belongs to another user. */
async function readMappings(path: string): Promise<readonly Mapping[]> {
  try {
    await using file = await open(path);
    return await sharedWritable(file);
  } catch {
    return [];
  }
}

async function sharedWritable(file: FileHandle): Promise<readonly Mapping[]> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const found: Mapping[] = [];
  let rest = '';
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, PIECE_BYTES, null);
    if (bytesRead === 0) return found;
    const text = rest + piece.toString('latin1', 0, bytesRead);
    const end = text.lastIndexOf('\n') + 1;
    rest = text.slice(end);
    // Most pieces contain no shared writable mapping.
    if (text.includes('w-s ') || text.includes('wxs ')) found.push(...parse(text.slice(0, end)));
  }
}

function parse(text: string): Mapping[] {
  return text.split('\n').flatMap((line) => {
    const [, device, inode, path] = SHARED_WRITABLE.exec(line) ?? [];
    if (device === undefined || inode === undefined || path === undefined) return [];
    return [{ device, inode, path: Buffer.from(path.replaceAll('\\012', '\n'), 'latin1') }];
  });
}

/** Compares by device, or by path on Btrfs and overlays, where `maps` and `stat` report different device numbers. */
async function isOf({ device, path }: Mapping, { dev, ino }: FileVersion): Promise<boolean> {
  if (device === deviceName(BigInt(dev))) return true;
  try {
    const target = await stat(path, { bigint: true });
    return String(target.dev) === dev && String(target.ino) === ino;
  } catch {
    return false;
  }
}

/** Formats a device number as in `maps`: the reverse of makedev(3). */
function deviceName(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  return `${major.toString(16).padStart(2, '0')}:${minor.toString(16).padStart(2, '0')}`;
}
