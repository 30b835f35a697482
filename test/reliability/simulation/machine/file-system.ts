import { constants } from 'node:fs';
import { errno } from './disk.ts';
import type { Disk } from './disk.ts';
import type { Inode } from './inode.ts';
import { machine } from './machine.ts';

let disk: Disk | null = null;

/** Puts a disk into the machine. */
export function insertDisk(inserted: Disk): void {
  disk = inserted;
}

export function theDisk(): Disk {
  if (disk === null) throw new Error('the machine has no disk');
  return disk;
}

/** Faults that a call may get for no reason of its own, while the disk has trouble. */
const troubles = ['EIO', 'EMFILE', 'EACCES', 'ENOSPC'] as const;
const readTroubles = ['EIO', 'EMFILE', 'EACCES'] as const;
const writing = new Set(['write', 'mkdir', 'link', 'rename', 'copyFile', 'fsync', 'create']);

function call<T>(name: string, path: string, apply: () => T): Promise<T> {
  const host = machine();
  return host.call({ name, detail: path }, () => {
    if (host.diskTrouble > 0 && host.random.chance(host.diskTrouble)) {
      host.reach('disk trouble');
      throw errno(host.random.pick(writing.has(name) ? troubles : readTroubles), path);
    }
    return apply();
  });
}

type Path = string | Buffer | URL;

/** `node:fs/promises` of the machine. What is missing here throws when it is called. */
export const promises = {
  constants,
  open: async (path: Path, flags: string | number = 'r') => {
    const wanted = typeof flags === 'number' ? flags : flagsOf(flags);
    const fd = await call(wanted & constants.O_CREAT ? 'create' : 'open', text(path), () =>
      theDisk().descriptor(theDisk().open(text(path), wanted), machine().process),
    );
    return new Handle(fd, theDisk().opened(fd), (wanted & constants.O_APPEND) !== 0);
  },
  stat: (path: Path, options?: { bigint?: boolean }) =>
    call('stat', text(path), () => statsOf(writerOf(text(path)) ?? theDisk().at(text(path)), options)),
  lstat: (path: Path, options?: { bigint?: boolean }) =>
    call('lstat', text(path), () => statsOf(theDisk().at(text(path)), options)),
  readdir: (path: Path, options?: { withFileTypes?: boolean; encoding?: string }) =>
    call('readdir', text(path), () => {
      const inode = theDisk().at(text(path));
      if (inode.kind !== 'directory') throw errno('ENOTDIR', text(path));
      return [...inode.entries].map(([name, entry]) => {
        const shown = options?.encoding === 'buffer' ? Buffer.from(name) : name;
        return options?.withFileTypes === true ? { name: shown, parentPath: text(path), ...kindOf(entry) } : shown;
      });
    }),
  opendir: (path: Path) =>
    call('opendir', text(path), () => {
      if (theDisk().at(text(path)).kind !== 'directory') throw errno('ENOTDIR', text(path));
      return { close: async () => undefined };
    }),
  realpath: (path: Path) => call('realpath', text(path), () => theDisk().realPath(text(path))),
  readlink: (path: Path) =>
    call('readlink', text(path), () => {
      const fd = /^\/proc\/self\/fd\/(\d+)$/.exec(text(path))?.[1];
      if (fd === undefined) throw errno('EINVAL', text(path));
      return theDisk().opened(Number(fd)).path;
    }),
  access: (path: Path) => call('access', text(path), () => void theDisk().at(text(path))),
  chmod: (path: Path) => call('chmod', text(path), () => theDisk().chmod(theDisk().at(text(path)))),
  mkdir: (path: Path, options?: { recursive?: boolean }) =>
    call('mkdir', text(path), () => {
      if (options?.recursive === true && theDisk().peek(text(path)) !== null) return;
      theDisk().mkdir(text(path));
    }),
  rmdir: (path: Path) => call('rmdir', text(path), () => theDisk().rmdir(text(path))),
  unlink: (path: Path) => call('unlink', text(path), () => theDisk().unlink(text(path), 'dropcast')),
  rm: (path: Path, options?: { force?: boolean }) =>
    call('unlink', text(path), () => {
      if (options?.force !== true || theDisk().peek(text(path)) !== null) theDisk().unlink(text(path), 'dropcast');
    }),
  link: (from: Path, to: Path) => call('link', `${text(from)} ${text(to)}`, () => theDisk().link(text(from), text(to))),
  rename: (from: Path, to: Path) =>
    call('rename', `${text(from)} ${text(to)}`, () => theDisk().rename(text(from), text(to), 'dropcast')),
  copyFile: async (from: Path, to: Path, mode = 0) => {
    const isNew = (mode & constants.COPYFILE_EXCL) !== 0 ? constants.O_EXCL : 0;
    const source = theDisk().at(text(from));
    const target = await call('create', text(to), () =>
      theDisk().open(text(to), constants.O_CREAT | constants.O_WRONLY | isNew),
    );
    // In two halves: whoever writes to the source meanwhile tears the copy.
    const half = source.data.length >> 1;
    await call('copyFile', text(from), () => theDisk().write(target, source.data.slice(0, half), 0));
    await call('copyFile', text(from), () => theDisk().write(target, source.data.slice(half), half));
  },
  readFile: async (path: Path, options?: unknown) => {
    const data = await call('open', text(path), () => Buffer.from(theDisk().at(text(path)).data));
    return options === undefined ? data : data.toString('utf8');
  },
  writeFile: async (path: Path, data: string | Uint8Array) => {
    await call('create', text(path), () =>
      theDisk().write(theDisk().open(text(path), flagsOf('w')), Buffer.from(data), 0, true),
    );
  },
  utimes: (path: Path, _accessed: unknown, modified: Date | number) =>
    call('utimes', text(path), () => {
      const ms = typeof modified === 'number' ? modified * 1000 : modified.getTime();
      theDisk().restoreTime(theDisk().at(text(path)), BigInt(Math.round(ms)) * 1_000_000n);
    }),
  statfs: (path: Path) =>
    call('statfs', text(path), () => ({ type: 0xef53, bsize: 4096, blocks: 1e9, bfree: 1e8, bavail: 1e8 })),
};

