import { describe, expect, test } from 'vitest';
import { folderAway } from '../../../src/pipeline/pause.ts';
import { unbound } from '../../../src/pipeline/file/facts.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { rearmed } from '../../../src/pipeline/file/reasons.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import type { Answer } from '../../../src/pipeline/file/ports.ts';
import { createAges } from '../../../src/pipeline/ages.ts';
import { addressGraceMs, uploadFile } from '../../../src/pipeline/steps/upload.ts';
import type { UploadWorld } from '../../../src/pipeline/steps/upload.ts';
import { outcomeOf } from '../held-rows.ts';
import { MemoryStore } from '../memory-store.ts';
import { created, failure, someFacts, uploaded } from '../some-facts.ts';
import { TestClock } from '../test-clock.ts';
import { noSizeLimits } from '../no-size-limits.ts';

const begun = { ...created, uploadStartedAt: 1 };
const dead = { ...begun, addressDeadAt: 1_000_000 };

/** An upload of this row, to a service that says this of the video and takes the bytes. */
function open(
  other: Partial<Facts>,
  status: Answer<string> = { ok: true, value: 'pending' },
  opensInMs: number | null = null,
) {
  const store = new MemoryStore([someFacts(other)]);
  const clock = new TestClock();
  const calls: string[] = [];
  const digests: { md5?: string } = {};
  const sent: { meanwhile: () => Promise<void> | void } = { meanwhile: () => undefined };
  const meanwhile = async (): Promise<void> => sent.meanwhile();
  const world: UploadWorld = {
    clock,
    store,
    passing: new Set(),
    sizeLimits: noSizeLimits,
    uploadHosts: { believe: () => undefined, isSpared: () => false, takesNewAddress: () => false },
    deadMs: createAges(
      clock,
      () => Infinity,
      ({ addressDeadAt }) => addressDeadAt,
    ).of,
    renew: () => Promise.reject(new Error('an upload makes no record')),
    host: {
      status: async () => {
        calls.push('status');
        return status;
      },
      send: async (facts, { alsoHash, beforeLastPart }) => {
        calls.push([`send to ${facts.uploadUrl}`, ...alsoHash].join(', '));
        await meanwhile();
        try {
          await beforeLastPart('aa', digests);
        } catch {
          return { ok: false, failure: failure('bug') };
        }
        calls.push(`last part, with ${store.row().sha256} on disk`);
        return { ok: true, value: { sha256: 'aa' } };
      },
      create: () => Promise.reject(new Error('an upload creates nothing')),
      remove: () => Promise.reject(new Error('an upload deletes nothing')),
      amend: () => Promise.reject(new Error('an upload changes nothing')),
    },
    local: {
      check: async () => null,
      hash: async () => ({ ok: true, value: 'aa' }),
      checksums: async () => ({ ok: true, value: [] }),
      dispose: () => Promise.reject(new Error('an upload disposes of nothing')),
    },
    receipts: {
      append: async (step) => {
        calls.push(`receipt: ${step}`);
      },
    },
    uploadsStartAt: () => (opensInMs === null ? null : clock.now() + opensInMs),
    onProgress: () => undefined,
    onResumed: () => undefined,
  };
  const run = () => outcomeOf(store, (row) => uploadFile(row, new AbortController().signal, world));
  return { run, world, store, clock, calls, digests, sent };
}

describe('the first upload', () => {
  test('needs no question, and has its hash on disk before the last part leaves', async () => {
    const { run, store, calls } = open(created);
    expect(await run()).toEqual({ type: 'arrived', failure: null });
    expect(calls).toEqual(['send to u:vid_1', 'last part, with aa on disk', 'receipt: uploaded']);
    expect(store.row()).toMatchObject({
      uploadStartedAt: 1_000_000,
      uploadedAt: 1_000_000,
      remoteStatus: 'processing',
    });
  });

  test('is not begun without the file', async () => {
    const { run, world, store, calls } = open(created);
    world.local.check = async () => failure('vanished');
    expect((await run()).failure).toEqual(failure('vanished'));
    expect([calls, store.row().uploadStartedAt]).toEqual([[], null]);
  });

  // The file was there a moment before: it may be the whole folder that went away.
  test.each<[string, Failure | null, object]>([
    ['a file that is away', failure('vanished'), { kind: 'vanished' }],
    ['a missing folder', failure('suspended', { code: folderAway }), { kind: 'suspended', code: folderAway }],
    ['one that is there again', null, { kind: 'transient', code: 'back_again' }],
  ])('that does not find its file tells %s', async (_name, found, expected) => {
    const { run, world } = open(created);
    let looks = 0;
    world.local.check = async () => ((looks += 1) === 1 ? null : found);
    world.host.send = async () => ({ ok: false, failure: failure('vanished') });
    expect((await run()).failure).toMatchObject(expected);
  });
});

