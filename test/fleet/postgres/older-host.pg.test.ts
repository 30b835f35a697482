import { expect, test } from 'vitest';
import { migrate } from '../../../src/fleet/postgres/migrations.ts';
import { nameOf } from '../../../src/fleet/postgres/client-config.ts';
import { steps } from '../../../src/fleet/postgres/steps.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import type { Rows } from '../../ledger/opened-rows.ts';
import { created, failure, ready, someFacts, someVersion } from '../../pipeline/some-facts.ts';
import { placeAt } from '../../support/postgres/place.ts';
import { freshDatabase } from '../../support/postgres/server.ts';
import { openHost } from './sharing-host.ts';

/** Most of what a daemon asks and writes, on rows of its own. */
async function work(rows: Rows, round: string): Promise<void> {
  const file = (id: string, other: Partial<Facts> = {}): Facts =>
    someFacts({
      id: `${round}_${id}`,
      path: `${round}_${id}.mp4`,
      version: { ...someVersion, ino: `${round}${id}` },
      ...other,
    });
  await rows.insert(file('a'));
  await rows.insert(file('b', { end: 'failed', endedAt: 1, lastFailure: failure('permanent') }));
  await rows.insert(file('c', { ...ready, end: 'done', endedAt: 1, disposal: 'pending' }));
  const asking = await rows.save({ ...file('a'), intent: `${round}_t` }, 'asks');
  const [bound] = await Promise.all([
    rows.save({ ...asking, ...created, videoId: round, intent: null }),
    rows.save(file('b', { attempts: 1 })),
  ]);
  expect(await rows.load(bound.id)).toEqual(bound);
  expect(await rows.atPath('/inbox', bound.path)).toEqual(bound);
  expect(await rows.atLocation(bound.version)).toEqual(bound);
  await rows.heads('queued', 4, []);
  await rows.rows({ group: 'retrying', dueBy: 9, limit: 9 });
  await rows.rows({ group: 'in state', state: 'queued', limit: 9 });
  await rows.rows({ group: 'to put away', limit: 9 });
  await rows.rows({ group: 'to amend', limit: 9 });
  await rows.rows({ group: 'to compare', limit: 9 });
  await rows.unanswered();
  await rows.waiting();
  await rows.snapshot({ held: () => [bound.id], working: 9, needing: 9 });
  await rows.selection.page({}, { limit: 9 });
  expect(await rows.find(bound.path)).toEqual([bound]);
  await rows.noteFeedDue('feed', 1, false);
  await rows.feedsDue();
  await rows.news.commit({ remember: { [round]: 1 }, post: [{ target: 'x', message: round, at: 1 }] });
  expect(await rows.news.recall(round)).toBe(1);
  await rows.news.waiting('x', 9);
  await rows.savePause({ folder: '/inbox', since: 1, until: null, by: 'me' }, null);
  await rows.pauses();
  await rows.saveFirstStart('/inbox', { askedNs: 1n, beganNs: null, isOver: false });
  await rows.firstStart('/inbox');
  await rows.addListed([], { nextPage: 1, total: 1, isWhole: false });
  await rows.listing();
}

const allTables = `select tablename as name from pg_tables where schemaname = 'dropcast' and tablename <> 'schema_step'`;

test('a host continues when one of a newer release adds columns to every table while it runs, and keeps what is in them', async () => {
  await using database = await freshDatabase();
  await using older = await openHost(database.url);
  await using newer = await openHost(database.url, { hostName: 'newer' });
  await newer.pool.rows(`create schema dropcast_jobs
    create table job (name text, singleton_key text, state text)`);
  // More often than there are connections.
  for (const n of [1, 2, 3, 4, 5]) await work(older.store, `before${n}`);
  const place = placeAt(database.url);
  const tables = await newer.pool.rows<{ name: string }>(allTables);
  const adding = tables.map(
    ({ name }) => `ALTER TABLE ${name} ADD COLUMN later text DEFAULT 'said by the newer host';`,
  );
  await migrate({
    pool: newer.pool,
    name: nameOf(place),
    user: place.user,
    steps: [...steps, { needsAtLeast: 1, text: adding.join('\n') }],
  });
  await newer.pool.rows(`update dropcast.file set later = 'another'`);
  for (const n of [1, 2, 3, 4, 5]) await work(older.store, `after${n}`);
  const facts = await older.store.load('before1_a');
  await older.store.save({ ...(facts as Facts), attempts: 3 });
  expect(await newer.pool.rows(`select later, attempts from dropcast.file where id = 'before1_a'`)).toEqual([
    { later: 'another', attempts: 3 },
  ]);
});

test('a host reads rows in which one of a newer release says more, and gives back what it does not know', async () => {
  await using database = await freshDatabase();
  await using older = await openHost(database.url);
  const facts = someFacts({ plan: { ...someFacts().plan, later: ['x'] } as unknown as Facts['plan'] });
  await older.store.insert({
    ...facts,
    afterReady: { kind: 'archive', to: '/x' } as unknown as Facts['afterReady'],
    lastFailure: { ...failure('permanent', { code: 'from_later' }), later: 1 } as unknown as Facts['lastFailure'],
    remoteStatus: 'dreaming',
    disposal: 'archived' as Facts['disposal'],
  });
  const read = (await older.store.load('f_1')) as Facts;
  const saved = await older.store.save({ ...read, attempts: 1 });
  expect(await older.store.load('f_1')).toEqual(saved);
  expect(saved).toMatchObject({
    plan: { later: ['x'] },
    afterReady: { kind: 'archive', to: '/x' },
    lastFailure: { code: 'from_later', later: 1 },
    remoteStatus: 'dreaming',
    disposal: 'archived',
  });
  const { working } = await older.store.snapshot({ held: () => [], working: 9, needing: 9 });
  expect(working.map(({ id }) => id)).toEqual(['f_1']);
  expect(await older.store.totals('by state')).toEqual({ queued: 1 });
});
