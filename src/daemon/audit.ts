import type { Ledger } from '../ledger/ledger.ts';
import type { Logger } from '../log/logger.ts';
import type { Conductor } from '../pipeline/conductor.ts';
import { auditNote } from '../pipeline/file/audit.ts';
import type { AuditCost, AuditRun, AuditWanted } from '../pipeline/file/audit.ts';
import type { Budget, Clock, LocalFiles, Turn, VideoLibrary } from '../pipeline/file/ports.ts';
import { hasSpareRequest, spareHours } from '../pipeline/request-shares.ts';
import { auditedFiles, createAudit, newAudit } from '../pipeline/rounds/audit.ts';
import { createWakeUp } from '../pipeline/wake-up.ts';

interface AuditWorld {
  readonly ledger: Ledger;
  readonly library: Pick<VideoLibrary, 'list' | 'get' | 'names' | 'probe'>;
  readonly local: Pick<LocalFiles, 'hash'>;
  readonly budget: Pick<Budget, 'room'>;
  readonly conductor: Pick<Conductor, 'pause' | 'feedsWaiting'>;
  readonly turn: Turn;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type Audit = ReturnType<typeof startAudit>;

/** Milliseconds until the next step. While idle, another host may begin an audit. */
const restMs = { again: 0, wait: 10_000, idle: 60_000, failed: 30_000 } as const;
const costPatienceMs = 10_000;

/** Runs the audit that the ledger asks for, in requests that no other work needs. */
export function startAudit(world: AuditWorld) {
  const { ledger, library, budget, conductor, clock, logger } = world;
  const bell = createWakeUp();
  let current = new AbortController();
  const closing = new AbortController();
  let over = Promise.resolve();
  const maySpend = async (): Promise<boolean> => {
    if (conductor.pause() !== null) return false;
    const room = budget.room();
    const creates = await ledger.count({ states: ['queued'] }, room.limit);
    return hasSpareRequest(room, { creates, publishes: conductor.feedsWaiting().length });
  };
  const audit = createAudit({ ...world, store: ledger, selection: ledger.selection, now: () => clock.now(), maySpend });
  const running = async (): Promise<AuditRun | null> => {
    const run = (await ledger.note(auditNote)) as AuditRun | null;
    return run?.endedAt === null ? run : null;
  };
  const broke = (err: unknown): 'failed' => {
    logger.error('The audit failed; it is tried again', { err });
    return 'failed';
  };
  const work = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      const step = world.turn.signal() === null ? 'idle' : await audit.step(current.signal).catch(broke);
      await bell.wait(restMs[step]);
    }
  };
  const interrupt = (): void => {
    current.abort();
    current = new AbortController();
    bell.ring();
  };
  return {
    start: (): void => void (over = work()),
    /** @param mayAsk whether one request may be sent, for the number of videos */
    cost: async (wanted: AuditWanted, mayAsk: boolean): Promise<AuditCost> => {
      const [sum] = await ledger.counts({ where: auditedFiles(wanted), by: [], withBytes: true });
      const { files = 0, bytes = 0 } = sum ?? {};
      const isAsked = mayAsk && (await maySpend());
      const page = isAsked ? await library.list(1, AbortSignal.timeout(costPatienceMs)) : null;
      const videos = page?.ok === true ? page.value.total : null;
      const requests = { list: videos === null ? 0 : 1 + Math.ceil(videos / 100), files: wanted.isQuick ? 0 : files };
      const hours = spareHours(requests.list + requests.files, budget.room().limit);
      return { files, videos, requests, bytes: wanted.isQuick ? 0 : bytes, hours };
    },
    /** @returns false if an audit is running */
    begin: async (wanted: AuditWanted, by: string): Promise<boolean> => {
      if ((await running()) !== null) return false;
      await ledger.beginAudit(newAudit(wanted, by, await ledger.count(auditedFiles(wanted)), clock.now()));
      bell.ring();
      return true;
    },
    /** Ends the running audit and keeps what it found. @returns false if none is running */
    stop: async (): Promise<boolean> => {
      const run = await running();
      if (run !== null) await ledger.saveNote(auditNote, { ...run, step: 'stopped', endedAt: clock.now() });
      interrupt();
      return run !== null;
    },
    /** Why the running audit waits; null: for nothing, or for the request budget. */
    trouble: (): string | null => audit.trouble()?.message ?? null,
    [Symbol.asyncDispose]: async (): Promise<void> => {
      closing.abort();
      interrupt();
      await over;
    },
  };
}
