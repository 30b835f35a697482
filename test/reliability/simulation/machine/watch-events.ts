import { EventEmitter } from 'node:events';
import { dirname } from 'node:path';
import type { DiskChange } from './disk.ts';
import { theDisk } from './file-system.ts';
import { machine } from './machine.ts';

/** How many of a hundred events never come: Node drops an overflow of inotify without a word. */
let lossPercent = 0;

export function loseEvents(percent: number): void {
  lossPercent = percent;
}

/** chokidar, as far as dropcast uses it: without depth, each directory is given to it. */
class Watcher extends EventEmitter {
  readonly #ignored: (path: string) => boolean;
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

  constructor(ignored: (path: string) => boolean) {
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
    for (const [name, entry] of directory.entries)
      this.#emitSoon({ event: entry.kind === 'directory' ? 'addDir' : 'add', path: `${path}/${name}` });
  }

  #emitSoon({ event, path }: DiskChange): void {
    if (this.#ignored(path)) return;
    const ms = this.#host.random.between(0.1, 60);
    this.#host.time.after(ms, () => this.#isClosed || this.emit(event, path), this.#process);
  }
}

export function watch(_paths: readonly string[], options: { readonly ignored: (path: string) => boolean }): Watcher {
  return new Watcher(options.ignored);
}
