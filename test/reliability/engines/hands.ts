import { dirname } from 'node:path';
import { ignore } from '../../../src/daemon/commands/ignore.ts';
import { pause, resume } from '../../../src/daemon/commands/pause.ts';
import { publish } from '../../../src/daemon/commands/publish.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { Disk } from '../simulation/machine/disk.ts';
import type { Act } from './plan.ts';

const by = 'operator';

/** Those who work in the folders, by the plan. What is no longer there they leave alone. */
export class Hands {
  readonly #disk: Disk;
  #hidden = 0;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** @returns false when it is for an operator */
  onDisk(act: Act): boolean {
    switch (act.kind) {
      case 'drop':
        if (act.title !== null) this.#retitle(act.path, act.title);
        this.#put(act.path, bytesOf(act.content), act.content);
        return true;
      case 'replace':
        if (this.#isThere(act.path)) this.#put(act.path, bytesOf(act.content), act.content);
        return true;
      case 'rename':
        if (this.#isThere(act.path)) this.#disk.rename(act.path, this.#below(act.to), 'people');
        return true;
      case 'delete':
        if (this.#isThere(act.path)) this.#disk.unlink(act.path, 'people');
        return true;
      case 'retitle':
        if (this.#isThere(act.path)) this.#retitle(act.path, act.title);
        return true;
      default:
        return false;
    }
  }

  #isThere(path: string): boolean {
    return this.#disk.peek(path) !== null;
  }

  #retitle(path: string, title: string): void {
    this.#put(path.replace(/\.mp4$/, '.yaml'), Buffer.from(`title: "${title}"\n`), 0);
  }

  /** At once, as a rename does; with the time that the file had elsewhere, as `cp -p` and rsync do. */
  #put(path: string, bytes: Uint8Array, content: number): void {
    const hidden = `${dirname(this.#below(path))}/.dropping-${(this.#hidden += 1)}`;
    const inode = this.#disk.open(hidden, 0o101);
    this.#disk.write(inode, bytes, 0, true);
    this.#disk.restoreTime(inode, 1_770_000_000_123_456_789n + BigInt(content) * 1_000_000_007n);
    this.#disk.rename(hidden, path, 'people');
  }

  #below(path: string): string {
    if (!this.#isThere(dirname(path))) this.#disk.mkdir(dirname(path));
    return path;
  }
}

/** What an operator says to the daemon. */
export async function say(act: Act, daemon: Daemon): Promise<unknown> {
  switch (act.kind) {
    case 'pause':
      return pause(daemon, { folders: act.folder === null ? [] : [act.folder], until: null, by });
    case 'resume':
      return resume(daemon, { folder: null, by });
    case 'publish':
      // Nobody waits for its answer.
      void publish(daemon, { feeds: ['feed_news'] }).catch(() => undefined);
      return null;
    case 'retry':
      return retry(daemon, { names: [], selection: { states: ['failed', 'held', 'retrying'] } });
    case 'ignore':
      return ignore(daemon, { names: [act.path], by });
    default:
      return null;
  }
}

/** The same for the same number, and no container that anybody knows. */
function bytesOf(content: number): Uint8Array {
  const size = content % 3 === 0 ? 5_000 + content * 977 : 100 + content * 37;
  return Buffer.alloc(size, `content ${content} `);
}
