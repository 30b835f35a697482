import { expect, test } from 'vitest';
import type { DropcastEvent } from '../../src/pipeline/events.ts';
import type { Failure } from '../../src/pipeline/file/failure.ts';
import { createUploadHosts } from '../../src/pipeline/upload-hosts.ts';
import { hour, minute } from './running-core.ts';
import { failure } from './some-facts.ts';
import { TestClock } from './test-clock.ts';

function open() {
  const clock = new TestClock(1_000_000);
  const told: DropcastEvent[] = [];
  const hosts = createUploadHosts({
    clock,
    events: { emit: (event) => void told.push(event) },
    isBack: () => undefined,
  });
  return { ...hosts, clock, types: () => told.map(({ type }) => type) };
}

const at = (host: string, id = 'f_1') => ({ id, uploadUrl: `https://${host}.example/${id}` });
const fails = (why: Partial<Failure> = {}) => ({ ok: false, failure: failure('offline', why) }) as const;
const succeeds = { ok: true, value: null } as const;

test('a host that asks for a long wait is told of at once, with the time at which it is tried again', () => {
  const { judge, pause, clock, types } = open();
  judge(at('one'), fails({ retryAfterMs: hour }));
  expect(types()).toEqual(['paused']);
  expect(pause()).toMatchObject({ holds: 'uploads', nextProbeAt: clock.now() + hour });
});

test('one short failure is no news', () => {
  const { judge, pause, types } = open();
  judge(at('one'), fails());
  expect([pause(), types()]).toEqual([null, []]);
});

test('an outage that no file waits for any more is over, and is told to be', () => {
  const { admit, judge, ended, pause, tidy, clock, types } = open();
  for (let tries = 0; tries < 2; tries += 1) {
    admit(at('one'));
    judge(at('one'), fails());
    ended('f_1');
    clock.advance(5_000);
  }
  tidy();
  expect(pause()).not.toBeNull();
  // Its only file was deleted, or the service had its bytes all along.
  clock.advance(10 * minute);
  tidy();
  expect([pause(), types()]).toEqual([null, ['paused', 'resumed']]);
  expect(admit(at('one', 'f_2'))).toBe(true);
});

test('an outage goes on while a file finds out whether it is over, however long that takes', () => {
  const { admit, judge, pause, tidy, clock } = open();
  judge(at('one'), fails());
  clock.advance(1_000);
  admit(at('one'));
  judge(at('one'), fails());
  clock.advance(2_000);
  admit(at('one'));
  clock.advance(hour);
  tidy();
  expect(pause()).not.toBeNull();
});

test('a host is forgotten when no file fails there any more: a service may have one for each file', () => {
  const { admit, judge, ended, tidy, clock } = open();
  for (let n = 0; n < 1_000; n += 1) {
    const upload = at(`h${n}`, `f_${n}`);
    if (n % 3 === 0) judge(upload, fails());
    admit(upload);
    if (n % 3 < 2) judge(upload, succeeds);
    else judge(upload, fails());
    ended(upload.id);
    clock.advance(1_000);
  }
  clock.advance(10 * minute);
  expect(tidy()).toBe(0);
});
