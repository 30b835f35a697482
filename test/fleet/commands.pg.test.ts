import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ignore } from '../../src/daemon/commands/ignore.ts';
import { pause, resume } from '../../src/daemon/commands/pause.ts';
import { publish } from '../../src/daemon/commands/publish.ts';
import { reapply } from '../../src/daemon/commands/reapply.ts';
import { retry } from '../../src/daemon/commands/retry.ts';
import type { CommandResult } from '../../src/daemon/commands/wanted.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { foundOf } from '../../src/view/files/show-view.ts';
import { drain, forget } from '../../src/daemon/commands/hosts.ts';
import { stateOf } from '../../src/pipeline/file/facts.ts';
import { until } from '../support/until.ts';
import { startFleet } from './running-fleet.ts';
import type { FleetMember, RunningFleet } from './running-fleet.ts';
import { refusal } from '../e2e/answers.ts';

const by = 'ana';

/** Of which folder the file is, seen from the host that is asked: `two`. */
const files = ['own', 'of one that lives', 'of one that died', 'held by one that lives'] as const;
type File = (typeof files)[number];

/** What a command does to a file that failed, or was ignored before; `true`: it is done, else why not. */
const commands: Readonly<
  Record<
    string,
    {
      run(daemon: Daemon, name: string): Promise<CommandResult>;
      readonly answers: Record<File, true | RegExp>;
    }
  >
> = {
  ignore: {
    run: (daemon, name) => ignore(daemon, { names: [name], by }),
    answers: {
      own: true,
      'of one that lives': true,
      'of one that died': true,
      'held by one that lives':
        /^one is working on it, and no other host can stop that: nothing was changed\. Run this on one/,
    },
  },
  'ignore --undo': {
    run: (daemon, name) => ignore(daemon, { names: [name], by, isUndone: true }),
    answers: {
      own: true,
      'of one that lives': true,
      'of one that died': true,
      'held by one that lives': /^not ignored/,
    },
  },
  reapply: {
    run: async (daemon, name) => {
      await atRest(daemon, name);
      return reapply(daemon, { names: [name] });
    },
    answers: {
      own: /^failed: the rules apply when it is tried again$/,
      'of one that lives': /^only one can read its folder: run this on one$/,
      'of one that died': /^only dead can read this folder, and it was last heard 4 m( \d+ s)? ago$/,
      'held by one that lives': /^only one can read its folder: run this on one$/,
    },
  },
  'retry --force': {
    run: async (daemon, name) => {
      await atRest(daemon, name);
      return retry(daemon, { names: [name], force: true });
    },
    answers: {
      own: true,
      'of one that lives': true,
      'of one that died': /^queued: nothing to retry$/,
      'held by one that lives': /nothing to retry/,
    },
  },
};

test('a host that has not the turn answers every command about every file of its fleet', async () => {
  // Until then, one request waits for its answer.
  const over = Promise.withResolvers<void>();
  await using fleet = await startFleet({
    meddle: async (request, response, body) => {
      if (request.method !== 'POST') return false;
      if (body.includes('held')) await over.promise;
      return body.includes('refused') && refusal(response, 422, 'refused');
    },
  });
  await using stack = new AsyncDisposableStack();
  stack.defer(over.resolve);
  const one = await fleet.start('one');
  const two = await fleet.start('two');
  const dead = await fleet.start('dead');
  const names: Record<File, string> = {
    own: await failed(fleet, two, 'refused own.mp4'),
    'of one that lives': await failed(fleet, one, 'refused of one.mp4'),
    'of one that died': await failed(fleet, dead, 'refused of dead.mp4'),
    'held by one that lives': 'held.mp4',
  };
  await until('one has the turn', () => one.daemon.turn.signal() !== null);
  await dead.die(240_000);
  await fleet.drop(join(one.inbox, 'held.mp4'));
  const { daemon } = two;
  await until('two knows that one works on it', async () => {
    await daemon.fleet?.hosts();
    const [held] = await daemon.ledger.find('held.mp4');
    return held !== undefined && daemon.rows.held().includes(held.id);
  });

  for (const [command, { run, answers }] of Object.entries(commands)) {
    for (const file of files) {
      const answer = await run(daemon, names[file]);
      const told = [...answer.refused, ...answer.left].map(({ why }) => why)[0] ?? answer.files > 0;
      const expected = answers[file];
      const what = `${command}, a file ${file}`;
      if (!(expected instanceof RegExp)) expect([what, told]).toEqual([what, expected]);
      else expect([what, told]).toEqual([what, expect.stringMatching(expected)]);
    }
  }
  for (const file of files) expect((await foundOf(daemon.ledger, daemon, names[file])).found).toHaveLength(1);

  const places = [two.inbox, `one:${one.inbox}`, `dead:${dead.inbox}`, fleet.share];
  expect(await pause(daemon, { folders: places, until: null, by })).toMatchObject({ refused: [] });
  for (const folder of places) expect(await resume(daemon, { folder, by })).toMatchObject({ ok: true });

  await until('one has told that it has the turn', async () => {
    await daemon.fleet?.hosts();
    return daemon.fleet?.known().find(({ name }) => name === 'one')?.doing.rounds !== undefined;
  });
  expect((await publish(daemon, { feeds: ['feed_news'] })).feeds).toMatchObject([
    { is: 'elsewhere', why: 'one publishes it now, as it does for all hosts' },
  ]);
  await until('it is published', () => fleet.service.publishes.length === 1);

  expect(await daemon.folders.add(join(one.inbox, 'held.mp4'))).toMatchObject({ ok: false });
  expect(await forget(daemon.fleet, { name: 'one' })).toMatchObject({ ok: false });
  expect(await forget(daemon.fleet, { name: 'nobody' })).toMatchObject({ ok: false });
  expect(await drain(daemon.fleet, { name: 'dead', by })).toMatchObject({ ok: true });
  expect(await forget(daemon.fleet, { name: 'dead' })).toMatchObject({ ok: true });
  expect((await foundOf(daemon.ledger, daemon, names['of one that died'])).found).toMatchObject([
    { file: { why: 'no host of the fleet can read this folder' } },
  ]);
});

/** A file in the folder of that host, whose record the service refuses. */
async function failed(fleet: RunningFleet, { daemon, inbox }: FleetMember, name: string): Promise<string> {
  await fleet.drop(join(inbox, name));
  return until(`${name} failed`, async () => {
    const [facts] = await daemon.ledger.find(name);
    return facts !== undefined && stateOf(facts) === 'failed' && facts.id;
  });
}

/** A file that is no longer ignored fails again: but for the one that nobody can read, and the one that is held. */
async function atRest(daemon: Daemon, name: string): Promise<void> {
  await until(`${name} is at rest`, async () => {
    const [facts] = await daemon.ledger.find(name);
    return (
      facts !== undefined && (stateOf(facts) === 'failed' || /^(dead:|.*held)/.test(`${facts.folder} ${facts.path}`))
    );
  });
}
