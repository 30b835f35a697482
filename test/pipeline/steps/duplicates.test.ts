import { describe, expect, test } from 'vitest';
import { findTwin, rememberingHashes } from '../../../src/pipeline/steps/duplicates.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Failure } from '../../../src/pipeline/file/failure.ts';
import type { LocalFiles } from '../../../src/pipeline/file/ports.ts';
import { MemoryStore } from '../memory-store.ts';
import { created, failure, ready, someFacts, someVersion, uploaded } from '../some-facts.ts';

const live = new AbortController().signal;

/** Files with these contents by id; the others are not at their place. */
function disk(
  contents: Readonly<Record<string, string>>,
  otherwise = failure('vanished'),
): LocalFiles & { readonly read: string[] } {
  const read: string[] = [];
  return {
    read,
    hash: async ({ id }) => {
      read.push(id);
      const value = contents[id];
      return value === undefined ? { ok: false, failure: otherwise } : { ok: true, value };
    },
    check: () => Promise.resolve(null),
    checksums: async () => ({ ok: true, value: [] }),
    dispose: () => Promise.resolve({ ok: true, value: null }),
  };
}

function look(others: readonly Facts[], contents: Readonly<Record<string, string>>, otherwise?: Failure) {
  const own = someFacts({ id: 'f_9' });
  const local = disk({ f_9: 'same', ...contents }, otherwise);
  return findTwin(own, live, { store: new MemoryStore([...others, own]), local, passing: new Set() });
}

describe('a file of the same size', () => {
  test('that was uploaded with the same content is a duplicate, without being read', async () => {
    expect(await look([someFacts({ ...ready, sha256: 'same' })], {})).toMatchObject({
      kind: 'duplicate',
      twin: 'f_1',
      message: expect.stringMatching(/clip\.mp4 .*f_1.*vid_1/),
    });
  });

  test('with other content is not a duplicate', async () => {
    expect(await look([someFacts({ ...ready, sha256: 'other' })], {})).toBeNull();
  });

  // It may still vanish or fail, and then nobody would have uploaded this content.
  test('with the same content that is not uploaded yet is waited for', async () => {
    expect(await look([someFacts()], { f_1: 'same' })).toMatchObject({ kind: 'throttled', code: 'twin_under_way' });
  });

  test('that cannot be read proves nothing', async () => {
    expect(await look([someFacts()], {}, failure('suspended'))).toBeNull();
  });

  // Its directory was renamed, for example, and the copy is seen first.
  test.each([
    ['has not left this machine is waited for, because the next scan may find it at another place', created, true],
    ['was uploaded before its hash was known proves nothing', uploaded, false],
  ])('that is not at its place and %s', async (_, facts, isWaitedFor) => {
    const twin = await look([someFacts({ ...facts, sha256: null })], {});
    expect(twin?.code).toBe(isWaitedFor ? 'twin_under_way' : undefined);
  });

  test.each(['failed', 'vanished', 'superseded', 'skipped', 'held'] as const)(
    'that is %s is no reason',
    async (end) => {
      expect(await look([someFacts({ end })], { f_1: 'same' })).toBeNull();
    },
  );

  test('that was uploaded goes before one that is still waiting', async () => {
    const others = [someFacts(), someFacts({ ...uploaded, id: 'f_2', sha256: 'same' })];
    expect((await look(others, { f_1: 'same' }))?.message).toContain('f_2');
  });
});

test('a file with a size of its own is not read at all', async () => {
  const own = someFacts({ version: { ...someVersion, size: 1 } });
  const local = disk({ f_1: 'same' });
  expect(
    await findTwin(own, live, {
      store: new MemoryStore([own, someFacts({ ...ready, id: 'f_2' })]),
      local,
      passing: new Set(),
    }),
  ).toBeNull();
  expect(local.read).toEqual([]);
});

describe('of two files with the same content', () => {
  /** Both are asked about, and both are read, at the same time. */
  async function lookAtBoth(rows: readonly Facts[], onHash: (store: MemoryStore) => Promise<unknown>) {
    const store = new MemoryStore(rows);
    const passing = new Set<string>();
    const local = {
      hash: async () => {
        await onHash(store);
        return { ok: true as const, value: 'same' };
      },
    };
    return Promise.all(rows.map((row) => findTwin(row, live, { store, local, passing })));
  }
  const [one, other] = [someFacts({ id: 'f_1' }), someFacts({ id: 'f_2' })];

  test('that begin at the same moment the first one passes', async () => {
    const answers = await lookAtBoth([one, other], async () => undefined);
    expect(answers.map((answer) => answer?.code ?? null)).toEqual([null, 'twin_under_way']);
  });

  test('one passes, however late the other begins again', async () => {
    const failed = someFacts({ ...uploaded, id: 'f_1', remoteStatus: 'failed', end: 'failed', sha256: 'same' });
    const passing = new Set<string>();
    const store = new MemoryStore([failed, other]);
    const local = disk({ f_1: 'same', f_2: 'same' });
    expect(await findTwin(other, live, { store, local, passing })).toBeNull();
    // Retried, before the other one has its record.
    const again = await store.save({ ...failed, end: null, remoteStatus: null, uploadedAt: null, sha256: null });
    expect(await findTwin(again, live, { store, local, passing })).toMatchObject({ code: 'twin_under_way' });
    await store.save({ ...other, ...created });
    passing.clear();
    expect(await findTwin(again, live, { store, local, passing })).toMatchObject({ code: 'twin_under_way' });
  });

  test('the second one waits when the first begins again while the second is read', async () => {
    const failed = someFacts({ ...uploaded, id: 'f_1', remoteStatus: 'failed', end: 'failed', sha256: 'same' });
    const third = someFacts({ ...uploaded, id: 'f_0', sha256: 'other content of this size' });
    const store = new MemoryStore([third, failed, other]);
    let isRetried = false;
    const local = {
      hash: async () => {
        if (!isRetried) await store.save({ ...failed, end: null, remoteStatus: null, uploadedAt: null, sha256: null });
        isRetried = true;
        return { ok: true as const, value: 'same' };
      },
    };
    const answer = await findTwin(other, live, { store, local, passing: new Set() });
    expect(answer).toMatchObject({ code: 'twin_under_way' });
  });
});

describe('remembered hashes', () => {
  test('spare the second reading of the same version', async () => {
    const local = disk({ f_1: 'same' });
    const hash = rememberingHashes(local.hash);
    await hash(someFacts(), live);
    expect(await hash(someFacts(), live)).toEqual({ ok: true, value: 'same' });
    expect(local.read).toEqual(['f_1']);
  });

  test('do not outlive a touch', async () => {
    const local = disk({ f_1: 'same' });
    const hash = rememberingHashes(local.hash);
    await hash(someFacts(), live);
    await hash(someFacts({ version: { ...someVersion, ctimeNs: '9' } }), live);
    expect(local.read).toHaveLength(2);
  });

  test('forget a failure at once', async () => {
    const local = disk({});
    const hash = rememberingHashes(local.hash);
    await hash(someFacts(), live);
    await hash(someFacts(), live);
    expect(local.read).toHaveLength(2);
  });
});
