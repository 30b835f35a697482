import { ignore } from '../../../src/daemon/commands/ignore.ts';
import { pause, resume } from '../../../src/daemon/commands/pause.ts';
import { publish } from '../../../src/daemon/commands/publish.ts';
import { reapply } from '../../../src/daemon/commands/reapply.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import type { FolderConfig } from '../../../src/config/config.ts';
import type { OlderState } from './judge.ts';
import { storedRows } from './machine/database.ts';
import { isOlder } from './older-state.ts';
import { judgedRow } from './settings.ts';
import type { Machine } from './machine/machine.ts';
import type { Random } from './machine/random.ts';

/** Every n-th life has an operator who cannot keep still. The others are as they were without one. */
const oneIn = 3;

const by = 'meddler';

const deeds = [
  'ignore',
  'ignore',
  'undo',
  'pause',
  'resume',
  'publish',
  'retry',
  'retry',
  'reapply',
  'nothing',
  'nothing',
] as const;

/** An operator who ignores, pauses, publishes, retries and applies rules again at any moment. In the calm, all of it is taken back. */
export class Meddler {
  /** Files that were retried by name although they are recorded, or their videos were deleted. */
  readonly retried: OlderState['retried'][number][] = [];
  readonly #machine: Machine;
  readonly #random: Random;
  readonly #folders: readonly FolderConfig[];

  constructor(machine: Machine, random: Random, folders: readonly FolderConfig[]) {
    this.#machine = machine;
    this.#random = random;
    this.#folders = folders;
  }

  get #isThere(): boolean {
    return this.#machine.seed % oneIn === 0;
  }

  /** How long until the next look; null: nobody is there. */
  get everyMs(): number | null {
    return this.#isThere ? this.#random.between(20, 2_500) : null;
  }

  async meddle(daemon: Daemon): Promise<void> {
    if (!this.#isThere) return;
    const deed = this.#random.pick(deeds);
    await this.#tried(deed, () => this.#do(deed, daemon));
  }

  /** What an operator wanted for a while must not keep a file from the service for good. */
  async takeBack(daemon: Daemon): Promise<void> {
    if (!this.#isThere) return;
    await this.#tried('resume', () => resume(daemon, { folder: null, by }));
    await this.#tried('undo', () => this.#undo(daemon));
  }

  async #do(deed: (typeof deeds)[number], daemon: Daemon): Promise<unknown> {
    const folder = this.#random.chance(0.3) ? null : this.#random.pick(this.#folders).path;
    switch (deed) {
      case 'ignore':
        return this.#ignore(daemon);
      case 'undo':
        return this.#undo(daemon);
      case 'pause': {
        const until = this.#random.chance(0.8)
          ? Math.round(this.#machine.time.wall + this.#random.between(-500, 15_000))
          : null;
        return pause(daemon, { folders: folder === null ? [] : [folder], until, by });
      }
      case 'resume':
        // Its answer about an older state directory is that of the operator of older-state.ts.
        if (daemon.folders.status().some(({ path, why }) => path === folder && isOlder(why))) return null;
        return resume(daemon, { folder, by });
      case 'publish':
        // Nobody waits for its answer.
        void publish(daemon, { feeds: ['feed_news'] }).catch(() => undefined);
        return null;
      case 'retry':
        return this.#retry(daemon);
      case 'reapply':
        return this.#reapply(daemon);
      default:
        return null;
    }
  }

  /** One of them by name: that retries more than a retry of many. */
  async #retry(daemon: Daemon): Promise<void> {
    const id = this.#someFile();
    if (id === null) return;
    const at = this.#machine.time.elapsed;
    const failure = storedRows('file')
      .map(judgedRow)
      .find((row) => row.id === id)?.failure;
    const isRecorded = failure?.code === 'existing' || failure?.kind === 'gone';
    const { retried } = await retry(daemon, { names: [id], force: this.#random.chance(0.3) });
    if (retried.length === 0) return;
    this.#machine.reach('retried by name');
    if (isRecorded) this.retried.push({ id, at });
  }

  async #reapply(daemon: Daemon): Promise<void> {
    const id = this.#random.chance(0.5) ? this.#someFile() : null;
    const { files } = await reapply(daemon, { names: id === null ? [] : [id] });
    if (files > 0) this.#machine.reach('rules applied again');
  }

  #someFile(): string | null {
    const ids = storedRows('file').map(({ id }) => String(id));
    return ids.length === 0 ? null : this.#random.pick(ids);
  }

  async #ignore(daemon: Daemon): Promise<void> {
    const ids = storedRows('file').map(({ id }) => String(id));
    if (ids.length === 0) return;
    const names = this.#random.chance(0.2) ? ids : [this.#random.pick(ids)];
    const { done } = await ignore(daemon, { names, by });
    if (done.length > 0) this.#machine.reach('ignored');
    if (done.length > 0 && this.#random.chance(0.3)) await this.#undo(daemon);
  }

  async #undo(daemon: Daemon): Promise<void> {
    const { done } = await ignore(daemon, { names: [], selection: { cause: 'ignored' }, isUndone: true, by });
    if (done.length > 0) this.#machine.reach('no longer ignored');
  }

  /** The disk may be in trouble. */
  async #tried(deed: string, action: () => Promise<unknown>): Promise<void> {
    this.#machine.log('meddler', deed);
    try {
      await action();
    } catch (error) {
      this.#machine.log('meddler could not', String(error));
    }
  }
}
