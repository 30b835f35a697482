import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, lstat, unlink, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { createDoneMarker } from '../../src/routing/done-marker.ts';
import type { WatchSettings } from '../../src/watch/ports.ts';
import { needs } from '../support/needs.ts';
import { eventually, until } from '../support/until.ts';
import { deaf, WatchedDirectory } from './watched-directory.ts';
import type { Setup } from './watched-directory.ts';

/** Longer than any test: what is offered was not offered because of it. */
const endlessly = 86_400_000;

async function watched(settings: Partial<WatchSettings> & { readonly template?: string } = {}, setup: Setup = {}) {
  const { template = '{name}.{ext}.done', ...folder } = settings;
  const { markerOf, isMarker } = createDoneMarker(template);
  return WatchedDirectory.create({
    ...setup,
    folder: {
      settleMs: endlessly,
      markerOf: (path) => (path.endsWith('.mp4') || path.endsWith('.mov') ? markerOf(path) : null),
      accepts: (path) => (isMarker(path) ? 'proof' : /\.(mp4|mov)$/u.test(path) ? 'media' : null),
      ...folder,
    },
  });
}

const offered = ({ completed }: WatchedDirectory): string[] =>
  completed
    .filter(({ kind }) => kind === 'media')
    .map(({ path }) => path)
    .toSorted();

const whys = ({ watcher }: WatchedDirectory): Record<string, string> =>
  Object.fromEntries(watcher.settling().map(({ path, why }) => [path, why]));

