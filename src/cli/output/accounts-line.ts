import type { Accounts } from '../../watch/ports.ts';

/** `100 paths = 2 settling + 1 compared + 90 known (80 done, 10 queued) + 4 sidecars + 2 ignored + 1 refused`. Null without any path. */
export function accountsLine(accounts: Accounts): string | null {
  const { seen, settling, comparing, known, sidecars, ignored, refused, unaccounted } = accounts;
  if (seen === 0 && unaccounted === 0) return null;
  const states = Object.entries(known).filter(([, count]) => count > 0);
  const total = states.reduce((sum, [, count]) => sum + count, 0);
  const parts: readonly (readonly [count: number, what: string])[] = [
    [settling, 'settling'],
    [comparing, 'compared'],
    [total, `known (${states.map(([state, count]) => `${count} ${state}`).join(', ')})`],
    [sidecars, sidecars === 1 ? 'sidecar' : 'sidecars'],
    [ignored, 'ignored'],
    [refused, 'refused'],
    [unaccounted, 'in no state: a fault of dropcast, please report it'],
  ];
  const shown = parts.filter(([count]) => count !== 0).map(([count, what]) => `${count} ${what}`);
  return `${seen} ${seen === 1 ? 'path' : 'paths'} = ${shown.join(' + ')}`;
}