describe('a checksum of the sender', () => {
  const says = (algorithm: 'md5' | 'sha256', digest: string, goesWithIt = true) => ({
    algorithm,
    digest,
    goesWithIt,
    from: { path: `clip.mp4.${algorithm}`, sha256: 'of the checksum file' },
  });
  const proofs = [{ path: 'clip.mp4.sha256', sha256: 'of the checksum file' }];

  test('that is equal lets the last part go, and goes with its file', async () => {
    const { run, world, store, calls } = open(created);
    world.local.checksums = async () => ({ ok: true, value: [says('sha256', 'aa'), says('sha256', 'aa', false)] });
    expect(await run()).toEqual({ type: 'arrived', failure: null });
    expect(calls).toEqual(['send to u:vid_1', 'last part, with aa on disk', 'receipt: uploaded']);
    expect(store.row().plan?.proofs).toEqual(proofs);
  });

  test('that differs keeps the last part back, and the file is held with both', async () => {
    const { run, world, store, calls } = open(created);
    world.local.checksums = async () => ({ ok: true, value: [says('sha256', 'bb')] });
    expect(await run()).toMatchObject({
      type: 'needs a person',
      failure: { kind: 'mismatch', code: 'checksum_mismatch', digests: { sha256: 'aa' } },
    });
    expect(calls).toEqual(['send to u:vid_1']);
    expect(store.row()).toMatchObject({ sha256: null, uploadedAt: null });
  });

  test('says in words what differs and what to do', async () => {
    const { run, world } = open(created);
    world.local.checksums = async () => ({ ok: true, value: [says('sha256', 'bb')] });
    expect((await run()).failure?.message).toBe(
      'the file differs from its checksum: its SHA256 is aa, but clip.mp4.sha256 says bb; ' +
        'copy the file again, or correct or remove the checksum: dropcast then continues',
    );
  });

  test('of another kind is computed while the file is sent', async () => {
    const { run, world, calls, digests } = open(created);
    world.local.checksums = async () => ({ ok: true, value: [says('md5', 'cc')] });
    digests.md5 = 'cc';
    expect(await run()).toMatchObject({ type: 'arrived' });
    expect(calls[0]).toBe('send to u:vid_1, md5');
    digests.md5 = 'dd';
    const again = open(created);
    again.world.local.checksums = async () => ({ ok: true, value: [says('md5', 'cc')] });
    again.digests.md5 = 'dd';
    expect(await again.run()).toMatchObject({
      type: 'needs a person',
      failure: { digests: { sha256: 'aa', md5: 'dd' } },
    });
  });

  test.each([
    ['is equal', 'cc', 'arrived'],
    ['differs', 'dd', 'needs a person'],
  ])(
    'that comes while the file is sent, and of another kind, is computed before its last part: %s',
    async (_what, found, type) => {
      const { run, world, sent, calls } = open(created);
      world.local.hash = async (_facts, _signal, algorithm) => {
        calls.push(`reads it for its ${algorithm}`);
        return { ok: true, value: found };
      };
      sent.meanwhile = () => void (world.local.checksums = async () => ({ ok: true, value: [says('md5', 'cc')] }));
      expect(await run()).toMatchObject({ type });
      expect(calls.slice(0, 2)).toEqual(['send to u:vid_1', 'reads it for its md5']);
    },
  );

  test('that was removed while the file was sent no longer counts', async () => {
    const { run, world, sent } = open(created);
    world.local.checksums = async () => ({ ok: true, value: [says('sha256', 'bb')] });
    sent.meanwhile = () => void (world.local.checksums = async () => ({ ok: true, value: [] }));
    expect(await run()).toMatchObject({ type: 'arrived' });
  });

  test('of which one is equal is enough: others may be of an earlier version', async () => {
    const { run, world } = open(created);
    world.local.checksums = async () => ({
      ok: true,
      value: [says('sha256', 'bb', false), says('sha256', 'aa', false)],
    });
    expect(await run()).toMatchObject({ type: 'arrived' });
  });

  const unreadable = failure('mismatch', { code: 'checksum_unreadable' });
  test('that cannot be read keeps the whole file back, and holds it', async () => {
    const { run, world, store, calls } = open(created);
    world.local.checksums = async () => ({ ok: false, failure: unreadable });
    expect(await run()).toEqual({ type: 'needs a person', failure: unreadable });
    expect(calls).toEqual([]);
    expect(store.row().uploadStartedAt).toBeNull();
  });

  test.each([
    ['the file is held', unreadable, 'needs a person'],
    ['the file waits for its folder', failure('suspended', { code: folderAway }), 'put off'],
    ['everything waits for the machine', failure('suspended', { code: 'EMFILE' }), 'put off'],
  ])('that can no longer be read when it is compared holds back the last part: %s', async (_what, why, type) => {
    const { run, world, store, sent, calls } = open(created);
    sent.meanwhile = () => void (world.local.checksums = async () => ({ ok: false, failure: why }));
    expect(await run()).toEqual({ type, failure: why });
    expect(calls).toEqual(['send to u:vid_1']);
    expect(store.row()).toMatchObject({ sha256: null, uploadedAt: null });
  });

  test.each([
    ['vanished', 'vanished'],
    ['changed', 'changed'],
    ['transient', 'attempt failed'],
  ] as const)('that cannot be compared because the file is %s lets nothing go', async (kind, type) => {
    const { run, world, store } = open(created);
    let isThere = true;
    world.local.check = async () => (isThere ? null : failure(kind));
    world.local.checksums = async () => ({ ok: true, value: [says('md5', 'cc')] });
    world.local.hash = async () => {
      isThere = false;
      return { ok: false, failure: failure(kind) };
    };
    expect(await run()).toMatchObject({ type });
    expect(store.row().sha256).toBeNull();
  });
});

