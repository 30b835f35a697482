import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Priority } from '../../../src/routing/plan.ts';
import { startsRemembered } from '../../../src/pipeline/steps/lanes.ts';
import { Turns } from '../../../src/pipeline/steps/turns.ts';
import type { Turn } from '../../../src/pipeline/steps/turns.ts';

interface Named extends Turn {
  readonly name: string;
}

/** Starts as many as asked for, of files that are all there from the beginning. @returns their names */
function startedOf(waiting: Named[], count: number): string[] {
  const turns = new Turns();
  const left = [...waiting];
  return Array.from({ length: count }, () => {
    const next = turns.next(left);
    if (next === null) return '';
    left.splice(left.indexOf(next), 1);
    turns.started(next);
    return next.name;
  });
}

const many = (count: number, name: string, other: Partial<Turn> = {}): Named[] =>
  Array.from({ length: count }, () => ({
    name,
    folder: '/in',
    priority: 'normal',
    isBig: false,
    urgency: null,
    ...other,
  }));

const share = (names: readonly string[], name: string): number => names.filter((other) => other === name).length;

describe('the next turn', () => {
  test('is empty when nothing waits', () => {
    expect(new Turns().next([])).toBeNull();
  });

  test('belongs to high priority four times of five, while normal files wait', () => {
    const files = [...many(30, 'normal'), ...many(30, 'high', { priority: 'high' })];
    const started = startedOf(files, 30);
    expect(started.slice(0, 5)).toEqual(['high', 'high', 'high', 'high', 'normal']);
    expect(share(started, 'normal')).toBe(6);
  });

  test('belongs to low priority once in seventeen times, while others wait', () => {
    const files = [
      ...many(90, 'low', { priority: 'low' }),
      ...many(90, 'normal'),
      ...many(90, 'high', { priority: 'high' }),
    ];
    const started = startedOf(files, 85);
    expect([share(started, 'low'), share(started, 'normal'), share(started, 'high')]).toEqual([5, 15, 65]);
  });

  test('goes round the folders: a flood in one does not delay the only file of another', () => {
    const files = [...many(10_000, 'flood'), ...many(1, 'lone', { folder: '/other' })];
    expect(startedOf(files, 2)).toEqual(['flood', 'lone']);
  });

  test('of a folder belongs to small files, and after four of them to a big one', () => {
    const files = [...many(20, 'big', { isBig: true }), ...many(20, 'small')];
    expect(startedOf(files, 10)).toEqual(
      [...many(4, 'small'), ...many(1, 'big'), ...many(4, 'small'), ...many(1, 'big')].map(({ name }) => name),
    );
  });

  test('belongs to the file that was put first, then to the earliest deadline, whatever their folder, priority and size', () => {
    const files = [
      ...many(3, 'high', { priority: 'high' }),
      ...many(1, 'later', { urgency: 1_000, priority: 'high' }),
      ...many(1, 'earlier', { urgency: 900, priority: 'low', isBig: true, folder: '/other' }),
      ...many(1, 'first', { urgency: -5, isBig: true }),
      ...many(1, 'put first after it', { urgency: -6, priority: 'low' }),
    ];
    expect(startedOf(files, 5)).toEqual(['put first after it', 'first', 'earlier', 'later', 'high']);
  });

  test('belongs to one file without a deadline after sixteen with one, and deadlines change no share of the others', () => {
    const files = [
      ...many(170, 'due', { urgency: 1 }),
      ...many(30, 'normal'),
      ...many(30, 'high', { priority: 'high' }),
    ];
    const started = startedOf(files, 170);
    expect(started.slice(0, 18)).toEqual([...many(16, 'due').map(({ name }) => name), 'high', 'due']);
    expect([share(started, 'due'), share(started, 'high'), share(started, 'normal')]).toEqual([160, 8, 2]);
  });

  test('continues after a restart where it was', () => {
    const files = [...many(30, 'normal'), ...many(30, 'high', { priority: 'high' })];
    const before = many(3, 'high', { priority: 'high' });
    const turns = new Turns([...before, ...many(1, 'normal')]);
    const names = Array.from({ length: 2 }, () => {
      const next = turns.next(files) as Named;
      turns.started(next);
      return next.name;
    });
    expect(names).toEqual(['high', 'normal']);
  });
});

const priorities: readonly Priority[] = ['high', 'normal', 'low'];
const anyFile = fc.record({
  folder: fc.constantFrom('/a', '/b', '/c'),
  priority: fc.constantFrom(...priorities),
  isBig: fc.boolean(),
  urgency: fc.option(fc.integer({ min: -9, max: 9 }), { freq: 1 }),
});

/** Of each priority at least one start in so many; then round the folders; then small and big ones. */
const oneIn: Readonly<Record<Priority, number>> = { high: 3, normal: 8, low: 20 };
const folders = 3;
/** One start in this many belongs to a file without a deadline. */
const othersOneIn = 17;
const sizes = 5;

test('comes to every file within a bounded number of starts, whatever arrives in the meantime, and however often it restarts', () => {
  fc.assert(
    fc.property(
      fc.array(anyFile, { maxLength: 20 }),
      anyFile,
      fc.array(anyFile, { minLength: 1, maxLength: 5 }),
      fc.nat(6),
      (before, watched, flood, restartEvery) => {
        const isOfItsQueue = (file: Turn): boolean =>
          file.urgency === null &&
          file.folder === watched.folder &&
          file.priority === watched.priority &&
          file.isBig === watched.isBig;
        // Only deadlines that keep coming can pass over a file that has one.
        fc.pre(watched.urgency === null);
        const ordinary = (before.filter(isOfItsQueue).length + 1) * oneIn[watched.priority] * folders * sizes;
        const bound = ordinary * othersOneIn;
        const waiting: Turn[] = [...before, watched];
        const started: Turn[] = [];
        let turns = new Turns();
        for (let n = 0; n <= bound; n += 1) {
          // As much comes as goes, and more.
          waiting.push(...flood.map((file) => ({ ...file })));
          if (restartEvery > 0 && n % restartEvery === 0) turns = new Turns(started.slice(0, startsRemembered));
          const next = turns.next(waiting);
          if (next === watched) return;
          if (next === null) throw new Error('somebody waits');
          waiting.splice(waiting.indexOf(next), 1);
          turns.started(next);
          started.unshift(next);
        }
        throw new Error(`not within ${bound} starts`);
      },
    ),
    { numRuns: 300 },
  );
});
