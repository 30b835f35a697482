import { describe, expect, test } from 'vitest';
import { stateOf } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import { StaleRowError } from '../../../src/pipeline/file/ports.ts';
import type { Answer, SendHooks } from '../../../src/pipeline/file/ports.ts';
import { stopped } from '../../../src/pipeline/file/failure.ts';
import { createRecord } from '../../../src/pipeline/steps/create.ts';
import type { CreateWorld } from '../../../src/pipeline/steps/create.ts';
import { createRunner } from '../../../src/pipeline/steps/runner.ts';
import type { RunnerWorld } from '../../../src/pipeline/steps/runner.ts';
import { uploadFile } from '../../../src/pipeline/steps/upload.ts';
import { recordingEvents, rowsOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { recordingLogger } from '../silent-logger.ts';
import { created, failure, someFacts, uploaded } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';
import { noQuota } from '../no-quota.ts';
import { noSizeLimits } from '../no-size-limits.ts';

/** A runner over a service that takes everything, but for what the test puts in its place. */
function open(rows: readonly Facts[], other: Partial<RunnerWorld & CreateWorld> = {}) {
  const clock = new TestClock();
  const store = new MemoryStore(rows);
  const logger = recordingLogger();
  const events = recordingEvents();
  const ended: (Failure | null)[] = [];
  const stuck: unknown[] = [];
  const held = rowsOf(store, events);
  const service: CreateWorld = {
    store,
    host: {
      create: async () => ({ ok: true, value: { videoId: 'vid_1', uploadUrl: 'u:vid_1', status: 'pending' } }),
      status: async () => ({ ok: true, value: 'pending' }),
      send: async (_facts, { beforeLastPart }) => {
        await beforeLastPart('aa');
        return { ok: true, value: { sha256: 'aa' } };
      },
      remove: async () => ({ ok: true, value: null }),
      amend: async () => ({ ok: true, value: null }),
    },
    local: {
      check: async () => null,
      hash: async () => ({ ok: true, value: 'aa' }),
      checksums: async () => ({ ok: true, value: [] }),
      dispose: async () => ({ ok: true, value: null }),
    },
    budget: { take: async (_lane, signal) => !signal.aborted },
    receipts: { append: async () => undefined },
    clock,
    passing: new Set(),
    binding: new Set(),
    newToken: () => 'token',
    sizeLimits: noSizeLimits,
    quota: noQuota,
    unconfirmed: { mayRisk: async () => true, waitUntil: () => null },
    ...other,
  };
  const runner = createRunner({
    rows: held,
    store,
    steps: {
      creating: (row, signal) => createRecord(row, signal, service),
      uploading: (row, signal) =>
        uploadFile(row, signal, {
          ...service,
          sizeLimits: noSizeLimits,
          uploadHosts: { believe: () => undefined, isSpared: () => false, takesNewAddress: () => false },
          deadMs: () => 0,
          renew: () => Promise.reject(new Error('an upload makes no record')),
          uploadsStartAt: () => null,
          onProgress: () => undefined,
          onResumed: () => undefined,
        }),
    },
    policy: { attempts: 3, retryAt: (attempts) => clock.now() + attempts, now: () => clock.now() },
    events,
    clock,
    logger,
    ended: (_facts, why) => ended.push(why),
    stuck: (_id, error) => stuck.push(error),
    ...other,
  });
  /** The failures that were told of. */
  const failed = (): readonly Failure[] =>
    events.told.flatMap((event) => (event.type === 'failure' ? [event.failure] : []));
  return { runner, world: service, store, held, events, clock, logger, failed, ended, stuck };
}

describe('a step', () => {
  test('takes a file from queued to awaiting upload to processing', async () => {
    const { runner, store, ended } = open([someFacts()]);
    await runner.run('f_1');
    expect(store.row()).toMatchObject({ videoId: 'vid_1', uploadUrl: 'u:vid_1', intent: null });
    await runner.run('f_1');
    expect(store.row()).toMatchObject({ sha256: 'aa', remoteStatus: 'processing', attempts: 0 });
    expect(stateOf(store.row())).toBe('processing');
    expect(ended).toEqual([null, null]);
  });

  test('does nothing with a file that waits for something else, or is not there', async () => {
    const { runner, store } = open([someFacts(uploaded)]);
    await runner.run('f_1');
    await runner.run('f_2');
    expect(store.history).toEqual([]);
  });

  test('that fails waits with its reason, and counts', async () => {
    const { runner, world, store, failed } = open([someFacts(created)]);
    world.host.send = async () => ({ ok: false, failure: failure('transient') });
    await runner.run('f_1');
    expect(store.row()).toMatchObject({ attempts: 1, lastFailure: failure('transient'), uploadStartedAt: 1_000_000 });
    expect(stateOf(store.row())).toBe('retrying');
    expect(failed()).toEqual([failure('transient')]);
  });

  test('fails permanently at the last attempt', async () => {
    const { runner, world, store } = open([someFacts({ ...created, attempts: 2 })]);
    world.host.send = async () => ({ ok: false, failure: failure('transient') });
    await runner.run('f_1');
    expect(store.row()).toMatchObject({ end: 'failed', why: 'it was transient', endedAt: 1_000_000 });
  });

  // After the intent was written the row is newer than what the machine started with.
  test('that throws in its middle keeps what it has written, and waits', async () => {
    const { runner, world, store } = open([someFacts()]);
    world.host.create = () => Promise.reject(new TypeError('not a function'));
    await runner.run('f_1');
    expect(store.row()).toMatchObject({ intent: 'token', attempts: 1, lastFailure: { kind: 'bug' } });
    expect(stateOf(store.row())).toBe('retrying');
  });

  test('that throws because the disk is full costs no attempt', async () => {
    const { runner, store, failed } = open([someFacts()], {
      receipts: { append: () => Promise.reject(Object.assign(new Error('no space left'), { code: 'ENOSPC' })) },
    });
    await runner.run('f_1');
    expect(store.row().attempts).toBe(0);
    expect(failed()).toMatchObject([{ kind: 'suspended', code: 'ENOSPC' }]);
  });

  test('that changed nothing is quarantined, or it would run for ever', async () => {
    const { runner, store, logger } = open([someFacts()], {
      steps: { creating: async () => ({ type: 'kept' }), uploading: async () => ({ type: 'arrived' }) },
    });
    await runner.run('f_1');
    expect(store.row().notBefore).toBe(1_030_000);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { file: 'f_1' } }]);
  });

  // The row has changed, so that alone does not tell; unheeded, the lane would create one record after another.
  test('that ends as no step of its kind can is put into quarantine, also when it has written', async () => {
    const { runner, store, logger } = open([someFacts()], {
      steps: {
        creating: async (row) => {
          await row.write({ suspects: ['t1'] });
          return { type: 'arrived' };
        },
        uploading: async () => ({ type: 'bound' }),
      },
    });
    await runner.run('f_1');
    expect(store.row()).toMatchObject({ suspects: ['t1'], notBefore: 1_030_000 });
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { file: 'f_1' } }]);
  });

  test('whose end cannot be worked out is put into quarantine too', async () => {
    const { runner, store, logger } = open([someFacts()], {
      unconfirmed: { mayRisk: async () => false, waitUntil: () => null },
      policy: {
        attempts: 3,
        retryAt: () => {
          throw new Error('no time');
        },
        now: () => 7,
      },
    });
    await runner.run('f_1');
    expect(store.row().notBefore).toBe(1_030_000);
    expect(logger.lines).toMatchObject([{ level: 'error', fields: { file: 'f_1' } }]);
  });

  test('whose end cannot be written down stops everything', async () => {
    const { runner, store, stuck } = open([someFacts()]);
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    store.save = () => Promise.reject(full);
    await runner.run('f_1');
    expect(stuck).toEqual([full]);
  });
});