describe('a repeated upload', () => {
  test('asks first, and goes to the same address while the video is pending', async () => {
    const { run, calls } = open(begun);
    await run();
    expect(calls.slice(0, 2)).toEqual(['status', 'send to u:vid_1']);
  });

  test.each(['processing', 'ready', 'failed', 'transcoding'])('sends nothing when the video is %s', async (status) => {
    const { run, store, calls } = open({ ...begun, sha256: 'aa' }, { ok: true, value: status });
    await run();
    expect(calls).toEqual(['status', 'receipt: uploaded']);
    expect(store.row()).toMatchObject({ uploadedAt: 1_000_000, remoteStatus: status, addressDeadAt: null });
  });

  test('waits when the service cannot say', async () => {
    const { run, calls } = open(begun, { ok: false, failure: failure('offline') });
    expect((await run()).failure).toEqual(failure('offline'));
    expect(calls).toEqual(['status']);
  });

  test('starts again when the video is gone and no whole body had left', async () => {
    const { run, store } = open(begun, { ok: false, failure: failure('gone') });
    expect((await run()).type).toBe('started over');
    expect(store.row()).toMatchObject({ videoId: null, uploadUrl: null, uploadStartedAt: null, replacements: 1 });
  });

  test('respects the deletion of a video that may have been complete', async () => {
    const { run, store } = open({ ...begun, sha256: 'aa' }, { ok: false, failure: failure('gone') });
    expect((await run()).failure?.kind).toBe('gone');
    expect(store.row().videoId).toBe('vid_1');
  });

  test('starts nothing again when an operator of an older ledger said that all files of the folder were uploaded', async () => {
    const { run, store } = open(begun, { ok: false, failure: failure('gone') });
    const adopted = { askedNs: 2_000_000n, beganNs: 2_000_000n, isOver: true, isAdopted: true } as const;
    await store.saveFirstStart(store.row().folder, adopted);
    expect((await run()).type).toBe('needs a person');
    expect(store.row().videoId).toBe('vid_1');
    // A record of a later time is none of those.
    await store.saveFirstStart(store.row().folder, { ...adopted, askedNs: 0n });
    expect((await run()).type).toBe('started over');
  });

  // Overwritten in place, and its time put back: the new content has a row of its own by then.
  test('sends no other content than the one that may have arrived', async () => {
    const { run, store, calls } = open({ ...begun, sha256: 'before' });
    expect(await run()).toMatchObject({ failure: { kind: 'transient', code: 'unconfirmed' } });
    expect(calls).toEqual(['status', 'send to u:vid_1']);
    expect(store.row()).toMatchObject({ sha256: 'before', uploadedAt: null });
  });

  test('keeps asking about a missing file while its bytes may have arrived', async () => {
    const { run, world } = open({ ...begun, sha256: 'aa' });
    world.local.check = async () => failure('vanished');
    expect((await run()).failure).toMatchObject({ kind: 'transient', code: 'unconfirmed' });
    world.local.check = async () => failure('suspended');
    expect((await run()).failure?.kind).toBe('suspended');
  });

  test('keeps asking when the file goes missing at the last moment', async () => {
    const { run, world } = open({ ...begun, sha256: 'aa' });
    let looks = 0;
    world.local.check = async () => ((looks += 1) === 1 ? null : failure('vanished'));
    world.host.send = async () => ({ ok: false, failure: failure('vanished') });
    expect((await run()).failure).toMatchObject({ kind: 'transient', code: 'unconfirmed' });
  });
});

