import { createHash } from 'node:crypto';
import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { versionOf } from '../../src/pipeline/file/file-version.ts';
import { startHost, takeAll } from '../client/upload-host.ts';
import { created, ready, someFacts } from '../pipeline/some-facts.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';

const secret = 'the key of the service';

test('rows that a hostile member writes make no other host send or delete what lies outside of its folders', async () => {
  await using fleet = await startFleet();
  await using attacker = await startHost(takeAll());
  const host = await fleet.start('h1');
  const member = await fleet.start('h2');
  const conf = join(dirname(host.inbox), 'conf');
  await mkdir(conf);
  const versionIn = async (name: string) => {
    await writeFile(join(conf, name), secret);
    return versionOf(await lstat(join(conf, name), { bigint: true }));
  };
  const [toSend, toDrop] = [await versionIn('send'), await versionIn('drop')];
  const sha256 = createHash('sha256').update(secret).digest('hex');
  const upload = { ...created, uploadUrl: `${attacker.origin}/take`, afterReady: { kind: 'delete' } } as const;
  const deletion = {
    ...ready,
    end: 'done',
    endedAt: 1,
    sha256,
    afterReady: { kind: 'delete' },
    disposal: 'pending',
  } as const;
  const places = {
    foreign: { folder: `h1:${conf}`, path: '' },
    climbing: { folder: `h1:${host.inbox}`, path: '../conf/' },
    shared: { folder: 'nas1:', path: '../conf/' },
  };
  const rows = Object.entries(places).flatMap(([name, place]): Facts[] => [
    someFacts({
      id: `send_${name}`,
      version: toSend,
      ...place,
      path: `${place.path}send`,
      ...upload,
      videoId: `v_send_${name}`,
    }),
    someFacts({
      id: `drop_${name}`,
      version: toDrop,
      ...place,
      path: `${place.path}drop`,
      ...deletion,
      videoId: `v_drop_${name}`,
    }),
  ]);
  for (const row of rows) await member.daemon.ledger.insert(row);
  await fleet.ask(`select pg_notify('dropcast', 'h2')`);
  const told = async (): Promise<readonly Record<string, unknown>[]> =>
    fleet.ask(`select id, state, disposal, last_failure::json ->> 'code' as code from dropcast.file order by id`);
  await until('every row was judged', async () => (await told()).every(({ code }) => code !== null));
  expect(await told()).toEqual(
    rows
      .map(({ id, end }) => ({
        id,
        state: end ?? 'failed',
        disposal: end === 'done' ? 'refused' : null,
        code: 'outside_folder',
      }))
      .toSorted((one, other) => (one.id < other.id ? -1 : 1)),
  );
  expect(attacker.seen).toEqual([]);
  for (const name of ['send', 'drop']) expect(await readFile(join(conf, name), 'utf8')).toBe(secret);
});
