import { lookKey } from '../pipeline/file/file-version.ts';
import type { WatchCounts } from './ports.ts';
import type { WaitingFile } from './waiting-file.ts';

/** What is known of the files in a folder: those the sink has, and those that still settle. A changed file is in both. */
export class Inventory {
  /** Path → version key of what the sink has. One short string per file: there may be 100,000. */
  readonly taken = new Map<string, string>();
  readonly waiting = new Map<string, WaitingFile>();

  has(path: string): boolean {
    return this.taken.has(path) || this.waiting.has(path);
  }

  paths(): Set<string> {
    return new Set([...this.taken.keys(), ...this.waiting.keys()]);
  }

  /** Looks of the files that settle: one that the sink has from another path was renamed. */
  arrivingLooks(): ReadonlySet<string> {
    return new Set(Array.from(this.waiting.values(), (file) => lookKey(file.version)));
  }

  /** @param refused path → why */
  counts(refused: ReadonlyMap<string, string>, ignored: number): WatchCounts {
    const { taken, waiting } = this;
    const both = [...waiting.keys()].filter((path) => taken.has(path) && !refused.has(path)).length;
    const replaced = [...refused.keys()].filter((path) => taken.has(path)).length;
    const offered = taken.size - both - replaced;
    const seen = waiting.size + offered + ignored + refused.size;
    return { seen, settling: waiting.size, offered, ignored, refused: refused.size };
  }
}