describe('an upload address that is dead', () => {
  test('is remembered, and given time', async () => {
    const { run, world, store } = open(created);
    world.host.send = async () => ({ ok: false, failure: failure('address dead') });
    expect((await run()).failure).toMatchObject({ kind: 'address dead', retryAfterMs: addressGraceMs });
    expect(store.row().addressDeadAt).toBe(1_000_000);
  });

  test('is given its time also when a person is impatient', async () => {
    const { run, store, clock } = open(dead);
    clock.advance(10_000);
    expect((await run()).failure).toMatchObject({ kind: 'throttled', retryAfterMs: addressGraceMs - 10_000 });
    expect(store.row().dying).toBe(false);
  });

  test('and a clock that was set back does not make it longer', async () => {
    const { run, clock } = open(dead);
    clock.set(0);
    expect((await run()).failure?.retryAfterMs).toBe(addressGraceMs);
  });

  test('after it the video is marked to be replaced, on disk and in the receipts', async () => {
    const { run, store, clock, calls } = open(dead);
    clock.advance(addressGraceMs);
    expect((await run()).type).toBe('replacing');
    expect(store.row()).toMatchObject({ dying: true, videoId: 'vid_1', replacements: 1 });
    expect(calls).toEqual(['status', 'receipt: dying']);
  });

  test('is not replaced without the local file', async () => {
    const { run, world, store, clock } = open(dead);
    clock.advance(addressGraceMs);
    world.local.check = async () => failure('changed');
    expect((await run()).failure?.kind).toBe('changed');
    expect(store.row().dying).toBe(false);
  });

  // The service may have the body, and still say pending: a lost answer, then an address that is used up.
  test('is never replaced when the whole file may have arrived: dropcast checks with the service for 15 minutes, then it needs a person', async () => {
    const { run, store, clock, calls } = open({ ...dead, sha256: 'aa' });
    const waits: (number | undefined)[] = [];
    for (;;) {
      const { type, failure: why } = await run();
      if (type !== 'put off') break;
      waits.push((why?.retryAfterMs ?? 0) / 60_000);
      clock.advance(why?.retryAfterMs ?? 0);
    }
    expect(waits).toEqual([1, 1, 2, 4, 8]);
    expect(await run()).toMatchObject({ type: 'needs a person', failure: { kind: 'unclear', code: 'not_confirmed' } });
    expect(store.row()).toMatchObject({ dying: false, videoId: 'vid_1' });
    expect(new Set(calls)).toEqual(new Set(['status']));
  });

  test('proves that the body which it refused has not arrived', async () => {
    const { run, world, store } = open(created);
    world.host.send = async (_facts, { beforeLastPart }) => {
      await beforeLastPart('aa');
      return { ok: false, failure: failure('address dead') };
    };
    await run();
    expect(store.row()).toMatchObject({ sha256: null, addressDeadAt: 1_000_000 });
    const again = open({ ...begun, sha256: 'aa' });
    again.world.host.send = world.host.send;
    await again.run();
    expect(again.store.row()).toMatchObject({ sha256: 'aa', addressDeadAt: 1_000_000 });
  });

  test('of a host that refuses every new address is tried again, and its record is kept', async () => {
    const { run, world, calls } = open(dead);
    world.uploadHosts.isSpared = () => true;
    expect(await run()).toMatchObject({ type: 'arrived' });
    expect(calls.slice(0, 2)).toEqual(['status', 'send to u:vid_1']);
  });

  test('of a host that refuses every new address is replaced in the same step to try the host, and it counts for nothing', async () => {
    const { run, world, store, clock, calls } = open({ ...dead, replacements: 3 });
    Object.assign(world.uploadHosts, { isSpared: () => true, takesNewAddress: () => true });
    clock.advance(addressGraceMs);
    world.renew = async (row) => {
      calls.push(`renew a row that is ${row.facts.dying ? 'dying' : 'alive'}`);
      await row.write({ ...unbound, ...created, videoId: 'vid_2', uploadUrl: 'u:vid_2' });
      return { type: 'bound' };
    };
    expect(await run()).toMatchObject({ type: 'arrived' });
    expect(calls.slice(0, 4)).toEqual(['status', 'receipt: dying', 'renew a row that is dying', 'send to u:vid_2']);
    expect(store.row()).toMatchObject({ replacements: 3, videoId: 'vid_2' });
  });

  test('of a host that refuses every new address is not replaced within a minute of a refusal: a body may still be on its way', async () => {
    const { run, world, clock, calls } = open(dead);
    Object.assign(world.uploadHosts, { isSpared: () => true, takesNewAddress: () => true });
    world.host.send = async (_facts, { beforeLastPart }) => {
      calls.push('send');
      await beforeLastPart('aa');
      return { ok: false, failure: failure('offline', { code: 'addresses_refused' }) };
    };
    for (let n = 0; n < 3; n += 1) {
      clock.advance(addressGraceMs - 1);
      await run();
    }
    expect(calls.filter((call) => !call.startsWith('last part'))).toEqual([
      'status',
      'send',
      'status',
      'send',
      'status',
      'send',
    ]);
  });

  test('of a host that refuses every new address is never replaced where the whole file may have arrived', async () => {
    const { run, world, calls } = open({ ...dead, sha256: 'aa' });
    Object.assign(world.uploadHosts, { isSpared: () => true, takesNewAddress: () => true });
    await run();
    expect(calls.slice(0, 2)).toEqual(['status', 'send to u:vid_1']);
  });

  test('a fourth time is a matter for a person, and nothing is marked', async () => {
    const { run, store, clock, calls } = open({ ...dead, replacements: 3 });
    clock.advance(addressGraceMs);
    expect((await run()).failure).toMatchObject({ kind: 'permanent', code: 'upload_address_dead' });
    expect([store.row().dying, calls]).toEqual([false, ['status']]);
  });
});

