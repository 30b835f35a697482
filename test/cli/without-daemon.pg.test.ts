import { mkdir } from 'node:fs/promises';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { adopt } from '../../src/cli/act/adopt.ts';
import { pause, resume } from '../../src/cli/act/pause.ts';
import { check } from '../../src/cli/configure/check.ts';
import { plan } from '../../src/cli/configure/plan.ts';
import { hosts } from '../../src/fleet/commands/hosts.ts';
import { failures } from '../../src/cli/look/failures.ts';
import { ls } from '../../src/cli/look/ls.ts';
import type { LsOptions } from '../../src/cli/look/ls.ts';
import { show } from '../../src/cli/look/show.ts';
import { status } from '../../src/cli/look/status.ts';
import { exitCodes } from '../../src/cli/shell.ts';
import { systemClock } from '../../src/daemon/daemon.ts';
import type { FilesView } from '../../src/view/files/files-view.ts';
import { openFleet } from '../../src/fleet/open-fleet.ts';
import { emptyWindow, usageOf } from '../../src/host/budget-window.ts';
import { openFleetToRead } from '../../src/fleet/open-member.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { placeAt } from '../support/postgres/place.ts';
import { freshDatabase } from '../support/postgres/server.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';
import { fakeShell } from './api/fake-shell.ts';
import type { FakeShell } from './api/fake-shell.ts';
import { writeConfig } from '../support/configuration.ts';

/** A host on which no daemon runs. */
async function writeHost(scratch: ScratchDirectory, url: string): Promise<void> {
  await mkdir(scratch.file('nas'));
  await writeConfig(scratch, { host_name: 'ingest1', ledger: url, folders: [{ path: 'nas', share: 'nas1' }] });
}

type Commands = Readonly<Record<string, (shell: FakeShell, config: string) => Promise<unknown>>>;

const looks: Commands = {
  ls: (shell, config) => ls(shell, { config, limit: 20 }),
  status: (shell, config) => status(shell, { config }),
  show: (shell, config) => show(shell, { config }, 'clip.mp4'),
  hosts: (shell, config) => hosts(shell, { config }),
  plan: (shell, config) => plan(shell, { config, hash: false }),
};

const writes: Commands = {
  pause: (shell, config) => pause(shell, { config, all: true }, []),
  resume: (shell, config) => resume(shell, { config, all: true }),
  'adopt --confirm': (shell, config) => adopt(shell, { config, confirm: true }),
};

async function run(scratch: ScratchDirectory, command: Commands[string] | undefined) {
  const shell = fakeShell({ cwd: scratch.path, env: { KEY: 'abc' } });
  const result = await command?.(shell, scratch.file('dropcast.yaml'));
  return { result, out: shell.out.text, err: shell.err.text };
}

test('without a daemon on this host, commands read the ledger of the fleet, and leave changes to hosts with one', async () => {
  await using scratch = await scratchDirectory();
  await using other = await scratchDirectory();
  await using database = await freshDatabase();
  await writeHost(scratch, database.url);

  expect((await run(scratch, looks['ls'])).err).toContain('No history yet');
  await using fleet = await openFleet({
    place: placeAt(database.url),
    stateDir: other.file('state'),
    hostName: 'ingest2',
    version: '1.0.0',
    config: () => ({ folders: [{ path: other.path, share: 'nas1' }], uploads: { concurrency: 1 } }),
    clock: systemClock,
    logger: silentLogger,
    repaired: () => undefined,
  });
  await fleet.ledger.insert(someFacts({ folder: other.path, path: 'clip.mp4' }));

  const listed = await run(scratch, looks['ls']);
  expect(listed.out).toContain('ingest2');
  expect(listed.err).toBe(
    'The daemon of this host (ingest1) is not running. Reading the ledger of the fleet: ingest2 running.\n',
  );
  const found = async (options: Partial<LsOptions>): Promise<number> => {
    const { out } = await run(scratch, (shell, config) => ls(shell, { config, limit: 20, json: true, ...options }));
    return (JSON.parse(out) as FilesView).files.length;
  };
  expect([await found({ host: 'ingest2' }), await found({ host: 'ingest1' })]).toEqual([1, 0]);
  // By its name for all hosts, and by its path on this one.
  expect([await found({ folder: 'nas1:' }), await found({ folder: 'nas1:/' }), await found({ folder: 'nas' })]).toEqual(
    [1, 1, 1],
  );
  // As with a shell variable that is not set.
  await expect(found({ host: '' })).rejects.toThrow('--host is empty');
  expect(await found({ folder: 'ingest2:/srv/in' })).toBe(0);
  expect((await run(scratch, looks['show'])).out).toContain(scratch.file('nas', 'clip.mp4'));
  const overview = await run(scratch, looks['status']);
  expect(overview.result).toBe(exitCodes.notRunning);
  expect(overview.out).toMatch(/^dropcast is not running on this host\.\n/);
  expect((await run(scratch, looks['hosts'])).out).toMatch(/ingest2 +running/);
  expect((await run(scratch, looks['plan'])).out).toMatch(/1 file .* on its way already/);
  expect((await run(scratch, (shell, config) => failures(shell, { config, since: 1 }))).err).toContain('No failures');

  // Receipts beside no SQLite are not a ledger that was lost.
  await mkdir(scratch.file('state'), { mode: 0o700 });
  await scratch.write('state/receipts.jsonl', '{}\n');
  expect((await run(scratch, (shell, config) => check(shell, { config }))).out).toContain('is fine');

  for (const write of Object.values(writes)) {
    await expect(run(scratch, write)).rejects.toMatchObject({
      message:
        'the daemon of this host is not running, and other hosts share its ledger: run this command on ingest2, or start dropcast here',
      exitCode: exitCodes.notRunning,
    });
  }
  expect(await fleet.ledger.pauses()).toEqual([]);
});

