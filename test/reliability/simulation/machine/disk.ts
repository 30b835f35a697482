import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { Inode } from './inode.ts';
import type { Timeline } from './timeline.ts';

export type Actor = 'people' | 'dropcast';

/** What a listener hears of a change; the path is absolute. */
export interface DiskChange {
  readonly event: 'add' | 'change' | 'unlink' | 'addDir' | 'unlinkDir';
  readonly path: string;
}

/** Bytes that lost their last name. */
export interface Removal {
  readonly by: Actor;
  readonly path: string;
  readonly sha256: string;
  readonly at: number;
}

/** Bytes that a regular file had at some moment. */
export interface Content {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
  readonly at: number;
  /** What `stat` shows of it, besides the time of the inode's change. */
  readonly look: string;
}

const { O_CREAT, O_EXCL, O_TRUNC, O_DIRECTORY, O_ACCMODE = 3 } = constants as typeof constants & { O_ACCMODE?: number };

/** A disk in memory with the rules of a Unix file system. Everything is done at once; the process sees it through `file-system.ts`. */
export class Disk {
  readonly removals: Removal[] = [];
  readonly contents: Content[] = [];
  /** Names that dropcast took away and has not put back. */
  putAway: { readonly path: string; readonly at: number; readonly inode: Inode }[] = [];
  /** Names that people took away: each file of a directory counts. */
  readonly takenAway: { readonly path: string; readonly at: number }[] = [];
  readonly listeners = new Set<(change: DiskChange) => void>();
  /** Processes that have a file open for writing: pid → inode. */
  readonly writers = new Map<number, Inode>();
  readonly #time: Timeline;
  readonly #root: Inode;
  #inodes = 100;
  /** Inode numbers that were freed, to be given to the next file: ext4 does that. */
  readonly #free: number[] = [];
  /** Descriptors, and whose they are. */
  readonly #open = new Map<number, { readonly inode: Inode; readonly owner: object | null }>();

  constructor(time: Timeline) {
    this.#time = time;
    this.#root = this.#make('directory', 1);
  }

  /** @throws ENOENT, ENOTDIR */
  at(path: string): Inode {
    const found = this.peek(path);
    if (found === null) throw errno('ENOENT', path);
    return found;
  }

  /** Null when nothing is there. @throws ENOTDIR */
  peek(path: string): Inode | null {
    const { from, names } = this.#start(path);
    let inode = from;
    for (const name of names) {
      if (inode.kind !== 'directory') throw errno('ENOTDIR', path);
      const next = name === '..' ? inode.parent : inode.entries.get(name);
      if (next === undefined || next === null) return null;
      inode = next;
    }
    return inode;
  }

  open(path: string, flags: number): Inode {
    let inode = this.peek(path);
    if (inode === null) {
      if ((flags & O_CREAT) === 0) throw errno('ENOENT', path);
      inode = this.#add(path, 'file');
      this.#tell('add', inode, path);
    } else if ((flags & O_CREAT) !== 0 && (flags & O_EXCL) !== 0) throw errno('EEXIST', path);
    if ((flags & O_DIRECTORY) !== 0 && inode.kind !== 'directory') throw errno('ENOTDIR', path);
    if (inode.kind === 'directory' && (flags & O_ACCMODE) !== 0) throw errno('EISDIR', path);
    if ((flags & O_TRUNC) !== 0) this.write(inode, new Uint8Array(), 0, true);
    return inode;
  }

