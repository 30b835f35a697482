import { aborted } from '../wake-up.ts';
import type { Events } from '../events.ts';
import { quarantineMs } from '../file/backoff.ts';
import { decide } from '../file/machine.ts';
import type { FileEvent, MachinePolicy } from '../file/machine.ts';
import { stateOf } from '../file/facts.ts';
import type { Facts, FileState } from '../file/facts.ts';
import { failureOfMachine, failureOfThrown, isMereWait } from '../file/failure.ts';
import type { Failure } from '../file/failure.ts';
import { setback } from '../file/outcome.ts';
import type { Outcome } from '../file/outcome.ts';
import type { Clock, FileStore } from '../file/ports.ts';
import { isTakenOver } from '../file/rows.ts';
import type { Row, Rows } from '../file/rows.ts';
import type { Logger } from '../../log/logger.ts';

/**
 * One step of a file's life. Does the work of its state, writes what it learns to the row, and returns how it ended.
 */
export type Step = (row: Row, signal: AbortSignal) => Promise<Outcome>;

export interface RunnerWorld {
  readonly rows: Rows;
  readonly store: Pick<FileStore, 'load'>;
  readonly steps: { readonly creating: Step; readonly uploading: Step };
  readonly policy: MachinePolicy;
  readonly events: Events;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called after every step and after an event that brought a failure; null means success. */
  ended(facts: Facts, failure: Failure | null): void;
  /** Called when not even the result of a step can be written, so that nothing can continue. */
  stuck(id: string, error: unknown): void;
}

/**
 * The effect of an event: `applied`, `busy` while a step is working on the file, or `ignored` if the event has no
 * meaning in the file's state.
 */
export type Applied = 'applied' | 'busy' | 'ignored';

export type Runner = ReturnType<typeof createRunner>;

/**
 * Carries out the machine's decisions: claims a row, asks for its next state, runs the step of that state and writes
 * the outcome.
 *
 * @param world.steps the work of `creating` and `uploading`
 */
export function createRunner(world: RunnerWorld) {
  const { rows, policy, logger } = world;
  const cut = new AbortController();
  const cuts = new Map<string, AbortController>();
  /** Files that must receive an event before any step. */
  const reserved = new Set<string>();

  const run = async (row: Row): Promise<void> => {
    const before = row.facts;
    const { state } = decide(stateOf(before), { facts: before, policy }, { type: 'GO' });
    if ((state !== 'creating' && state !== 'uploading') || reserved.has(before.id)) return;
    const own = new AbortController();
    cuts.set(before.id, own);
    const signal = AbortSignal.any([cut.signal, own.signal, row.lost]);
    const outcome = await perform(world.steps[state], row, signal).finally(() => cuts.delete(before.id));
    if (row.lost.aborted) logger.warn('Another worker took over the claim of a file', { file: before.id, state });
    // An aborted step decided nothing. What it learned is in the row, and the next start continues from there.
    if (signal.aborted) return;
    await conclude(row, state, outcome, world);
    if (row.facts.rev === before.rev) await quarantine(row, 'A step changed nothing');
  };

  /** Makes a file wait. Otherwise a step that changed nothing would run again immediately, forever. */
  const quarantine = async (row: Row, why: string, error?: unknown): Promise<void> => {
    const { id } = row.facts;
    logger.error(`${why}: the file waits for 30 s`, { file: id, ...(error !== undefined && { err: error }) });
    if (isRunnable(row.facts)) await row.write({ notBefore: world.clock.now() + quarantineMs }, why);
  };

  const runOrWait = async (row: Row): Promise<boolean> => {
    if (cut.signal.aborted || !isRunnable(row.facts)) return true;
    try {
      await run(row);
      return true;
    } catch (error) {
      if (failureOfMachine(error) !== null) throw error;
      if (isTakenOver(error)) {
        logger.warn('Another worker has the file now', { file: row.facts.id, err: error });
        return false;
      }
      await quarantine(row, 'Cannot finish a step', error);
      return true;
    }
  };

  const stuck = (id: string, error: unknown): boolean => {
    world.stuck(id, error);
    return true;
  };

  const apply = async (id: string, event: FileEvent): Promise<Applied> => {
    const applied = await rows.claim(id, (row) => applyEvent(row, event, world)).catch(busyIfTakenOver);
    if (applied !== null) return applied;
    return (await world.store.load(id)) === null ? 'ignored' : 'busy';
  };

  /**
   * Applies an event as soon as the row is free. The holder releases it soon after its step is aborted, unless a disk
   * hangs.
   */
  const applyOnceFree = async (id: string, event: FileEvent, isTooLate: AbortSignal): Promise<Applied> => {
    for (;;) {
      const facts = await world.store.load(id);
      if (facts === null || !decide(stateOf(facts), { facts, policy }, event).isExpected) return 'ignored';
      cuts.get(id)?.abort();
      await Promise.race([rows.released(id), aborted(isTooLate)]);
      if (isTooLate.aborted) return 'busy';
      const applied = await apply(id, event);
      if (applied !== 'busy' || !rows.isHeld(id)) return applied;
    }
  };

  return {
    /**
     * Takes a waiting file through one step. Never rejects.
     *
     * @returns false if another worker has the file, so that an immediate retry would be useless
     */
    run: async (id: string): Promise<boolean> => {
      if (reserved.has(id)) return false;
      const wasOurs = await rows.claim(id, runOrWait).catch((error: unknown) => stuck(id, error));
      return wasOurs ?? false;
    },
    /** Applies an event to a file that no step is working on. @throws any error from the ledger */
    apply,
    applyTo: (row: Row, event: FileEvent): Promise<Applied> => applyEvent(row, event, world),
    /**
     * Applies an event to a file that a step may be working on. Aborts the step if the event is meaningful in that
     * state, and lets no other step start first. A create request in progress is awaited.
     *
     * @param isTooLate ends the wait for the step that holds the row, perhaps on a hanging disk: the result is then
     *   `busy`, and the event is dropped
     */
    interrupt: async (
      id: string,
      event: FileEvent,
      isTooLate: AbortSignal = new AbortController().signal,
    ): Promise<Applied> => {
      reserved.add(id);
      return applyOnceFree(id, event, isTooLate).finally(() => reserved.delete(id));
    },
    /** Aborts the running steps and waits for them, because one may still write what it learned. */
    abort: async (): Promise<void> => {
      cut.abort();
      await rows.released();
    },
  };
}

