import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { waitsElsewhere } from '../../../src/view/hosts/host-words.ts';
import type { Host } from '../../../src/view/hosts/fleet-view.ts';
import { FakeFleet, noon, someHost } from '../../fleet/fake-fleet.ts';

beforeEach(() => void vi.useFakeTimers({ now: noon }));
afterEach(() => void vi.useRealTimers());

const place = 'two:/srv/in';
const host = (name: string, heardMsAgo: number, other: Partial<Host> = {}): Host =>
  someHost(name, {
    heardAt: noon - heardMsAgo,
    isHeard: heardMsAgo < 15_000,
    doing: { slots: 4, places: [place], work: [] },
    ...other,
  });
const draining = { draining: { since: noon, by: 'ana' } };

test.each<[readonly Host[], string, boolean]>([
  [[], 'no host of the fleet can read this folder', true],
  [[host('two', 1_000)], 'waits for two, which can read its folder', false],
  [[host('two', 1_000), host('three', 1_000)], 'waits for three or two, which can read its folder', false],
  [[host('two', 1_000, draining), host('three', 1_000)], 'waits for three, which can read its folder', false],
  [[host('two', 1_000, draining)], 'only two can read this folder, and it is draining', true],
  [
    [host('two', 1_000, draining), host('three', 0, draining)],
    'only three and two can read this folder, and they are draining',
    true,
  ],
  [[host('two', 240_000)], 'only two can read this folder, and it was last heard 4 m ago', true],
  [[host('two', 30_000)], 'only two can read this folder, and it was last heard 30 s ago', true],
  [[host('two', 240_000, draining)], 'only two can read this folder, and it was last heard 4 m ago', true],
  [
    [host('two', 8_000_000, { isStopped: true })],
    'only two can read this folder, and it was stopped 2 h 13 m ago',
    true,
  ],
  [[host('two', 240_000), host('three', 1_000)], 'waits for three, which can read its folder', false],
  [
    [host('two', 240_000), host('three', 60_000)],
    'only three and two can read this folder, and three was last heard 1 m ago',
    true,
  ],
  [[host('two', -5_000, { isHeard: false })], 'only two can read this folder, and it was last heard 1 s ago', true],
])('a file waits for the hosts that can read it, in words', (hosts, why, isStuck) => {
  expect(waitsElsewhere(new FakeFleet(someHost('one'), ...hosts), place, ['/in'])).toEqual({ why, isStuck });
});

test('a file of a folder of this host waits for no other', () => {
  const fleet = new FakeFleet(someHost('one'), host('two', 240_000));
  expect(waitsElsewhere(fleet, place, [place])).toBeNull();
  expect(waitsElsewhere(fleet, '/not/watched/any/more', [])).toBeNull();
  expect(waitsElsewhere(null, place, [])).toBeNull();
});
