import { expect, test } from 'vitest';
import { toFolders, toPlaces } from '../../../src/fleet/commands/copy.ts';

const host = {
  hostName: 'one',
  shared: [
    { path: '/mnt/nas', place: 'nas1:' },
    { path: '/mnt/found', place: 'two:/srv/found' },
  ],
};

test.each(['nas1:', 'two:/srv/found', 'one:/srv/in', 'two:/srv/in', 'nas2:', 'one:/mnt/nas', 'one:/'])(
  'the place %s has its name again after a ledger came from a fleet and went back',
  (place) => {
    const folder = toFolders(host)(place, 'file');
    expect(toPlaces(host)(folder, 'file')).toBe(place);
  },
);

test('rows from before a folder became a share, and those of the share, do not get one name', () => {
  const names = ['nas1:', 'one:/mnt/nas'].map((place) => toFolders(host)(place, 'first_start'));
  expect(names).toEqual(['/mnt/nas', 'one:/mnt/nas']);
});

test('which directory a share is on this host is still known after the ledger came from a fleet and went back', () => {
  expect(toFolders(host)('one:/mnt/nas', 'root')).toBe('/mnt/nas');
  expect(toPlaces(host)('/mnt/nas', 'root')).toBe('one:/mnt/nas');
  expect(toPlaces(host)(toFolders(host)('two:/mnt/nas', 'root'), 'root')).toBe('two:/mnt/nas');
});