function busyIfTakenOver(error: unknown): Applied {
  if (isTakenOver(error)) return 'busy';
  throw error;
}

/** Runs a step and converts what it throws. Only bugs and an exhausted machine make a step throw. */
async function perform(step: Step, row: Row, signal: AbortSignal): Promise<Outcome> {
  try {
    return await step(row, signal);
  } catch (error) {
    return setback(failureOfThrown(error));
  }
}

async function conclude(
  row: Row,
  step: FileState,
  outcome: Outcome,
  { policy, events, ended }: RunnerWorld,
): Promise<void> {
  const { lastFailure: before } = row.facts;
  const after = decide(step, { facts: row.facts, policy }, outcome);
  // The row may have changed nevertheless. Without this check, a lane would take the file again immediately and send
  // more requests.
  if (!after.isExpected) throw new Error(`the step of ${step} must not end with '${outcome.type}'`);
  const failure = 'failure' in outcome ? outcome.failure : null;
  const facts = await row.write(after.facts, failure?.message);
  if (failure !== null) tell(events, facts, failure, before);
  ended(facts, failure);
}

async function applyEvent(
  row: Row,
  event: FileEvent,
  { policy, events, logger, ended }: RunnerWorld,
): Promise<Applied> {
  const before = row.facts;
  const after = decide(stateOf(before), { facts: before, policy }, event);
  if (!after.isExpected)
    logger.warn('Event ignored in this state', { file: before.id, event: event.type, state: stateOf(before) });
  const facts = await row.write(after.facts, noteOf(event, after.facts));
  if (facts === before) return 'ignored';
  const { lastFailure } = after.facts;
  if (!isOfPerson.has(event.type) && lastFailure !== null && lastFailure !== before.lastFailure) {
    tell(events, facts, lastFailure, before.lastFailure);
    ended(facts, lastFailure);
  }
  return 'applied';
}

/**
 * Events that are decisions of the operator. They are not failures of the file, and the earlier hold was already
 * reported.
 */
const isOfPerson: ReadonlySet<FileEvent['type']> = new Set(['IGNORE', 'UNIGNORE', 'TAKE_BACK', 'VIDEO_DELETED']);

function tell(events: Events, facts: Facts, failure: Failure, before: Failure | null): void {
  const isRepeated = before?.code === failure.code;
  if (!isMereWait(failure)) events.emit({ type: 'failure', facts, failure, next: nextStep(facts), isRepeated });
}

/** Returns what happens next to a failed file, in words for the failure log. */
function nextStep(facts: Facts): string {
  if (facts.end !== null) return facts.end;
  return facts.notBefore === null ? 'tried again' : `next try not before ${new Date(facts.notBefore).toISOString()}`;
}

function isRunnable(facts: Facts): boolean {
  const state = stateOf(facts);
  return state === 'queued' || state === 'awaiting upload';
}

function noteOf(event: FileEvent, after: Facts): string | undefined {
  switch (event.type) {
    case 'PUBLISHED':
      return `feed ${event.feed} published`;
    case 'RETRY':
      return 'retry';
    case 'UNIGNORE':
      return 'no longer ignored';
    case 'VIDEO_KEPT':
      return `kept: ${event.why}`;
    case 'SEND_ELSEWHERE':
      return `retry, to channel ${event.channel}`;
    case 'ADOPTED':
      return `already on the service: video ${event.videoId}`;
    case 'REMOTE_STATUS':
      return after.lastFailure?.message ?? `the service says ${event.status}`;
    case 'PUBLISH_FAILED':
      return event.failure.message;
    default:
      return after.why ?? undefined;
  }
}