describe('a file that another worker takes over', () => {
  const overtaken = (other: Partial<Facts> = {}) => {
    const opened = open([someFacts({ ...created, ...other })]);
    const { world, store } = opened;
    world.host.send = async () => {
      await store.save({ ...store.row(), suspects: ['theirs'] });
      return { ok: false, failure: failure('transient') };
    };
    return opened;
  };

  test('in the middle of a step is left to it, and nothing else waits for that', async () => {
    const { runner, store, stuck, ended, failed } = overtaken({ uploadStartedAt: 2 });
    expect(await runner.run('f_1')).toBe(false);
    expect(store.row()).toMatchObject({ suspects: ['theirs'], attempts: 0, notBefore: null });
    expect([stuck, ended, failed()]).toEqual([[], [], []]);
  });

  test('before an event could be written is busy', async () => {
    const { runner, store } = open([someFacts(uploaded)]);
    store.save = () => Promise.reject(new StaleRowError('expected revision 0, found 1'));
    expect(await runner.apply('f_1', { type: 'GIVE_UP' })).toBe('busy');
  });

  test('before the step is not ours, and the lane need not hurry', async () => {
    const { runner, store } = open([someFacts(created)]);
    store.claimed.add('f_1');
    expect(await runner.run('f_1')).toBe(false);
    store.claimed.clear();
    expect(await runner.run('f_1')).toBe(true);
  });

  // The service may hold a record for the token of the first.
  test('while a create request is under way leaves its token to the other as a suspect', async () => {
    const store = new MemoryStore([someFacts()]);
    const lost = new AbortController();
    const { claim } = store;
    store.claim = async (id) => {
      const granted = await claim.call(store, id);
      return granted && { ...granted, lost: lost.signal };
    };
    const { runner, world, stuck, failed } = open([], { rows: rowsOf(store), store });
    world.host.create = async () => {
      lost.abort();
      await turns();
      return { ok: true, value: { videoId: 'vid_1', uploadUrl: 'u:vid_1', status: 'pending' } };
    };
    await runner.run('f_1');
    expect(store.row()).toMatchObject({ intent: 'token', videoId: null });
    expect([stuck, failed()]).toEqual([[], []]);
    store.claim = claim;
    const other = open([], { rows: rowsOf(store), store, newToken: () => 'second' });
    await other.runner.run('f_1');
    expect(store.row()).toMatchObject({ intent: null, suspects: ['token'], videoId: 'vid_1' });
  });
});

