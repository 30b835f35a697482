import { countsAsRead } from '../../view/stages.ts';
import type { Accounts } from '../../watch/ports.ts';

/** `100 paths = 2 settling + 1 compared + 90 known (80 done, 10 queued) + 4 sidecars + 2 ignored + 1 refused`. Null without any path. */
export function accountsLine(accounts: Accounts): string | null {
  const { seen, settling, comparing, known, sidecars, ignored, refused, unaccounted } = accounts;
  if (seen === 0 && unaccounted === 0) return null;
  const stages = countsAsRead(known);
  const total = stages.reduce((sum, [, count]) => sum + count, 0);
  const parts: readonly (readonly [count: number, what: string])[] = [
    [settling, 'settling'],
    [comparing, 'compared'],
    [total, `known (${stages.map(([stage, count]) => `${count} ${stage}`).join(', ')})`],
    [sidecars, sidecars === 1 ? 'sidecar' : 'sidecars'],
    [ignored, 'ignored'],
    [refused, 'refused'],
    [unaccounted, 'in no state: a fault of dropcast, please report it'],
  ];
  const shown = parts.filter(([count]) => count !== 0).map(([count, what]) => `${count} ${what}`);
  return `${seen} ${seen === 1 ? 'path' : 'paths'} = ${shown.join(' + ')}`;
}