/** `node:fs` of the machine: what the daemon asks without a promise. */
export const sync = {
  constants,
  /** The one call with a callback: of many paths at once. */
  lstat: (path: Path, ...rest: readonly [done: Done] | readonly [options: { bigint?: boolean }, done: Done]) => {
    const [done, options] = rest.length === 1 ? [rest[0]] : [rest[1], rest[0]];
    void callingBack(promises.lstat(path, options), done);
  },
  existsSync: (path: Path) => text(path) === '/proc/self/fd' || theDisk().peek(text(path)) !== null,
  readdirSync: (path: Path): string[] => {
    const { writers } = theDisk();
    if (text(path) === '/proc') return [...writers.keys()].map(String);
    const pid = Number(/^\/proc\/(\d+)\/fdinfo$/.exec(text(path))?.[1] ?? NaN);
    if (writers.has(pid)) return ['3'];
    throw errno('ENOENT', text(path));
  },
  readFileSync: (path: Path): string => {
    const [, pid, what] = /^\/proc\/(\d+)\/(.*)$/.exec(text(path)) ?? [];
    const inode = theDisk().writers.get(Number(pid));
    if (inode === undefined) throw errno('ENOENT', text(path));
    if (what === 'fdinfo/3') return `pos:\t0\nflags:\t0100001\nmnt_id:\t1\nino:\t${inode.ino}\n`;
    return what === 'comm' ? 'writer\n' : '';
  },
};

class Handle {
  readonly fd: number;
  readonly #inode: Inode;
  readonly #appends: boolean;

  constructor(fd: number, inode: Inode, appends: boolean) {
    this.fd = fd;
    this.#inode = inode;
    this.#appends = appends;
  }

