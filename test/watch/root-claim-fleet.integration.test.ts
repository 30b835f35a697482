import { mkdir, readFile, rm } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { RootClaim } from '../../src/watch/root-claim.ts';
import type { FolderClaimant } from '../../src/watch/root-mark.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

/** A host of the fleet that takes folders for these places. */
function member(name: string, places: Readonly<Record<string, string>>, ledger = 'fleet'): FolderClaimant {
  const placeOf = (folder: string): string => places[folder] ?? `${name}:${folder}`;
  return {
    ledger,
    stateDir: `/var/lib/${name}`,
    host: name,
    hostName: name,
    fleet: { placeOf, watched: () => Object.values(places) },
  };
}

async function hold(folder: string, us: FolderClaimant): Promise<string> {
  await using claim = new RootClaim(folder, us, silentLogger);
  const verdict = await claim.hold();
  return verdict.isSound ? 'ours' : verdict.why;
}

test('two hosts of one fleet watch a folder at the same time when both take it for the same share', async () => {
  await using scratch = await scratchDirectory();
  await using one = new RootClaim(scratch.path, member('one', { [scratch.path]: 'nas1:' }), silentLogger);
  expect(await one.hold()).toEqual({ isSound: true });
  expect(await hold(scratch.path, member('two', { [scratch.path]: 'nas1:' }))).toBe('ours');
  expect(JSON.parse(await readFile(scratch.file('.dropcast'), 'utf8'))).toMatchObject({
    place: 'nas1:',
    hostName: 'one',
  });
});

test('a folder whose mark is that of another share is left alone, and its mark too', async () => {
  await using scratch = await scratchDirectory();
  await hold(scratch.path, member('one', { [scratch.path]: 'nas1:' }));
  const before = await readFile(scratch.file('.dropcast'), 'utf8');
  expect(await hold(scratch.path, member('two', { [scratch.path]: 'nas2:' }))).toMatch(/nas1: .*nas2: .*mounted/u);
  expect(await hold(scratch.path, member('two', {}))).toMatch(/nas1: .*two:\//u);
  expect(await readFile(scratch.file('.dropcast'), 'utf8')).toBe(before);
});

test('another fleet is refused, whatever it calls the folder', async () => {
  await using scratch = await scratchDirectory();
  await hold(scratch.path, member('one', { [scratch.path]: 'nas1:' }));
  expect(await hold(scratch.path, member('two', { [scratch.path]: 'nas1:' }, 'other'))).toContain('watches it');
});

test('a mark from before the fleet gets the name of the place from its own host only', async () => {
  await using scratch = await scratchDirectory();
  const one = member('one', { [scratch.path]: 'nas1:' });
  expect(await hold(scratch.path, { ...one, fleet: null })).toBe('ours');
  expect(await hold(scratch.path, member('two', { [scratch.path]: 'nas1:' }))).toContain('watches it');
  expect(await hold(scratch.path, one)).toBe('ours');
  expect(await hold(scratch.path, member('two', { [scratch.path]: 'nas1:' }))).toBe('ours');
});

test('a folder in a share is watched by a host that watches the share too, and by no other', async () => {
  await using scratch = await scratchDirectory();
  const inner = scratch.file('in');
  await mkdir(inner);
  await hold(scratch.path, member('one', { [scratch.path]: 'nas1:' }));
  expect(await hold(inner, member('two', { [inner]: 'in:' }))).toMatch(/is inside .*nas1:.*watch it on this host too/u);
  expect(await hold(inner, member('two', { [inner]: 'in:', [scratch.path]: 'nas1:' }))).toBe('ours');
  await rm(inner, { recursive: true });
});
