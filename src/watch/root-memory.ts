import type { Logger } from '../log/logger.ts';
import type { RootDoubt, RootRecord, RootStore } from './ports.ts';
import type { RootIdentity } from './root-identity.ts';

export interface RootMemoryOptions {
  /** Absolute path of the folder. */
  readonly path: string;
  readonly roots: Pick<RootStore, 'load' | 'save'>;
  readonly logger: Logger;
}

/** What is remembered of one folder: which directory it is, and what is doubtful about it. */
export class RootMemory {
  readonly #options: RootMemoryOptions;
  #saved = '';
  #doubt: RootDoubt | null = null;

  constructor(options: RootMemoryOptions) {
    this.#options = options;
  }

  get doubt(): RootDoubt | null {
    return this.#doubt;
  }

  async load(): Promise<RootRecord | null> {
    const record = recordOf(await this.#options.roots.load(this.#options.path));
    this.#saved = JSON.stringify(record);
    this.#doubt = record?.doubt ?? null;
    return record;
  }

  /** Writes what changed. Where the disk refuses, the folder goes on, and the next change tries again. */
  async save(identity: RootIdentity | null, doubt: RootDoubt | null = this.#doubt): Promise<void> {
    const { path, roots, logger } = this.#options;
    this.#doubt = doubt;
    const record = { identity, doubt };
    const text = JSON.stringify(record);
    if (text === this.#saved) return;
    try {
      await roots.save(path, record);
      this.#saved = text;
    } catch (error) {
      logger.warn('Cannot save the identity of the folder', { folder: path, err: error });
    }
  }
}

/** A record that a flipped bit damaged counts as none. */
export function recordOf(saved: unknown): RootRecord | null {
  const record = saved as Partial<RootRecord> | null;
  if (record === null || typeof record !== 'object' || record.identity === undefined) return null;
  const { identity, doubt = null } = record;
  const texts =
    identity === null ? [] : [identity.device, identity.inode, identity.born, identity.kind, identity.mount];
  return texts.every((text) => typeof text === 'string') ? { identity, doubt } : null;
}
