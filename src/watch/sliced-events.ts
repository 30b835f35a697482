import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { probeName } from './event-proof.ts';
import { Slices } from './slices.ts';

type Listener = (event: string, name: string | null) => void;

/**
 * Makes `fs.watch` tell its events in slices. libuv reads events until the kernel has no more, without a turn of the event loop: as long
 * as files come faster than chokidar handles their events, nothing else happens: 100,000 files stopped a daemon for 12 s. chokidar offers no
 * place for this (docs/decisions/0056-events-come-in-slices.md).
 */
export function sliceEvents(): void {
  const { watch } = fs;
  const slices = new Slices();
  let watches = 0;
  const sliced = (path: fs.PathLike, options: fs.WatchOptions, listener?: Listener): fs.FSWatcher => {
    // Another form than chokidar's, of somebody else in the process.
    if (listener === undefined) return Reflect.apply(watch, fs, [path, options]);
    const number = (watches += 1);
    let isClosed = false;
    const watcher = watch(path, { ...options, encoding: 'utf8' }, (event, name) => {
      const tell = (): void => {
        if (!isClosed) listener(event, name);
      };
      // It has to arrive in time, whatever waits.
      if (name !== null && basename(name) === probeName) tell();
      else slices.add(`${number} ${event} ${name}`, tell);
    });
    return watcher.once('close', () => {
      isClosed = true;
    });
  };
  Object.assign(fs, { watch: sliced });
  syncBuiltinESMExports();
}