  /** A descriptor of a process. */
  descriptor(inode: Inode, owner: object | null): number {
    let fd = 20;
    while (this.#open.has(fd)) fd += 1;
    this.#open.set(fd, { inode, owner });
    return fd;
  }

  closeDescriptor(fd: number): void {
    this.#open.delete(fd);
  }

  /** The process is dead: the kernel closes everything of it. */
  closeAllOf(process: object): void {
    for (const [fd, { owner }] of this.#open) if (owner === process) this.#open.delete(fd);
  }

  write(inode: Inode, bytes: Uint8Array, at: number, isWhole = false): void {
    const length = isWhole ? bytes.length : Math.max(inode.data.length, at + bytes.length);
    const data = new Uint8Array(length);
    if (!isWhole) data.set(inode.data);
    data.set(bytes, at);
    inode.data = data;
    inode.mtime = inode.ctime = this.#now();
    this.#tell('change', inode, inode.path);
  }

  /** Sets the time of modification, as tag editors do to hide that they wrote. */
  restoreTime(inode: Inode, mtime: bigint): void {
    inode.mtime = mtime;
    inode.ctime = this.#now();
    this.#tell('change', inode, inode.path);
  }

  chmod(inode: Inode): void {
    inode.ctime = this.#now();
    this.#tell('change', inode, inode.path);
  }

  mkdir(path: string): void {
    if (this.peek(path) !== null) throw errno('EEXIST', path);
    this.#tell('addDir', this.#add(path, 'directory'), path);
  }

  /** The device below a directory: a mount. */
  mount(path: string, device: number): void {
    this.at(path).dev = device;
  }

  rmdir(path: string): void {
    const inode = this.at(path);
    if (inode.kind !== 'directory') throw errno('ENOTDIR', path);
    if (inode.entries.size > 0) throw errno('ENOTEMPTY', path);
    this.#drop(path, 'people');
    this.#tell('unlinkDir', inode, path);
  }

  unlink(path: string, by: Actor): void {
    const inode = this.at(path);
    if (inode.kind === 'directory') throw errno('EISDIR', path);
    const where = this.realPath(path);
    this.#drop(path, by);
    this.#tell('unlink', inode, where);
  }

  link(from: string, to: string): void {
    const inode = this.at(from);
    const { directory, name } = this.#parent(to);
    if (directory.entries.has(name)) throw errno('EEXIST', to);
    if (directory.dev !== inode.dev) throw errno('EXDEV', to);
    if (inode.kind === 'directory') throw errno('EPERM', from);
    directory.entries.set(name, inode);
    inode.names.add(`${directory.path}/${name}`);
    inode.links += 1;
    inode.ctime = this.#now();
    this.#putBack(inode, `${directory.path}/${name}`);
    this.#tell('add', inode, `${directory.path}/${name}`);
  }

  rename(from: string, to: string, by: Actor): void {
    const inode = this.at(from);
    const source = this.#parent(from);
    const target = this.#parent(to);
    const over = target.directory.entries.get(target.name);
    if (source.directory.dev !== target.directory.dev) throw errno('EXDEV', to);
    if (over === inode) return;
    if (over !== undefined && over.kind !== inode.kind)
      throw errno(over.kind === 'directory' ? 'EISDIR' : 'ENOTDIR', to);
    if (over !== undefined) this.#drop(to, by);
    const before = `${source.directory.path}/${source.name}`;
    const after = `${target.directory.path}/${target.name}`;
    if (by === 'people') this.#note(inode, before);
    source.directory.entries.delete(source.name);
    if (by === 'dropcast') this.putAway.push({ path: before, at: this.#time.elapsed, inode });
    target.directory.entries.set(target.name, inode);
    inode.names.delete(before);
    inode.names.add(after);
    this.#putBack(inode, after);
    if (inode.kind === 'directory') inode.place(target.directory, target.name);
    inode.ctime = this.#now();
    const isDirectory = inode.kind === 'directory';
    this.#tell(isDirectory ? 'unlinkDir' : 'unlink', inode, before);
    this.#tell(isDirectory ? 'addDir' : 'add', inode, after);
  }

  realPath(path: string): string {
    this.at(path);
    const { from, names } = this.#start(path);
    return [from.path, ...names].join('/').replace(/\/\.\//g, '/') || '/';
  }

  /** All regular files below a directory, by path. */
  files(directory: string): Map<string, Inode> {
    const found = new Map<string, Inode>();
    const visit = (inode: Inode, path: string): void => {
      for (const [name, entry] of inode.entries) {
        if (entry.kind === 'directory') visit(entry, `${path}/${name}`);
        else found.set(`${path}/${name}`, entry);
      }
    };
    const top = this.peek(directory);
    if (top !== null) visit(top, directory);
    return found;
  }

  /** Where `/proc/self/fd/N` leads. */
  opened(fd: number): Inode {
    const opened = this.#open.get(fd);
    if (opened === undefined) throw errno('ENOENT', `/proc/self/fd/${fd}`);
    return opened.inode;
  }

  #start(path: string): { from: Inode; names: string[] } {
    const held = /^\/proc\/self\/fd\/(\d+)(?:\/(.*))?$/.exec(path);
    const names = (held === null ? path : (held[2] ?? '')).split('/').filter((name) => name !== '' && name !== '.');
    for (const name of names) if (Buffer.byteLength(name) > 255) throw errno('ENAMETOOLONG', path);
    return { from: held === null ? this.#root : this.opened(Number(held[1])), names };
  }

  #parent(path: string): { directory: Inode; name: string } {
    const { from, names } = this.#start(path);
    const name = names.pop();
    if (name === undefined) throw errno('EBUSY', path);
    let directory = from;
    for (const each of names) {
      const next = directory.entries.get(each);
      if (next === undefined) throw errno('ENOENT', path);
      directory = next;
    }
    if (directory.kind !== 'directory') throw errno('ENOTDIR', path);
    return { directory, name };
  }

  #add(path: string, kind: Inode['kind']): Inode {
    const { directory, name } = this.#parent(path);
    const inode = this.#make(kind, directory.dev);
    directory.entries.set(name, inode);
    inode.place(directory, name);
    inode.links = 1;
    return inode;
  }

  #make(kind: Inode['kind'], dev: number): Inode {
    const ino = this.#free.pop() ?? (this.#inodes += 1);
    return new Inode({ ino, kind, dev, now: this.#now() });
  }

  #note(inode: Inode, path: string): void {
    const paths = inode.kind === 'file' ? [path] : [...this.files(path).keys()];
    this.takenAway.push(...paths.map((each) => ({ path: each, at: this.#time.elapsed })));
  }

  #putBack(inode: Inode, path: string): void {
    this.putAway = this.putAway.filter((one) => one.inode !== inode || one.path !== path);
  }

  #drop(path: string, by: Actor): void {
    const { directory, name } = this.#parent(path);
    const inode = directory.entries.get(name);
    if (inode === undefined) throw errno('ENOENT', path);
    const where = `${directory.path}/${name}`;
    directory.entries.delete(name);
    inode.names.delete(where);
    if (by === 'dropcast') this.putAway.push({ path: where, at: this.#time.elapsed, inode });
    else this.#note(inode, where);
    inode.links -= 1;
    inode.ctime = this.#now();
    if (inode.links > 0 || inode.kind === 'directory') return;
    this.#free.push(inode.ino);
    this.removals.push({ by, path: where, sha256: sha256Of(inode.data), at: this.#time.elapsed });
  }

  #tell(event: DiskChange['event'], inode: Inode, path: string): void {
    if (inode.kind === 'file' && event !== 'unlink') {
      const size = inode.data.length;
      const look = `${inode.ino}:${inode.birth}:${size}:${inode.mtime}`;
      this.contents.push({ path, sha256: sha256Of(inode.data), size, at: this.#time.elapsed, look });
    }
    for (const listener of this.listeners) listener({ event, path });
  }

  /** Nanoseconds, as coarse as the clock that stamps files: 4 ms. */
  #now(): bigint {
    return BigInt(Math.floor(this.#time.wall / 4) * 4) * 1_000_000n;
  }
}

export function sha256Of(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

export function errno(code: string, path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: simulated, '${path}'`), { code, errno: -1, syscall: 'simulated', path });
}