describe('a video that needs a marker', () => {
  test.each<[string, Setup]>([
    ['by an event', {}],
    ['by a scan', { openEvents: deaf }],
  ])('waits for it and says so, and is then taken at once: found %s', async (_how, setup) => {
    await using inbox = await watched({}, setup);
    await writeFile(inbox.at('clip.mp4'), 'content');
    await inbox.watcher.start();
    await eventually('it says so', () => expect(whys(inbox)).toEqual({ 'clip.mp4': 'waiting for clip.mp4.done' }));
    expect(inbox.watcher.settling()).toMatchObject([{ lacksMarker: true }]);
    await writeFile(inbox.at('clip.mp4.done'), '');
    await inbox.watcher.rescan();
    await eventually('it is taken', () => expect(offered(inbox)).toEqual(['clip.mp4']));
    expect(inbox.watcher.counts()).toMatchObject({ seen: 2 });
  });

  test('waits for it however long it is unchanged', async () => {
    await using inbox = await watched({ settleMs: 50 }, { openEvents: deaf });
    await writeFile(inbox.at('clip.mp4'), 'content');
    await writeFile(inbox.at('other.mp4'), 'content');
    await writeFile(inbox.at('other.mp4.done'), '');
    await inbox.watcher.start();
    await eventually('the other is taken', () => expect(offered(inbox)).toEqual(['other.mp4']));
    await eventually('it waits', () => expect(whys(inbox)).toMatchObject({ 'clip.mp4': 'waiting for clip.mp4.done' }));
    await inbox.watcher.rescan();
    expect(offered(inbox)).toEqual(['other.mp4']);
  });

  test('that has it before the start is taken at once', async () => {
    await using inbox = await watched();
    await writeFile(inbox.at('clip.mp4'), 'content');
    await writeFile(inbox.at('clip.mp4.done'), '');
    await inbox.watcher.start();
    await eventually('it is taken', () => expect(offered(inbox)).toEqual(['clip.mp4']));
  });

  test.each([
    ['Gro\u0308\u00DFe.mp4', 'Gr\u00F6\u00DFe.mp4.done'],
    ['Gr\u00F6\u00DFe.mp4', 'Gro\u0308\u00DFe.mp4.done'],
  ])('that has it in another Unicode form is taken: %j, %j', async (video, marker) => {
    await using inbox = await watched({}, { openEvents: deaf });
    await writeFile(inbox.at(video), 'content');
    await inbox.watcher.start();
    await eventually('it waits', () => expect(inbox.watcher.settling()).toMatchObject([{ lacksMarker: true }]));
    await writeFile(inbox.at(marker), '');
    await inbox.watcher.rescan();
    await eventually('it is taken', () => expect(offered(inbox)).toEqual([video]));
  });

  test('that changes after it has to stay unchanged: an older marker proves nothing', async () => {
    await using inbox = await watched();
    await writeFile(inbox.at('clip.mp4.done'), '');
    await inbox.watcher.start();
    await writeAfter(inbox.at('clip.mp4.done'), inbox.at('clip.mp4'));
    await inbox.watcher.rescan();
    await writeFile(inbox.at('other.mp4'), 'content');
    await writeFile(inbox.at('other.mp4.done'), '');
    await inbox.watcher.rescan();
    await eventually('the other is taken', () => expect(offered(inbox)).toEqual(['other.mp4']));
    await eventually('it is looked at', () => expect(whys(inbox)['clip.mp4']).toMatch(/^unchanged for .* of 1 d$/u));
    await unlink(inbox.at('clip.mp4.done'));
    await writeFile(inbox.at('clip.mp4.done'), 'again');
    await inbox.watcher.rescan();
    await eventually('it is taken', () => expect(offered(inbox)).toEqual(['clip.mp4', 'other.mp4']));
  });

  test('with an older one is taken once it has settled', async () => {
    await using inbox = await watched({ settleMs: 300 });
    await writeFile(inbox.at('clip.mp4.done'), '');
    await writeAfter(inbox.at('clip.mp4.done'), inbox.at('clip.mp4'));
    await inbox.watcher.start();
    await eventually('it is taken', () => expect(offered(inbox)).toEqual(['clip.mp4']));
  });

  test('that loses it before it is taken waits again', async () => {
    await using inbox = await watched({ settleMs: 300 }, { openEvents: deaf });
    await writeFile(inbox.at('clip.mp4.done'), '');
    await writeAfter(inbox.at('clip.mp4.done'), inbox.at('clip.mp4'));
    await unlink(inbox.at('clip.mp4.done'));
    await inbox.watcher.start();
    await eventually('it waits', () => expect(whys(inbox)).toMatchObject({ 'clip.mp4': 'waiting for clip.mp4.done' }));
    await appendFile(inbox.at('clip.mp4'), ' and more');
    await inbox.watcher.rescan();
    await eventually('it waits', () => expect(whys(inbox)).toMatchObject({ 'clip.mp4': 'waiting for clip.mp4.done' }));
    expect(offered(inbox)).toEqual([]);
  });

  test('and is still open for writing waits for its writer too', needs('/proc'), async () => {
    await using inbox = await watched();
    await writeFile(inbox.at('clip.mp4'), 'content');
    const writer = spawn('sh', ['-c', 'exec 3>>"$1"; echo open; read line', 'sh', inbox.at('clip.mp4')]);
    await once(writer.stdout, 'data');
    await writeFile(inbox.at('clip.mp4.done'), '');
    await inbox.watcher.start();
    const why = `open for writing by process ${writer.pid} (sh)`;
    await eventually('it waits for it', () => expect(whys(inbox)).toMatchObject({ 'clip.mp4': why }));
    writer.stdin.end();
    await eventually('it is taken', () => expect(offered(inbox)).toEqual(['clip.mp4']));
  });

  test('shares it with another of that name, where the template says so', async () => {
    await using inbox = await watched({ template: '{name}.done' });
    await writeFile(inbox.at('clip.mp4'), 'content');
    await writeFile(inbox.at('clip.mov'), 'content');
    await inbox.watcher.start();
    const both = { 'clip.mov': 'waiting for clip.done', 'clip.mp4': 'waiting for clip.done' };
    await eventually('both wait', () => expect(whys(inbox)).toEqual(both));
    await writeFile(inbox.at('clip.done'), '');
    await eventually('both are taken', () => expect(offered(inbox)).toEqual(['clip.mov', 'clip.mp4']));
  });
});

test('a marker without a video is no video, and asks for nothing', async () => {
  await using inbox = await watched({ settleMs: 50 });
  await writeFile(inbox.at('clip.mp4.done'), '');
  await inbox.watcher.start();
  await eventually('it has settled', () => expect(inbox.watcher.settling()).toEqual([]));
  expect(inbox.completed).toMatchObject([{ path: 'clip.mp4.done', kind: 'proof' }]);
});

/** The kernel counts the time of a change in steps of some milliseconds: it writes until the file is certainly the later one. */
async function writeAfter(earlier: string, path: string): Promise<void> {
  const changedAt = async (of: string): Promise<bigint> => (await lstat(of, { bigint: true })).ctimeNs;
  await until('it is later', async () => {
    await writeFile(path, 'content');
    return (await changedAt(path)) > (await changedAt(earlier));
  });
}