describe('a file that a person wants sent again although it may have arrived', () => {
  const failed = someFacts({ ...begun, sha256: 'aa', end: 'failed', endedAt: 5, lastFailure: failure('transient') });
  const wanted = { ...failed, ...rearmed(failed, 6) };

  test('is checked, and sent to the same record while the service says pending', async () => {
    const { run, calls } = open(wanted);
    expect(await run()).toMatchObject({ type: 'arrived' });
    expect(calls.slice(0, 2)).toEqual(['status', 'send to u:vid_1']);
  });

  test('is not sent when the service shows it by now', async () => {
    const { run, calls } = open(wanted, { ok: true, value: 'ready' });
    expect(await run()).toMatchObject({ type: 'arrived' });
    expect(calls).toEqual(['status', 'receipt: uploaded']);
  });

  test('is not sent when a copy of it was uploaded since', async () => {
    const { run, store, calls } = open(wanted);
    const copy = someFacts({ ...uploaded, id: 'f_2', path: 'copy.mp4', videoId: 'vid_2', sha256: 'aa', end: 'done' });
    await store.insert(copy);
    expect(await run()).toMatchObject({ type: 'duplicate', failure: { twin: 'f_2' } });
    expect(calls).toEqual(['status']);
  });

  test('gets another record when its address has been dead for a minute; the first one is listed, not deleted', async () => {
    const { run, store, calls } = open({ ...wanted, addressDeadAt: 7 });
    expect((await run()).type).toBe('started over');
    expect(calls).toEqual(['status']);
    expect(store.row()).toMatchObject({ videoId: null, sha256: null, dying: false, suspects: ['video:vid_1'] });
    expect(await store.unanswered()).toMatchObject([{ token: 'video:vid_1' }]);
  });

  test('waits the whole minute although the clock is set forward: the service may have all of it', async () => {
    const { run, world, store, clock } = open(wanted);
    world.host.send = async () => ({ ok: false, failure: failure('address dead') });
    const { failure: waits } = await run();
    clock.set(clock.now() + 10 * 86_400_000);
    await store.save({ ...store.row(), lastFailure: waits ?? null });
    expect((await run()).failure).toMatchObject({ code: 'sent_again', retryAfterMs: addressGraceMs });
    clock.advance(addressGraceMs);
    expect((await run()).type).toBe('started over');
  });

  test.each([
    ['pending', 'started over', ['video:vid_1']],
    ['ready', 'arrived', []],
  ])(
    'is checked again a minute after its address turned out to be dead: the service may be slow to show it (%s)',
    async (status, outcome, suspects) => {
      const { run, world, store, clock } = open(wanted);
      world.host.send = async () => ({ ok: false, failure: failure('address dead') });
      const first = await run();
      expect(first.failure).toMatchObject({ kind: 'throttled', code: 'sent_again', retryAfterMs: addressGraceMs });
      expect(store.row()).toMatchObject({ videoId: 'vid_1', sha256: 'aa', addressDeadAt: 1_000_000 });
      const waits = { ...store.row(), lastFailure: first.failure ?? null, notBefore: 1_000_000 + addressGraceMs };
      clock.advance(addressGraceMs / 2);
      // A second retry neither ends the wait nor takes back the first.
      const again = { ...waits, ...rearmed(waits, clock.now()) };
      const early = open(again);
      early.clock.advance(addressGraceMs / 2);
      expect((await early.run()).failure).toMatchObject({ code: 'sent_again', retryAfterMs: addressGraceMs / 2 });
      const late = open(again, { ok: true, value: status });
      late.clock.advance(addressGraceMs);
      expect((await late.run()).type).toBe(outcome);
      expect(late.store.row().suspects).toEqual(suspects);
    },
  );
});

