import type pg from 'pg';
import { expect, test } from 'vitest';
import { OneByOne } from './one-by-one.ts';

/** A server whose statements are answered when the test says so; who waits for a lock is in `blocked`. */
function server() {
  const log: string[] = [];
  const blocked = new Set<number>();
  const open = new Map<string, () => void>();
  const inOrder = new OneByOne(async (pid) => blocked.has(pid));
  const ask = async (pid: number, name: string): Promise<void> => {
    const client = { processID: pid } as unknown as pg.Client;
    await inOrder.ask(client, () => {
      log.push(`${name} asked`);
      return new Promise<void>((resolve) => open.set(name, resolve));
    });
    log.push(`${name} answered`);
  };
  return { log, blocked, ask, answer: (name: string) => open.get(name)?.() };
}

test('a statement leaves when the one before is answered, and answers come in the order of the questions', async () => {
  const { log, ask, answer } = server();
  const asked = Promise.all([ask(1, 'one'), ask(2, 'two')]);
  await expect.poll(() => log).toEqual(['one asked']);
  answer('one');
  await expect.poll(() => log).toEqual(['one asked', 'two asked', 'one answered']);
  answer('two');
  await asked;
  expect(log.at(-1)).toBe('two answered');
});

test('a statement that waits for what another connection holds lets the others continue, and is answered after the one that frees it', async () => {
  const { log, blocked, ask, answer } = server();
  blocked.add(1);
  const asked = Promise.all([ask(1, 'waits'), ask(2, 'commits')]);
  await expect.poll(() => log).toEqual(['waits asked', 'commits asked']);
  blocked.delete(1);
  answer('waits');
  answer('commits');
  await asked;
  expect(log.slice(2)).toEqual(['commits answered', 'waits answered']);
});
