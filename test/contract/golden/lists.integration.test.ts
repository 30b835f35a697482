import { beforeAll, describe, expect, test } from 'vitest';
import { contractLists, listNames } from './lists.ts';
import type { Lists } from './lists.ts';
import { checkPrinted } from './printed.ts';
import { differenceOf, readList } from './stored.ts';

let now: Lists;
beforeAll(async () => {
  now = await contractLists();
});

describe.each(listNames)('%s', (name) => {
  test('has every item that it had: none is removed, renamed or retyped', async () => {
    const { gone } = differenceOf(await readList(name), now[name]);
    const message = `the contract with users lost or changed these items of ${name}: bring them back\n${gone.join('\n')}\n`;
    expect(gone, message).toEqual([]);
  });

  test('has every item of the program', async () => {
    const { added } = differenceOf(await readList(name), now[name]);
    expect(added, `${name} lacks these items: npm run contract adds them\n${added.join('\n')}\n`).toEqual([]);
  });
});

describe('what a command prints is compared with documents.txt', () => {
  const good = { v: 1, error: { code: 'usage', message: 'what', exit: 2 } };
  const check = (document: object, args = ['status', '--json']) => checkPrinted(args, `${JSON.stringify(document)}\n`);

  test.each([
    ['a member that is not listed', { ...good, why: 1 }, 'why (number) is not listed'],
    ['a value of another type', { ...good, error: { ...good.error, exit: '2' } }, 'error.exit is string, not number'],
    ['a required member that is missing', { ...good, error: { code: 'usage', exit: 2 } }, 'error.message is missing'],
    ['an unknown member of what the command prints when it succeeds', { daemons: 1 }, 'daemons (number) is not listed'],
  ])('%s fails', (_, document, message) => {
    expect(() => check(document)).toThrow(message);
  });

  test('what is listed passes, whatever else the command line has', () => {
    check(good);
    check({ v: 1, id: 'v_1', deleted: true }, ['videos', 'delete', 'v_1', '--yes', '--json']);
    checkPrinted(['status'], 'no JSON\n');
    checkPrinted(['status', '--', '--json'], 'no JSON\n');
    expect(() => checkPrinted(['status', '--json'], 'no JSON\n')).toThrow('not JSON: no JSON');
  });
});