describe('a retry of a file that failed', () => {
  const session = { protocol: 'tus', offset: 5, reach: 9, version: '1:2' } as const;
  const broken = someFacts({ ...begun, uploadSession: session, end: 'failed', lastFailure: failure('transient') });
  const retried = (facts: Facts): Facts => ({ ...facts, ...rearmed(facts, 6) });

  test('continues the upload at the same record, after a look at the service', async () => {
    const { run, world, calls, store } = open(retried(broken));
    const { send } = world.host;
    world.host.send = async (facts, hooks) => {
      expect(facts.uploadSession).toEqual({ ...session, offset: 0 });
      await hooks.onSession({ ...session, offset: 7 });
      return send(facts, hooks);
    };
    expect(await run()).toMatchObject({ type: 'arrived' });
    expect(calls.slice(0, 2)).toEqual(['status', 'send to u:vid_1']);
    expect(store.row()).toMatchObject({ videoId: 'vid_1', dying: false, uploadSession: null });
  });

  test('gives the record up if the host has confirmed nothing since the last retry', () => {
    const again = { ...retried(broken), end: 'failed', lastFailure: failure('transient') } as const;
    expect(retried(again)).toMatchObject({ dying: true, end: null });
  });

  test.each<[string, Partial<Facts>]>([
    ['the host never confirmed a byte', { uploadSession: { ...session, offset: 0 } }],
    ['the host cannot continue', { uploadSession: null }],
    ['the address is dead', { addressDeadAt: 5 }],
    ['the record is being deleted', { dying: true }],
    ['the host refused it', { lastFailure: failure('permanent') }],
    ['the file was away', { end: 'vanished', lastFailure: failure('vanished') }],
  ])('gives the record up if %s', (_, other) => {
    expect(retried({ ...broken, ...other })).toMatchObject({ dying: true, end: null });
  });

  test.each([
    ['was uploaded since', { ...uploaded, end: 'done' as const }],
    ['is on its way', { videoId: 'vid_2', uploadUrl: 'u:vid_2' }],
  ])('gives the record up if a copy %s', async (_, other) => {
    const { run, store, calls } = open(retried(broken));
    await store.insert(someFacts({ ...other, id: 'f_2', path: 'copy.mp4', videoId: 'vid_2', sha256: 'aa' }));
    expect(await run()).toMatchObject({ type: 'replacing' });
    expect(store.row()).toMatchObject({ videoId: 'vid_1', dying: true });
    expect(calls).toEqual(['status', 'receipt: dying']);
  });

  test.each(['processing', 'ready'])('sends nothing if the service says %s', async (status) => {
    const { run, calls } = open(retried(broken), { ok: true, value: status });
    expect(await run()).toMatchObject({ type: 'arrived' });
    expect(calls).toEqual(['status', 'receipt: uploaded']);
  });
});

