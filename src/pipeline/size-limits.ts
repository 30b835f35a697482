import type { Logger } from '../log/logger.ts';
import { believed } from './ages.ts';
import type { Facts } from './file/facts.ts';
import type { Failure } from './file/failure.ts';
import type { FileEvent } from './file/machine.ts';
import type { Clock, NoteStore } from './file/ports.ts';
import { learnedLimitOf, sizeLimitNote, whyTooLarge } from './file/size-limit.ts';
import type { LearnedLimit, SizeLimit } from './file/size-limit.ts';
import type { RowStore } from './file/row-groups.ts';

export interface SizeLimitsWorld {
  readonly store: NoteStore & RowStore<'too large'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether other hosts share the ledger, and with it the learned limit. */
  readonly isShared: boolean;
  /** Returns `uploads.max_size` in bytes, which a reload may change. */
  maxSizeBytes(): number;
  apply(id: string, event: FileEvent): Promise<unknown>;
  /** Schedules a call of `keep` for this time on the monotonic clock. */
  ringAt(at: number): void;
}

/** Interval between two files that test whether the learned limit still applies. */
const probeEveryMs = 24 * 60 * 60_000;

/** Wait after a test without a result, because its file was delayed or disappeared. */
const probeAgainMs = 60 * 60_000;

/** How long a change that another host made may go unnoticed. */
const readEveryMs = 10_000;

/**
 * Size of the smallest refused file from which a limit is learned. A host that refuses smaller ones as too large
 * refuses almost everything, so such a file fails like any other.
 */
const leastTaughtBytes = 1_048_576;

const mostAtOnce = 500;

export type SizeLimits = ReturnType<typeof createSizeLimits>;

/**
 * Keeps the limits on the size of files: `uploads.max_size`, and the one that an upload host's refusal taught. Larger
 * files are held before they cost a request. They continue when the setting allows them, or when a file of that size
 * was accepted; once a day, the smallest of them tests the learned limit.
 */
export function createSizeLimits(world: SizeLimitsWorld) {
  const { store, clock, logger } = world;
  /** Undefined until it was read. */
  let learned: LearnedLimit | null | undefined;
  let readAt = -Infinity;
  let probeAt = Infinity;
  /** Whether held files may continue. True at the start, because the setting may have changed. */
  let isReviewDue = true;

  const know = (limit: LearnedLimit | null): void => {
    if (learned !== undefined && learned !== null && limit === null) isReviewDue = true;
    if (limit?.at !== learned?.at) {
      const dueAt = limit === null ? Infinity : believed(limit.at + probeEveryMs, clock.now(), probeEveryMs);
      probeAt = dueAt - clock.now() + clock.elapsed();
      if (limit !== null) world.ringAt(probeAt);
    }
    learned = limit;
  };

  const read = async (): Promise<void> => {
    if (learned !== undefined && !(world.isShared && clock.elapsed() - readAt >= readEveryMs)) return;
    know(learnedLimitOf(await store.note(sizeLimitNote)));
    readAt = clock.elapsed();
  };

  const limits = (): SizeLimit => ({ maxSizeBytes: world.maxSizeBytes(), learned: learned ?? null });

  async function* held(): AsyncGenerator<Facts> {
    for (let after = ''; ;) {
      const rows = await store.rows({ group: 'too large', after, limit: mostAtOnce });
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < mostAtOnce) return;
      after = last.id;
    }
  }

  /** Releases files that are within the limits now, and those whose reason names an earlier value of the setting. */
  const review = async (): Promise<void> => {
    // Cleared first: a limit may change while the rows are read.
    isReviewDue = false;
    try {
      for await (const facts of held()) {
        const why = whyTooLarge({ ...facts, lastFailure: null }, limits());
        const isReworded = facts.lastFailure?.sizeLimit?.from === 'setting' && why?.message !== facts.why;
        if (why === null || isReworded) await world.apply(facts.id, { type: 'RETRY' });
      }
    } catch (error) {
      isReviewDue = true;
      throw error;
    }
  };

  /** Lets the smallest file above the learned limit through. Without one, the limit is forgotten. */
  const probe = async (): Promise<void> => {
    probeAt = clock.elapsed() + probeAgainMs;
    world.ringAt(probeAt);
    let smallest: Facts | null = null;
    for await (const facts of held()) {
      const isLearned = facts.lastFailure?.sizeLimit?.from === 'service';
      if (isLearned && facts.version.size < (smallest?.version.size ?? Infinity)) smallest = facts;
    }
    if (smallest === null) return save(null);
    logger.info('Trying whether the service accepts a large file now', { file: smallest.id });
    await world.apply(smallest.id, { type: 'RETRY' });
  };

  const save = async (limit: LearnedLimit | null): Promise<void> => {
    await store.saveNote(sizeLimitNote, limit);
    know(limit);
  };

  return {
    /**
     * Reads the learned limit, releases held files that may continue, and lets one through when a test is due. Called
     * on every tick of the loop.
     *
     * @param mayTest false if another host of the fleet sends the test, or no new video is accepted now
     */
    keep: async (mayTest: boolean): Promise<void> => {
      await read();
      if (isReviewDue) await review();
      if (mayTest && clock.elapsed() >= probeAt) await probe();
    },
    /** Returns why a file is too large to be sent; null if it is not, or has a record already. */
    whyNot: (facts: Facts): Failure | null => whyTooLarge(facts, limits()),
    /**
     * Learns from a host that refused a file because of its size. Durable when the promise resolves.
     *
     * @returns whether files of this size are held; false if the refusal teaches nothing
     */
    refused: async ({ id, version: { size } }: Facts, { kind, sizeLimit, status, code }: Failure): Promise<boolean> => {
      // A refusal because of the account has another kind by now.
      if (kind !== 'permanent' || size < leastTaughtBytes) return false;
      await read();
      const stated = sizeLimit?.mostBytes ?? null;
      const mostBytes = stated ?? Math.min(learned?.mostBytes ?? Infinity, size - 1);
      await save({
        mostBytes,
        isStated: stated !== null,
        refusedBytes: size,
        at: clock.now(),
        said: `${status ?? ''} ${code}`.trim(),
      });
      logger.warn('The service refused a file because of its size; larger files are held', { file: id, mostBytes });
      return true;
    },
    /** Records that a host accepted a file. A limit below its size no longer applies. */
    accepted: async ({ id, version: { size } }: Facts): Promise<void> => {
      const before = learned ?? null;
      if (before === null || size <= before.mostBytes) return;
      await save(null);
      logger.info('The service accepts larger files again', { file: id, mostBytes: before.mostBytes });
    },
    /** Records that the setting may have changed. */
    changed: (): void => {
      isReviewDue = true;
    },
  };
}
