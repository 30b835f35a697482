import { describe, expect, test } from 'vitest';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { dismiss } from '../../src/daemon/commands/dismiss.ts';
import { suspectsOf } from '../../src/view/files/suspects.ts';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { rowsOf } from '../pipeline/held-rows.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';
import { created, failure, ready, someFacts } from '../pipeline/some-facts.ts';

function open(...rows: readonly Partial<Facts>[]) {
  const facts = rows.map((other, n) => someFacts({ id: `f_${n + 1}`, path: `${n + 1}.mp4`, ...other }));
  const store = new MemoryStore(facts, () => 7);
  const daemon = { ledger: store, rows: rowsOf(store) } as unknown as Pick<Daemon, 'ledger' | 'rows'>;
  const names = async (): Promise<string[]> => {
    const { suspects } = await suspectsOf(store, daemon);
    return suspects.map(({ name }) => name);
  };
  return { store, daemon, names };
}

const ignored = failure('permanent', { code: 'ignored' });

describe('records that may be empty', () => {
  test('are listed with title, time and file, even when only a crash reveals the request', async () => {
    const { store } = open({ intent: 't2', suspects: ['t1'] });
    const request = { video_id: null, title: 'Clip', created: 7, file: 'f_1', path: '/inbox/1.mp4' };
    expect((await suspectsOf(store, null)).suspects).toMatchObject([
      { name: 't1', ...request },
      { name: 't2', ...request },
    ]);
  });

  test('are none while a step still waits for the answer', async () => {
    const { store, daemon, names } = open({ intent: 't1' });
    await daemon.rows.claim('f_1', async () => expect(await names()).toEqual([]));
    expect((await suspectsOf(store, daemon)).suspects).toHaveLength(1);
  });

  test.for([
    ['superseded', {}, /changed before it was sent: dropcast deletes/],
    ['vanished', {}, /disappeared before it was sent: dropcast deletes/],
    ['vanished', { sha256: 'aa' }, /after all of it may have been sent: check/],
    ['failed', { lastFailure: failure('permanent') }, /failed: a retry replaces/],
    ['held', {}, /held: a retry replaces/],
    ['skipped', { lastFailure: ignored }, /a person ignored the file before it was sent: dropcast deletes/],
    [
      'skipped',
      { sha256: 'aa', lastFailure: failure('duplicate') },
      /a duplicate after all of it may have been sent: check/,
    ],
  ] as const)('are those of a file that is %s', async ([end, other, why]) => {
    const { store } = open({ ...created, end, ...other });
    expect((await suspectsOf(store, null)).suspects).toEqual([
      {
        name: 'vid_1',
        video_id: 'vid_1',
        title: 'Clip',
        created: 1,
        file: 'f_1',
        path: '/inbox/1.mp4',
        why: expect.stringMatching(why),
      },
    ]);
  });

  test('are none of those that files still use or that have their bytes', async () => {
    const rows = [
      {},
      created,
      ready,
      { ...ready, end: 'done' },
      { ...created, end: 'superseded', remoteStatus: 'failed' },
    ];
    const { names } = open(...(rows as Partial<Facts>[]));
    expect(await names()).toEqual([]);
  });
});

describe('a dismissal', () => {
  test('forgets a token or a record, and deletes nothing', async () => {
    const { store, daemon, names } = open({ intent: 't2', suspects: ['t1'] }, { ...created, end: 'superseded' });
    expect(await dismiss(daemon, { names: ['t1', 'vid_1', 'nonsense'] })).toEqual({
      v: 1,
      dismissed: ['t1', 'vid_1'],
      refused: [{ name: 'nonsense', why: expect.stringContaining('unknown') }],
    });
    expect(store.row('f_1')).toMatchObject({ intent: 't2', suspects: [] });
    expect(store.row('f_2')).toMatchObject({ videoId: null, end: 'superseded' });
    expect(await names()).toEqual(['t2']);
    expect((await dismiss(daemon, { names: ['all'] })).dismissed).toEqual(['t2']);
    expect(await names()).toEqual([]);
  });

  test('waits for a step that works on the file', async () => {
    const { daemon } = open({ ...created, end: 'failed' });
    await daemon.rows.claim('f_1', async () =>
      expect((await dismiss(daemon, { names: ['vid_1'] })).refused).toEqual([
        { name: 'vid_1', why: expect.stringContaining('busy') },
      ]),
    );
  });
});
