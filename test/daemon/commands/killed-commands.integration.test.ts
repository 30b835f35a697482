import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ignore } from '../../../src/daemon/commands/ignore.ts';
import { retry } from '../../../src/daemon/commands/retry.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { rowsOf } from '../../pipeline/held-rows.ts';
import { day, minute, outside, startCore } from '../../pipeline/running-core.ts';
import { created, failure, someFacts, somePlan } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

const records: Readonly<Record<string, Partial<Facts>>> = {
  'no record': {},
  'a record to which it was sent in part': { ...created, uploadStartedAt: 2 },
};
const ended = { endedAt: 1, why: 'so' };
const states: Readonly<Record<string, Partial<Facts>>> = {
  'in line': {},
  retrying: { notBefore: 100 * day + 10 * minute, lastFailure: failure('transient') },
  failed: { ...ended, end: 'failed', lastFailure: failure('transient') },
  ignored: { ...ended, end: 'skipped', lastFailure: failure('permanent', { code: 'ignored' }) },
};
const commands: Readonly<Record<string, { readonly on: readonly string[]; run(daemon: Daemon): Promise<unknown> }>> = {
  ignore: { on: ['in line', 'retrying', 'failed'], run: (daemon) => ignore(daemon, { names: ['f_1'], by: 'anna' }) },
  'ignore --undo': { on: ['ignored'], run: (daemon) => ignore(daemon, { names: ['f_1'], by: 'anna', isUndone: true }) },
  retry: { on: ['retrying', 'failed', 'ignored'], run: (daemon) => retry(daemon, { names: ['f_1'] }) },
};

const cases = Object.entries(commands).flatMap(([command, { on, run }]) =>
  on.flatMap((state) =>
    Object.entries(records).flatMap(([record, facts]) =>
      (['before', 'after'] as const).map((moment) => ({
        command,
        run,
        state,
        record,
        moment,
        facts: someFacts({ plan: { ...somePlan, publish: [] }, ...facts, ...states[state] }),
      })),
    ),
  ),
);

/** Where a file must come to, by what its row said when the process died. */
function endOf({ end, lastFailure }: Pick<Facts, 'end' | 'lastFailure'>): string {
  if (end === null) return 'done';
  return end === 'skipped' ? `skipped, ${lastFailure?.code}` : end;
}

test.each(cases)(
  'a kill $moment the row of a $state file with $record is written leaves $command done or not done, and nothing else: after the restart it goes on',
  async ({ run, facts, moment }) => {
    await using scratch = await scratchDirectory();
    const world = outside([]);
    if (facts.videoId !== null) world.service.videos.set('vid_1', { title: 'Clip', status: 'pending' });
    await using ledger = await openLedger(scratch.path);
    await ledger.insert(facts);
    const image = join(scratch.path, 'image');
    const dying = await killedAt(ledger, moment, () => imageOf(scratch.path, image));
    const core = startCore(world, { ...dying.world, uploadsStartAt: () => Number.MAX_SAFE_INTEGER });
    await run(daemonOf(core.conductor, ledger));
    await core.stop();
    expect(dying.isKilled()).toBe(true);

    await using restarted = await openLedger(image);
    const found = await restarted.load('f_1');
    if (found === null) throw new Error('the row is lost');
    if (moment === 'before') expect(found).toEqual({ ...facts, rev: found.rev });
    const wanted = endOf(found);
    const again = startCore(world, { store: restarted, rows: rowsOf(restarted) });
    if (wanted === 'done') await again.until(async () => (await restarted.load('f_1'))?.end === 'done');
    else await again.pass(3 * minute);
    expect(endOf((await restarted.load('f_1')) ?? found)).toBe(wanted);
    expect(world.service.count('send')).toBe(wanted === 'done' ? 1 : 0);
    // A record that nobody will fill is given back; a file that failed keeps its own.
    const keepsRecord = wanted === 'failed' && facts.videoId !== null;
    expect(world.service.videos.size).toBe(wanted === 'done' || keepsRecord ? 1 : 0);
  },
);

/** A ledger whose process dies at the first row that it writes. What it wrote since is on no disk. */
async function killedAt(ledger: Ledger, moment: 'before' | 'after', kill: () => Promise<void>) {
  let isKilled = false;
  const store = Object.create(ledger, {
    save: {
      value: async (facts: Facts, note?: string): Promise<Facts> => {
        if (moment === 'after') await ledger.save(facts, note);
        if (!isKilled) await kill();
        isKilled = true;
        return { ...facts, rev: facts.rev + 1 };
      },
    },
  }) as Ledger;
  return { world: { store, rows: rowsOf(store) }, isKilled: () => isKilled };
}

/** The files as they are at this moment: what a killed process leaves. */
async function imageOf(stateDir: string, image: string): Promise<void> {
  await mkdir(image, { mode: 0o700 });
  for (const name of await readdir(stateDir))
    if (name !== 'image') await copyFile(join(stateDir, name), join(image, name));
}

function daemonOf(conductor: Daemon['conductor'], ledger: Ledger): Daemon {
  return {
    conductor,
    ledger,
    rows: { held: () => [] },
    folders: { reroute: async () => 'known' },
    config: () => ({ folders: [] }),
  } as unknown as Daemon;
}
