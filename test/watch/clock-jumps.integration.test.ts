import { writeFile } from 'node:fs/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { FakeClock } from './fake-clock.ts';
import { eventually } from '../support/until.ts';
import { WatchedDirectory, manualEvents } from './watched-directory.ts';

afterEach(() => vi.useRealTimers());

const day = 86_400_000;

test.for([
  ['forward', day],
  ['back', -day],
] as const)(
  'a clock on the wall that jumps %s a day makes no file complete earlier or later, and no watch deaf',
  async ([, jump]) => {
    const clock = new FakeClock();
    const events = manualEvents();
    await using inbox = await WatchedDirectory.create({ clock, openEvents: events.open });
    await inbox.watcher.start();
    // The test file of the watches is out.
    events.last().onCaughtUp();
    await writeFile(inbox.at('a.mp4'), 'content');
    await inbox.watcher.rescan();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + jump });
    clock.advance(250);
    await inbox.watcher.rescan();
    expect(inbox.paths).toEqual([]);
    expect(inbox.watcher.settling()).toMatchObject([{ path: 'a.mp4' }]);
    await eventually('it is offered', () => {
      clock.advance(50);
      expect(inbox.paths).toEqual(['a.mp4']);
    });
    expect(inbox.states).toEqual([{ state: 'watching' }]);
    await inbox.watcher.rescan();
    expect(inbox.gone).toEqual([]);
  },
);