describe('a file that a step works on', () => {
  test('belongs to no other step until the step ends', async () => {
    const { runner, world, store, held } = open([someFacts(created)]);
    const sending = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const { send } = world.host;
    world.host.send = async (facts, hooks) => {
      begun.resolve();
      await sending.promise;
      return send(facts, hooks);
    };
    const step = runner.run('f_1');
    await begun.promise;
    expect(held.isHeld('f_1')).toBe(true);
    expect(await runner.apply('f_1', { type: 'FILE_GONE' })).toBe('busy');
    expect(await held.claim('f_1', () => Promise.resolve('mine'))).toBeNull();
    await runner.run('f_1');
    sending.resolve();
    await step;
    expect(held.isHeld('f_1')).toBe(false);
    expect(stateOf(store.row())).toBe('processing');
  });
});

describe('an event', () => {
  test('is applied, ignored, or not known', async () => {
    const { runner, store, logger } = open([someFacts(uploaded)]);
    expect(await runner.apply('f_1', { type: 'REMOTE_STATUS', status: 'ready' })).toBe('applied');
    expect(store.history.at(-1)?.note).toContain('ready');
    expect(await runner.apply('f_1', { type: 'GIVE_UP' })).toBe('ignored');
    expect(logger.lines).toMatchObject([{ level: 'warn', fields: { event: 'GIVE_UP' } }]);
    expect(await runner.apply('f_2', { type: 'RETRY' })).toBe('ignored');
  });

  test('that ends a file badly is reported as a failure, once', async () => {
    const { runner, failed, store } = open([someFacts(uploaded)]);
    await runner.apply('f_1', { type: 'GIVE_UP' });
    await runner.apply('f_1', { type: 'FILE_CHANGED' });
    expect(failed()).toMatchObject([{ code: 'gave_up' }]);
    expect(store.history.map(({ state }) => state)).toEqual(['failed', 'superseded']);
  });
});

test('a failure is reported once, also by a ledger that rereads each row', async () => {
  const { runner, store, failed } = open([someFacts({ ...created, notBefore: 1, lastFailure: failure('transient') })]);
  const { save } = store;
  store.save = async (facts, note) => structuredClone(await save.call(store, facts, note));
  await runner.apply('f_1', { type: 'GO' });
  expect(stateOf(store.row())).toBe('awaiting upload');
  expect(failed()).toEqual([]);
});

describe('stopping at once', () => {
  test('cuts an upload and leaves the row as it is', async () => {
    const { runner, world, store, failed } = open([someFacts(created)]);
    world.host.send = (_facts, { signal }) =>
      new Promise((resolve) => {
        const cut = { ok: false, failure: failure('throttled', { code: 'aborted' }) } as const;
        signal.addEventListener('abort', () => resolve(cut), { once: true });
      });
    const step = runner.run('f_1');
    await until(() => store.row().uploadStartedAt !== null);
    await runner.abort();
    await step;
    expect(store.row()).toMatchObject({ notBefore: null, attempts: 0, lastFailure: null });
    expect(failed()).toEqual([]);
  });

  test('waits for the answer of a create request, and writes it down', async () => {
    const { runner, world, store, held } = open([someFacts()]);
    const answered = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<AbortSignal>();
    world.host.create = async (_facts, _token, signal) => {
      asked.resolve(signal);
      await answered.promise;
      return { ok: true, value: { videoId: 'vid_1', uploadUrl: 'u:vid_1', status: 'pending' } };
    };
    void runner.run('f_1');
    const signal = await asked.promise;
    let isStopped = false;
    const stopped = runner.abort().then(() => {
      isStopped = true;
    });
    await turns();
    expect([isStopped, signal.aborted, held.isHeld('f_1')]).toEqual([false, false, true]);
    expect(await runner.apply('f_1', { type: 'RETRY' })).toBe('busy');
    answered.resolve();
    await stopped;
    expect(store.row()).toMatchObject({ videoId: 'vid_1', intent: null });
  });
});

