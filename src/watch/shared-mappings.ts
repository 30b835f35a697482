import { open, readdir, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { FileVersion } from '../pipeline/file/file-version.ts';
import type { MonotonicClock } from './clock.ts';

/**
 * Which files of this machine are mapped for shared writing, from `/proc/<pid>/maps`: a process may close the file and go on writing
 * through memory, and neither size nor times need to move for half a minute. Only a veto, as `OpenWriters`.
 *
 * `maps` is long, and the kernel may make its reader wait for a process that hangs. So it is read away from the event loop, in
 * pieces, one process at a time, and never again before the last read has ended: at most one thread can hang with it.
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
   * @param unchangedForMs for how long the file has been unchanged; a pass serves five seconds, but not a file that changed since
   * @returns the id of a process that has it mapped now, or null, also when that cannot be known. Never throws.
   */
  async of(version: FileVersion, unchangedForMs: number): Promise<number | null> {
    const mappings = await this.#mappings(Math.min(unchangedForMs, PASS_VALID_MS));
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

  /** One process after the other. Null when one takes too long, and until that one has ended. */
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

/** Inode number → processes. Several devices may use the same number. */
type Mappings = Map<string, Set<number>>;

interface Mapping {
  readonly inode: string;
  /** Major and minor number, hexadecimal. */
  readonly device: string;
  readonly path: Buffer;
}

const PASS_VALID_MS = 5_000;
const LONGEST_READ_MS = 2_000;
const PIECE_BYTES = 64 * 1024;

/** `7f…-7f… rw-s 00001000 fd:00 1234   /path`, proc_pid_maps(5). Names are bytes: latin1 keeps them. */
const SHARED_WRITABLE = /^\S+ .w.s \S+ (\S+) ([1-9]\d*)\s+(\/.*)$/u;

/** Nothing when the process is gone, or belongs to somebody else. */
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
    // Most pieces have none.
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

/** Btrfs and overlays give `maps` another device number than `stat`: there the path tells. */
async function isOf({ device, path }: Mapping, { dev, ino }: FileVersion): Promise<boolean> {
  if (device === deviceName(BigInt(dev))) return true;
  try {
    const target = await stat(path, { bigint: true });
    return String(target.dev) === dev && String(target.ino) === ino;
  } catch {
    return false;
  }
}

/** As in `maps`: makedev(3) the other way round. */
function deviceName(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n);
  return `${major.toString(16).padStart(2, '0')}:${minor.toString(16).padStart(2, '0')}`;
}