describe('a web page in answer to the whole file', () => {
  const page = failure('offline', { code: 'web_page', status: 200, retryAfterMs: 1_000 });
  const answersPage = (world: UploadWorld): void => {
    world.host.send = async (_facts, { beforeLastPart }) => {
      await beforeLastPart('aa');
      return { ok: false, failure: page };
    };
  };

  test('is no arrival: the service gets a minute to show the file', async () => {
    const { run, world, store } = open(created);
    answersPage(world);
    expect((await run()).failure).toMatchObject({ code: 'web_page', retryAfterMs: addressGraceMs });
    expect(store.row()).toMatchObject({ uploadedAt: null, sha256: 'aa' });
  });

  test('a second time is a matter for a person, and the reason is what the service says', async () => {
    const { run, world } = open({ ...begun, sha256: 'aa', lastFailure: page });
    answersPage(world);
    const { failure: why } = await run();
    expect(why).toMatchObject({ kind: 'permanent', code: 'not_received' });
    expect(why?.message).toContain('the service says that nothing has arrived (pending)');
  });

  test('is believed of a host whose file arrived anyway', async () => {
    const { run, world } = open({ ...begun, sha256: 'aa', lastFailure: page }, { ok: true, value: 'ready' });
    const believed: (string | null)[] = [];
    world.uploadHosts.believe = ({ uploadUrl }) => void believed.push(uploadUrl);
    expect((await run()).type).toBe('arrived');
    expect(believed).toEqual(['u:vid_1']);
  });

  test('before the last part left costs nothing: nothing can have arrived', async () => {
    const { run, world } = open({ ...begun, lastFailure: page });
    world.host.send = async () => ({ ok: false, failure: page });
    expect(await run()).toMatchObject({ type: 'put off', failure: { code: 'web_page' } });
  });
});

test('a whole file without an answer gets a minute: the service may still be taking it in', async () => {
  const { run, world } = open(created);
  world.host.send = async (_facts, { beforeLastPart }) => {
    await beforeLastPart('aa');
    return { ok: false, failure: failure('transient', { code: 'no_answer', inDoubt: true, retryAfterMs: 1_000 }) };
  };
  expect((await run()).failure?.retryAfterMs).toBe(addressGraceMs);
});

describe('outside of the hours for uploads', () => {
  test('a file that comes up too late is not sent, and nothing is recorded', async () => {
    const { run, store, calls } = open(created, undefined, 3_600_000);
    expect((await run()).failure).toMatchObject({ kind: 'throttled', code: 'upload_window' });
    expect([calls, store.row().uploadStartedAt]).toEqual([[], null]);
  });

  test('a file that was sent before is checked, and not sent again', async () => {
    const { run, calls } = open({ ...begun, sha256: 'aa' }, undefined, 3_600_000);
    expect((await run()).failure).toMatchObject({ code: 'upload_window', retryAfterMs: 600_000 });
    expect(calls).toEqual(['status']);
  });

  test('a file that was sent before is checked again when the window opens, not minutes later', async () => {
    const { run } = open({ ...begun, sha256: 'aa' }, undefined, 20_000);
    expect((await run()).failure).toMatchObject({ code: 'upload_window', retryAfterMs: 20_000 });
  });

  test('a file that has arrived continues', async () => {
    const { run } = open({ ...begun, sha256: 'aa' }, { ok: true, value: 'processing' }, 3_600_000);
    expect((await run()).type).toBe('arrived');
  });
});
