import { expect, test } from 'vitest';
import { hostLines } from '../../../src/cli/output/host-lines.ts';
import { hostView } from '../../../src/daemon/fleet/host-view.ts';
import type { Host } from '../../../src/fleet/fleet-view.ts';
import { noon, someHost, someUpload } from '../../daemon/fleet/fake-fleet.ts';

const lines = (...hosts: readonly [Host, number?][]) =>
  hostLines(
    { away_since: null, away: null, hosts: hosts.map(([host, waiting]) => hostView(host, 'ingest1', waiting)) },
    noon + 3_000,
    false,
  );
const uploading = { doing: { slots: 4, places: [], work: [{ id: 'f_1', upload: someUpload }] } };

test('each host has a line, after what is wrong with them', () => {
  expect(
    lines(
      [someHost('ingest1', uploading)],
      [someHost('ingest2', { draining: { since: noon, by: 'ana' } })],
      [someHost('ingest3', { isHeard: false, heardAt: noon - 240_000 }), 12],
      [someHost('ingest4\u001B[2J')],
    ),
  ).toEqual([
    'ingest3 was last heard 4 m 3 s ago, at 11:56. 12 files wait for it: no other host that works can read their folders.',
    'Host ingest1 (this one, 0.3.0): 1 of 4 uploads, 50 B/s',
    'Host ingest2 (0.3.0, heard 3 s ago): drained by ana since 12:00: nothing runs here',
    'Host ingest3 (0.3.0): silent: last heard 4 m 3 s ago; 12 files wait for it',
    String.raw`Host ingest4\x1b[2J (0.3.0, heard 3 s ago): idle`,
  ]);
});

test('a single host has none, unless it is drained', () => {
  expect(hostLines(null, noon, false)).toEqual([]);
  expect(lines([someHost('ingest1')])).toEqual([]);
  expect(lines([someHost('ingest1', { draining: { since: noon, by: 'ana' } })])).toEqual([
    'No host takes up files: each is draining, stopped or silent.',
    expect.stringContaining('drained'),
  ]);
});