async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await turns();
}

describe('an event that cuts the step', () => {
  const ignore = { type: 'IGNORE', by: 'anna' } as const;

  /** An upload that ends only when it is cut. */
  const endless = {
    host: {
      create: async () => ({ ok: true, value: { videoId: 'vid_1', uploadUrl: 'u:vid_1', status: 'pending' } }),
      status: async () => ({ ok: true, value: 'pending' }),
      send: (_facts: Facts, { signal }: SendHooks) =>
        new Promise<Answer<{ sha256: string }>>((resolve) =>
          signal.addEventListener('abort', () => resolve({ ok: false, failure: stopped })),
        ),
      remove: async () => ({ ok: true, value: null }),
      amend: async () => ({ ok: true, value: null }),
    } satisfies CreateWorld['host'],
  };

  test('ends an upload under way; its empty record stays in the row, to be given back', async () => {
    const { runner, store, failed } = open([someFacts(created)], endless);
    const step = runner.run('f_1');
    expect(await runner.interrupt('f_1', ignore)).toBe('applied');
    await step;
    expect(store.row()).toMatchObject({ end: 'skipped', why: 'ignored by anna', videoId: 'vid_1', uploadedAt: null });
    expect(failed()).toEqual([]);
  });

  test('is given before another step can begin', async () => {
    const { runner, store } = open([someFacts(created)], endless);
    const step = runner.run('f_1');
    const interrupted = runner.interrupt('f_1', ignore);
    // The lane takes the file up again as soon as its step has ended.
    await step.then(() => runner.run('f_1'));
    expect(await interrupted).toBe('applied');
    expect(stateOf(store.row())).toBe('skipped');
  });

  test('waits for the answer of a create request, and keeps the record that it made', async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { runner, store } = open([someFacts()], {
      host: {
        ...endless.host,
        create: async () => {
          asked.resolve();
          await answer.promise;
          return endless.host.create();
        },
      },
    });
    const step = runner.run('f_1');
    await asked.promise;
    const interrupted = runner.interrupt('f_1', ignore);
    answer.resolve();
    expect(await interrupted).toBe('applied');
    await step;
    expect(store.row()).toMatchObject({ end: 'skipped', videoId: 'vid_1', intent: null });
  });

  test('does not cut an upload whose last part may have left: it is finished', async () => {
    const last = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const { runner, store } = open([someFacts(created)], {
      host: {
        ...endless.host,
        send: async (_facts, { beforeLastPart, signal }) => {
          await beforeLastPart('aa');
          reached.resolve();
          await last.promise;
          return signal.aborted ? { ok: false, failure: stopped } : { ok: true, value: { sha256: 'aa' } };
        },
      },
    });
    const step = runner.run('f_1');
    await reached.promise;
    expect(await runner.interrupt('f_1', ignore)).toBe('ignored');
    last.resolve();
    await step;
    expect(stateOf(store.row())).toBe('processing');
  });

  test('a file without a worker gets it at once; one that is not there does not', async () => {
    const { runner, store } = open([someFacts()]);
    expect(await runner.interrupt('f_1', ignore)).toBe('applied');
    expect(await runner.interrupt('f_none', ignore)).toBe('ignored');
    expect(stateOf(store.row())).toBe('skipped');
  });

  test('two of them at the same moment are one', async () => {
    const { runner, store } = open([someFacts(created)], endless);
    const step = runner.run('f_1');
    const both = await Promise.all([
      runner.interrupt('f_1', ignore),
      runner.interrupt('f_1', { ...ignore, by: 'bob' }),
    ]);
    await step;
    expect(both.toSorted()).toEqual(['applied', 'ignored']);
    expect(stateOf(store.row())).toBe('skipped');
  });

  test('a crash in between leaves the file as it was, with its record: it continues after the restart', async () => {
    const { runner, store } = open([someFacts(created)], endless);
    const step = runner.run('f_1');
    await runner.abort();
    await step;
    expect(stateOf(store.row())).toBe('awaiting upload');
  });
});

test('a failure says whether it is the one of the try before', async () => {
  const { runner, store, events } = open([someFacts()], {
    budget: { take: async () => true },
    host: {
      create: async () => ({ ok: false, failure: failure('transient') }),
      status: async () => ({ ok: true, value: 'pending' }),
      send: async () => ({ ok: true, value: { sha256: 'aa' } }),
      remove: async () => ({ ok: true, value: null }),
      amend: async () => ({ ok: true, value: null }),
    },
  });
  for (let n = 0; n < 2; n += 1) {
    await runner.run('f_1');
    await store.save({ ...store.row(), notBefore: null });
  }
  const told = events.told.flatMap((event) => (event.type === 'failure' ? [event.isRepeated] : []));
  expect(told).toEqual([false, true]);
});
