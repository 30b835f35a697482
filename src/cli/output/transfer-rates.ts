import type { ProgressView } from './progress-view.ts';
import { bytesPerSecond, withSample } from './rate.ts';
import type { Sample } from './rate.ts';

/** Remembers how the bytes of each file, and of all, moved during the last seconds. */
export class TransferRates {
  #files: ReadonlyMap<string, readonly Sample[]> = new Map();
  #total: readonly Sample[] = [];

  /** Files that are no longer listed are forgotten. */
  observe(view: ProgressView, nowMs: number): void {
    const known = this.#files;
    this.#files = new Map(
      view.files.map(({ id, sentBytes }) => [id, withSample(known.get(id) ?? [], { atMs: nowMs, bytes: sentBytes })]),
    );
    if (view.totals !== null) this.#total = withSample(this.#total, { atMs: nowMs, bytes: view.totals.sentBytes });
  }

  /** Bytes per second, or `null` when it is not known yet. */
  ofFile(id: string, nowMs: number): number | null {
    return bytesPerSecond(this.#files.get(id) ?? [], nowMs);
  }

  ofAll(nowMs: number): number | null {
    return bytesPerSecond(this.#total, nowMs);
  }
}
