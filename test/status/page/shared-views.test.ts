import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SharedViews } from '../../../src/status/page/live.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function some() {
  const views = new SharedViews();
  let made = 0;
  const get = (address = '/') => views.get(address, async () => `${address} ${(made += 1)}`);
  return { views, get, made: () => made };
}

test('fifty who ask at once share one rendering', async () => {
  const { get, made } = some();
  const pages = await Promise.all(Array.from({ length: 50 }, () => get()));
  expect(new Set(pages)).toEqual(new Set(['/ 1']));
  expect(made()).toBe(1);
  expect(await get('/folders')).toBe('/folders 2');
});

test('no reader gets a view that is older than an event it has received', async () => {
  const { views, get } = some();
  await get();
  views.somethingHappened();
  const [one, other] = [get(), get()];
  await vi.advanceTimersByTimeAsync(250);
  expect([await one, await other]).toEqual(['/ 2', '/ 2']);
});

test('an address is rendered four times a second at most, however much happens', async () => {
  const { views, get, made } = some();
  const asked: Promise<string>[] = [];
  for (let ms = 0; ms < 5_000; ms += 10) {
    views.somethingHappened();
    asked.push(get());
    await vi.advanceTimersByTimeAsync(10);
  }
  await vi.advanceTimersByTimeAsync(250);
  await Promise.all(asked);
  expect(made()).toBeLessThanOrEqual(22);
  expect(made()).toBeGreaterThan(15);
});

test('what passed without an event is rendered again after half a second', async () => {
  const { get } = some();
  await get();
  await vi.advanceTimersByTimeAsync(499);
  expect(await get()).toBe('/ 1');
  await vi.advanceTimersByTimeAsync(1);
  expect(await get()).toBe('/ 2');
});

test('a rendering that failed is not kept', async () => {
  const { views, get } = some();
  await expect(views.get('/', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await get()).toBe('/ 1');
});
