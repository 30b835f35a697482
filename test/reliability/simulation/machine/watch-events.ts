import { EventEmitter } from 'node:events';
import { basename, dirname } from 'node:path';
import type { DiskChange } from './disk.ts';
import { statsOf, theDisk } from './file-system.ts';
import type { Inode } from './inode.ts';
import { machine } from './machine.ts';

/** How many of a hundred events never come: Node drops an overflow of inotify without a word. */
let lossPercent = 0;

export function loseEvents(percent: number): void {
  lossPercent = percent;
}

type Ignored = (path: string, stats?: unknown) => boolean;

/** chokidar, as far as dropcast uses it: without depth, each directory is given to it, and it keeps no files. */
class Watcher extends EventEmitter {
  readonly #ignored: Ignored;
  readonly #directories = new Set<string>();
  readonly #host = machine();
  readonly #process = this.#host.process;
  #isClosed = false;
  readonly #hear = (change: DiskChange): void => {
    if (!this.#directories.has(dirname(change.path)) && !this.#directories.has(change.path)) return;
    if (this.#host.random.chance(lossPercent / 100)) {
      this.#host.reach('event lost');
      return;
    }
    this.#emitSoon(change);
  };

  constructor(ignored: Ignored) {
    super();
    this.#ignored = ignored;
    theDisk().listeners.add(this.#hear);
    void this.#process?.death.promise.then(() => theDisk().listeners.delete(this.#hear));
  }

  add(paths: string | readonly string[]): this {
    for (const path of [paths].flat()) this.#addDirectory(path);
    return this;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    theDisk().listeners.delete(this.#hear);
  }

  #addDirectory(path: string): void {
    this.#directories.add(path);
    const directory = theDisk().peek(path);
    if (directory?.kind !== 'directory') return;
    this.#emitSoon({ event: 'addDir', path });
    for (const [name, entry] of directory.entries) this.#showSoon(`${path}/${name}`, entry);
  }

  #emitSoon({ event, path }: DiskChange): void {
    if (event === 'addDir' || event === 'unlinkDir') this.#soon(() => this.#ignored(path) || this.emit(event, path));
    const kind = event === 'change' ? 'change' : 'rename';
    this.#soon(() => this.emit('raw', kind, basename(path), { watchedPath: dirname(path) }));
  }

  /** What it lists it shows to whoever says what to ignore. */
  #showSoon(path: string, entry: Inode): void {
    this.#soon(() => {
      if (!this.#ignored(path, statsOf(entry)) && entry.kind === 'directory') this.emit('addDir', path);
    });
  }

  #soon(act: () => void): void {
    const ms = this.#host.random.between(0.1, 60);
    this.#host.time.after(ms, () => this.#isClosed || act(), this.#process);
  }
}

export function watch(_paths: readonly string[], options: { readonly ignored: Ignored }): Watcher {
  return new Watcher(options.ignored);
}
