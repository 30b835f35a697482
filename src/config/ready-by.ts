import type { ReadyBy } from '../routing/plan.ts';
import { parseReset } from './day-window.ts';
import { type Parsed, refused } from './parsed.ts';
import { parseDuration } from './units.ts';

export const READY_BY_FORM =
  'a time of day in quotes, like "18:30" or "18:30 Europe/Berlin", a duration like 30m, or off';

/**
 * Parses `18:30`, `18:30 Europe/Berlin`, `30m` or `off`, which becomes null. A time without a zone is one of this machine's
 * zone, named so that every host of a fleet gets the same deadline.
 */
export function parseReadyBy(text: string): Parsed<ReadyBy | null> {
  if (text === 'off') return { ok: true, value: null };
  if (/^\d+[a-z]/.test(text)) {
    const after = parseDuration(text, { min: '1s', max: '24d' });
    return after.ok ? { ok: true, value: { afterMs: after.value } } : after;
  }
  const time = parseReset(text);
  if (!time.ok) return refused(`not a deadline; write ${READY_BY_FORM}`);
  const { minutes, zone } = time.value;
  // Undefined for some values of TZ, whatever its type says.
  const here: string | undefined = new Intl.DateTimeFormat('en').resolvedOptions().timeZone;
  return { ok: true, value: { minutes, zone: zone ?? here ?? 'Etc/Unknown' } };
}
