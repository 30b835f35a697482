import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPlaces, fromPlace, toPlace } from '../../src/fleet/places.ts';
import { anyFacts } from '../pipeline/any-facts.ts';

const shared = [
  { folder: '/mnt/nas', place: 'nas1:', device: '52' },
  { folder: '/mnt/other', place: 'ingest9:/srv/other', device: null },
];
const places = createPlaces(
  'ingest1',
  () => shared,
  () => 'nobody',
);

const folders = fc.constantFrom(
  '/',
  '/srv/in',
  '/mnt/nas',
  '/mnt/nas/sub',
  '/mnt/other',
  'nas2:',
  'ingest2:/srv/in',
  'ingest1:/mnt/nas',
);

test('whatever a row is given on its way to the ledger, it has again on its way back', () => {
  fc.assert(
    fc.property(anyFacts, folders, (facts, folder) => {
      const dev = folder === '/mnt/nas' ? '52' : folder === '/mnt/other' ? '' : facts.version.dev;
      const seen = { ...facts, folder, version: { ...facts.version, dev } };
      expect(fromPlace(places)(toPlace(places)(seen))).toEqual(seen);
    }),
  );
});

test.each([
  'nas1:',
  'nas2:',
  'ingest1:/',
  'ingest1:/srv/in',
  'ingest1:/mnt/nas',
  'ingest2:/mnt/nas',
  'ingest9:/srv/other',
  'ingest10:/srv/in',
])('the place %s keeps its name when its row is read and written again', (place) => {
  expect(places.placeOf(places.folderOf(place))).toBe(place);
});

test.each([
  ['nas1:', '/mnt/nas'],
  ['ingest1:/srv/in', '/srv/in'],
  ['ingest9:/srv/other', '/mnt/other'],
  ['ingest2:/srv/in', 'ingest2:/srv/in'],
  ['nas2:', 'nas2:'],
  // Its rows are from before it became a share; they are not those of the share.
  ['ingest1:/mnt/nas', 'ingest1:/mnt/nas'],
])('%s is %s on this host', (place, folder) => {
  expect(places.folderOf(place)).toBe(folder);
});

test('a place that this host cannot see is never an absolute path', () => {
  for (const place of ['nas2:', 'ingest2:/srv/in', 'ingest10:/', 'ingest1:/mnt/nas'])
    expect(places.isHere(places.folderOf(place)), place).toBe(false);
});

test('the device of a share is the one of this host, and none where its mark was not seen', () => {
  const version = { dev: '77', ino: '1', birthtimeNs: '1', size: 1, mtimeNs: '1', ctimeNs: '1' };
  const devOf = (folder: string): string => fromPlace(places)({ folder, version }).version.dev;
  expect(devOf('nas1:')).toBe('52');
  expect(devOf('ingest9:/srv/other')).toBe('');
  expect(devOf('ingest1:/srv/in')).toBe('77');
  expect(devOf('ingest2:/srv/in')).toBe('77');
});

test('a host whose name begins like that of another does not see its folders', () => {
  const { visible } = places;
  expect('ingest10:/srv/in'.startsWith(visible().below)).toBe(false);
});
