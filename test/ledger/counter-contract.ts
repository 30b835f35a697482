import { expect, test } from 'vitest';
import type { OpenedRows } from './opened-rows.ts';

/** What the marks of folders may expect of any ledger. */
export function counterContract(open: () => Promise<OpenedRows>): void {
  test('the counter only grows, past any number that a mark has, and survives a restart', async () => {
    await using opened = await open();
    const { counter } = opened.rows;
    const first = await counter.load();
    const second = await counter.advance(0);
    expect(second).toBeGreaterThan(first);
    expect(await counter.advance(second + 10)).toBe(second + 11);
    expect(await (await opened.reopened()).counter.load()).toBe(second + 11);
  });
}
