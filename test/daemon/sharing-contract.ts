import { expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { createEventStream } from '../../src/daemon/events.ts';
import { createMessageTargets } from '../../src/daemon/message-targets.ts';
import { openState } from '../../src/daemon/state/open-state.ts';
import { systemClock } from '../../src/daemon/daemon.ts';
import type { Conductor } from '../../src/pipeline/conductor.ts';
import { createRows } from '../../src/pipeline/file/rows.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { until } from '../support/until.ts';

const upload = { id: 'f_1', sentBytes: 1, sizeBytes: 2, idleMs: 0, bytesPerSecond: 10 };
const conductor = {
  uploads: () => [upload],
  quotaRoom: () => null,
  pace: () => ({ bytesPerSecond: 10, processingMs: 7, latePoll: null, slots: 3 }),
  pause: () => null,
  createsPauses: () => [],
  names: { unknown: () => [] },
  feedsWaiting: () => [],
  pollTrouble: () => null,
  nextPollAt: () => 5,
  comparison: () => null,
  wake: () => undefined,
} as unknown as Conductor;

/** What every `Sharing` promises to a host while no other one runs. */
export function sharingContract(openLedger: () => Promise<Pick<Config, 'ledger'> & AsyncDisposable>): void {
  const opened = async () => {
    await using stack = new AsyncDisposableStack();
    const { ledger: place } = stack.use(await openLedger());
    const scratch = stack.use(await scratchDirectory());
    const folder = scratch.path;
    const config = {
      ledger: place,
      stateDir: scratch.file('state'),
      file: scratch.file('dropcast.yaml'),
      failureLog: scratch.file('failures.log'),
      hostName: 'ingest1',
      folders: [{ path: folder }],
      uploads: { concurrency: 3 },
    } as unknown as Config;
    const { ledger, sharing } = await openState(config, stack, {
      clock: systemClock,
      logger: silentLogger,
      config: () => config,
      repaired: () => undefined,
    });
    const facts = someFacts({ folder });
    await ledger.insert(facts);
    const events = createEventStream(silentLogger, () => null);
    const join = async () =>
      sharing.join({
        ledger,
        rows: createRows({ store: ledger, events }),
        conductor,
        messageTargets: createMessageTargets(),
        folders: { findLostRows: () => undefined, status: () => [] },
        gate: { changedElsewhere: () => undefined },
        events,
        news: { add: () => undefined },
      });
    const parts = stack.move();
    return { sharing, facts, folder, join, [Symbol.asyncDispose]: () => parts.disposeAsync() };
  };

  test('it takes files, and gets the turn', async () => {
    await using host = await opened();
    expect(host.sharing.mayTake()).toBe(true);
    const turn = await until('the turn is its own', () => host.sharing.signal());
    expect(turn.aborted).toBe(false);
  });

  test('it reads the files of its folders, and asks no other host for them', async () => {
    await using host = await opened();
    expect(host.sharing.whyNotHere(host.folder)).toBeNull();
    const elsewhere = host.sharing.elsewhere({ load: async () => null, hash: () => Promise.reject(new Error('read')) });
    await using shared = await host.join();
    shared.start({ list: () => [] });
    expect(elsewhere?.isHeld(host.facts.id) ?? false).toBe(false);
    expect((await elsewhere?.hashOf(host.facts, new AbortController().signal)) ?? null).toBeNull();
  });

  test('views show the work of this host', async () => {
    await using host = await opened();
    await using shared = await host.join();
    expect(await shared.ledger.totals('by state')).toEqual({ queued: 1 });
    expect([shared.rows.held(), shared.rows.isHeld(host.facts.id)]).toEqual([[], false]);
    expect(shared.conductor.uploads()).toEqual([upload]);
    await until('the turn is its own', () => host.sharing.signal());
    expect([shared.conductor.nextPollAt(), shared.messageTargets.deaf()]).toEqual([5, []]);
    expect(shared.reports(host.folder)).toBe(true);
  });

  test('once it has started, it is the one host that others see, if there can be others', async () => {
    await using host = await opened();
    await using shared = await host.join();
    shared.start({ list: () => [] });
    await until(
      'its row says what it does',
      () => shared.fleet === null || shared.fleet.known().every(({ doing }) => doing.slots === 3),
    );
    expect(shared.fleet?.known().map(({ name }) => name) ?? []).toEqual(shared.fleet === null ? [] : ['ingest1']);
    expect(host.sharing.mayTake()).toBe(true);
  });
}
