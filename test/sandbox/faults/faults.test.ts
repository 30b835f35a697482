import { describe, expect, test } from 'vitest';
import { Clock } from '../../../packages/sandbox/src/clock.ts';
import { Events } from '../../../packages/sandbox/src/events.ts';
import { faultRule } from '../../../packages/sandbox/src/faults/fault-rule.ts';
import { Faults } from '../../../packages/sandbox/src/faults/faults.ts';

function make(seed = 1) {
  const clock = new Clock(() => 1_000_000);
  const events = new Events();
  const changes: string[] = [];
  events.listen(({ type, id }) => changes.push(`${type} ${id}`));
  const channelOf = (videoId: string) => (videoId === 'vid_news' ? 'ch_news' : '');
  return { clock, changes, faults: new Faults({ clock, events, seed, channelOf }) };
}

const rule = (fields: object) => faultRule.parse({ kind: 'html_502', ...fields });
const list = { operation: 'videos.list', videoId: '', channelId: '' };

/** Which of 40 calls are hit. */
function pattern(faults: Faults): string {
  return Array.from({ length: 40 }, () => (faults.take(list) ? 'x' : '.')).join('');
}

describe('probability', () => {
  test('the same seed hits the same calls, another seed others', () => {
    const [one, same, other] = [make(7), make(7), make(8)];
    for (const { faults } of [one, same, other]) faults.add(rule({ probability: 0.3 }));
    const hits = pattern(one.faults);
    expect(pattern(same.faults)).toBe(hits);
    expect(pattern(other.faults)).not.toBe(hits);
    expect(hits).toMatch(/x.*\..*x/);
  });

  test('after a reset the same is drawn again, after a mere clear not', () => {
    const { faults } = make();
    faults.add(rule({ probability: 0.5 }));
    const first = pattern(faults);
    faults.replace([rule({ probability: 0.5 })]);
    expect(pattern(faults)).not.toBe(first);
    faults.reset();
    faults.add(rule({ probability: 0.5 }));
    expect(pattern(faults)).toBe(first);
  });
});

describe('several rules', () => {
  test('the first that hits takes the call, and the next one the call after it', () => {
    const { faults } = make();
    faults.add(rule({ times: 1 }));
    faults.add(faultRule.parse({ kind: 'answer_lost', times: 1 }));
    expect([faults.take(list), faults.take(list), faults.take(list)].map((fault) => fault?.rule.kind)).toEqual([
      'html_502',
      'answer_lost',
      undefined,
    ]);
    expect(faults.list().map(({ id, calls, applied }) => [id, calls, applied])).toEqual([
      ['fault_1', 3, 1],
      ['fault_2', 2, 1],
    ]);
  });
});

describe('time to live', () => {
  test("a rule expires by the sandbox's clock", () => {
    const { faults, clock, changes } = make();
    clock.freeze();
    faults.add(rule({ ttl_ms: 1000 }));
    clock.advance(999);
    expect(faults.take(list)?.id).toBe('fault_1');
    clock.advance(1);
    expect(faults.interestIn('videos.list')).toBe('none');
    expect(faults.take(list)).toBeUndefined();
    expect(faults.list()).toEqual([]);
    expect(changes).toEqual(Array(3).fill('faults.changed fault_1')); // added, applied, over
  });
});

describe('interest of the rules in a request', () => {
  test('only its operation; the channel only when it names one', () => {
    const { faults } = make();
    expect(faults.interestIn('videos.list')).toBe('none');
    faults.add(rule({ operation: 'videos.create' }));
    expect(faults.interestIn('videos.list')).toBe('none');
    expect(faults.interestIn('videos.create')).toBe('any channel');
    faults.add(rule({ channel_id: 'ch_news' }));
    expect(faults.interestIn('videos.create')).toBe('the channel');
  });

  test('a rule about processing hits no request', () => {
    const { faults } = make();
    faults.add(faultRule.parse({ kind: 'stuck_processing' }));
    expect(faults.interestIn('videos.list')).toBe('none');
    expect(faults.take(list)).toBeUndefined();
  });
});

describe('fateOf', () => {
  test('follows the rules about processing, by video, channel and count', () => {
    const { faults } = make();
    faults.add(
      faultRule.parse({ kind: 'failed_processing', channel_id: 'ch_news', code: 'no_audio', message: 'Silent.' }),
    );
    faults.add(faultRule.parse({ kind: 'stuck_processing', nth: 2 }));
    faults.add(rule({}));
    expect(faults.fateOf('vid_news')).toEqual({ code: 'no_audio', message: 'Silent.' });
    expect([faults.fateOf('vid_a'), faults.fateOf('vid_b'), faults.fateOf('vid_c')]).toEqual([
      undefined,
      'stuck',
      undefined,
    ]);
  });
});

test('remove returns whether the rule existed', () => {
  const { faults, changes } = make();
  const { id } = faults.add(rule({}));
  expect([faults.remove(id), faults.remove(id), faults.remove('')]).toEqual([true, false, false]);
  expect(changes).toEqual(['faults.changed fault_1', 'faults.changed fault_1']);
});