  stat(options?: { bigint?: boolean }) {
    return call('fstat', this.#inode.path, () => statsOf(this.#inode, options));
  }

  read(
    given: Buffer | { buffer: Buffer; offset?: number; length?: number; position?: number },
    offset = 0,
    length?: number,
    position: number | null = 0,
  ) {
    const isBuffer = Buffer.isBuffer(given);
    const buffer = isBuffer ? given : given.buffer;
    const start = isBuffer ? offset : (given.offset ?? 0);
    const from = isBuffer ? (position ?? 0) : (given.position ?? 0);
    const wanted = (isBuffer ? length : given.length) ?? buffer.length - start;
    return call('read', `${this.#inode.path} ${from}`, () => {
      const part = this.#inode.data.subarray(from, from + wanted);
      buffer.set(part, start);
      return { bytesRead: part.length, buffer };
    });
  }

  async readFile(options?: unknown) {
    const data = await call('read', this.#inode.path, () => Buffer.from(this.#inode.data));
    return options === undefined ? data : data.toString('utf8');
  }

  async appendFile(data: string | Uint8Array) {
    await call('write', this.#inode.path, () =>
      theDisk().write(this.#inode, Buffer.from(data), this.#inode.data.length),
    );
  }

  async writeFile(data: string | Uint8Array) {
    if (this.#appends) return this.appendFile(data);
    await call('write', this.#inode.path, () => theDisk().write(this.#inode, Buffer.from(data), 0, true));
  }

  async write(data: string | Uint8Array, position?: number) {
    await call('write', this.#inode.path, () =>
      theDisk().write(this.#inode, Buffer.from(data), position ?? this.#inode.data.length),
    );
    return { bytesWritten: Buffer.byteLength(data) };
  }

  truncate(length = 0) {
    return call('write', this.#inode.path, () =>
      theDisk().write(this.#inode, this.#inode.data.slice(0, length), 0, true),
    );
  }

  chmod() {
    return call('chmod', this.#inode.path, () => theDisk().chmod(this.#inode));
  }

  sync() {
    return call('fsync', this.#inode.path, () => undefined);
  }

  datasync() {
    return this.sync();
  }

  /** Takes no time and never fails: the kernel does it for the dead as well. */
  async close() {
    theDisk().closeDescriptor(this.fd);
  }

  [Symbol.asyncDispose]() {
    return this.close();
  }
}

/** `/proc/PID/fd/N` leads to the file. */
function writerOf(path: string): Inode | undefined {
  const pid = /^\/proc\/(\d+)\/fd\/3$/.exec(path)?.[1];
  return pid === undefined ? undefined : theDisk().writers.get(Number(pid));
}

function kindOf({ kind }: Inode) {
  return {
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'directory',
    isSymbolicLink: () => false,
    isFIFO: () => false,
    isSocket: () => false,
    isBlockDevice: () => false,
    isCharacterDevice: () => false,
  };
}

export function statsOf(inode: Inode, options?: { bigint?: boolean }) {
  const { ino, dev, links, data, mtime, ctime, birth } = inode;
  const mode = inode.kind === 'directory' ? 0o40_700 : 0o100_644;
  if (options?.bigint !== true)
    return {
      ...kindOf(inode),
      ino,
      dev,
      nlink: links,
      size: data.length,
      mode,
      uid: 0,
      gid: 0,
      mtimeMs: Number(mtime) / 1e6,
      ctimeMs: Number(ctime) / 1e6,
    };
  return {
    ...kindOf(inode),
    ino: BigInt(ino),
    dev: BigInt(dev),
    nlink: BigInt(links),
    size: BigInt(data.length),
    mode: BigInt(mode),
    uid: 0n,
    gid: 0n,
    mtimeNs: mtime,
    ctimeNs: ctime,
    birthtimeNs: birth,
    mtimeMs: mtime / 1_000_000n,
  };
}

function flagsOf(flags: string): number {
  const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = constants;
  const known: Readonly<Record<string, number>> = {
    r: O_RDONLY,
    'r+': O_RDWR,
    w: O_WRONLY | O_CREAT | O_TRUNC,
    wx: O_WRONLY | O_CREAT | O_EXCL,
    a: O_WRONLY | O_CREAT | O_APPEND,
    'a+': O_RDWR | O_CREAT | O_APPEND,
  };
  const found = known[flags];
  if (found === undefined) throw new Error(`the disk of the machine does not know the flags ${flags}`);
  return found;
}

function text(path: Path): string {
  return String(path);
}

type Done = (error: unknown, result?: unknown) => void;

async function callingBack(work: Promise<unknown>, done: Done): Promise<void> {
  const [error, result] = await work.then(
    (value) => [null, value] as const,
    (reason: unknown) => [reason] as const,
  );
  done(error, result);
}
