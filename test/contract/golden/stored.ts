import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ListName } from './lists.ts';

export const pathOf = (name: ListName): string => join(import.meta.dirname, name);

/** The lines of a committed list; none where there is no such file yet. */
export async function readList(name: ListName): Promise<readonly string[]> {
  const text = await readFile(pathOf(name), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Pure. */
export function differenceOf(
  stored: readonly string[],
  now: readonly string[],
): { readonly gone: readonly string[]; readonly added: readonly string[] } {
  return {
    gone: stored.filter((line) => !now.includes(line)),
    added: now.filter((line) => !stored.includes(line)),
  };
}