const config = () => ({ folders: [], uploads: { concurrency: 1 } });

test('a ledger that is only read can neither be changed nor joined', async () => {
  await using database = await freshDatabase();
  await using scratch = await scratchDirectory();
  const place = placeAt(database.url);
  const world = { place, stateDir: scratch.file('state'), hostName: 'ingest2', version: '1.0.0', config };
  const told = { logger: silentLogger, repaired: () => undefined };
  await using fleet = await openFleet({ ...world, ...told, clock: systemClock });
  const read = await openFleetToRead({ place, hostName: 'ingest1', stateDir: scratch.path, folders: [] });
  await using ledger = read?.ledger;
  await expect(ledger?.savePause({ folder: null, until: null, by: 'ana', since: 1 }, null)).rejects.toThrow();
  expect(await fleet.ledger.pauses()).toEqual([]);
  expect(((await read?.fleet.hosts()) ?? []).map(({ name }) => name)).toEqual(['ingest2']);
});

test('the budget in a plan follows the time of the fleet, whatever the clock of this host says', async () => {
  await using database = await freshDatabase();
  await using scratch = await scratchDirectory();
  const place = placeAt(database.url);
  const world = { place, stateDir: scratch.file('state'), hostName: 'ingest2', version: '1.0.0', config };
  const told = { logger: silentLogger, repaired: () => undefined };
  await using fleet = await openFleet({ ...world, ...told, clock: systemClock });
  const read = async () => openFleetToRead({ place, hostName: 'ingest1', stateDir: scratch.path, folders: [] });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query('DELETE FROM dropcast.budget');
  {
    const reader = await read();
    await using ledger = reader?.ledger;
    expect([ledger !== undefined, await reader?.budgetNow()]).toEqual([true, null]);
  }
  // Written by a host when the clock of the database was two hours ahead of what it says now.
  const stored = await fleet.budget.load();
  const writtenAt = Date.now() + 7_200_000;
  const minutes = [[Math.floor(writtenAt / 60_000), 30]];
  const spent = { ...stored.window, minutes, total: 30, writtenAt, shiftMs: 7_200_000 };
  await client.query('UPDATE dropcast.budget SET spent = $1', [JSON.stringify(spent)]);
  await client.end();
  const reader = await read();
  await using ledger = reader?.ledger;
  const { window = emptyWindow, now = 0 } = (await reader?.budgetNow()) ?? {};
  expect(ledger).toBeDefined();
  expect(now).toBeGreaterThanOrEqual(writtenAt);
  expect(usageOf(window, now, 100).used).toBe(30);
});

test.each(Object.entries({ ...looks, ...writes }).filter(([name]) => name !== 'hosts'))(
  '%s says in one sentence that neither the daemon of this host nor its database answers',
  async (_, command) => {
    await using scratch = await scratchDirectory();
    await writeHost(scratch, 'postgres://dropcast@127.0.0.1:1/dropcast');
    await expect(run(scratch, command)).rejects.toMatchObject({
      message: expect.stringMatching(
        /^the daemon of this host is not running, and the ledger cannot be opened: PostgreSQL at 127\.0\.0\.1:1: [^\n]+$/,
      ),
      exitCode: exitCodes.failed,
    });
  },
);
