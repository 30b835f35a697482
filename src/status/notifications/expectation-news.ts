import { clockTime } from '../../view/words/clock-time.ts';
import { expectationWords } from '../../view/words/expectation-words.ts';
import type { ExpectationView } from '../../pipeline/expectation.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import type { Trouble } from '@dropcast/notify';

/** Returns troubles for expected files that are missing or late. Pure. */
export function expectationTroubles(views: readonly ExpectationView[], now: number): readonly Trouble[] {
  return views.flatMap((view) => {
    const { state, folder, match, by } = view;
    if (state !== 'missing' && state !== 'late') return [];
    const files = `${folder}/${match}`;
    const name = escapeControls(files);
    const what = state === 'missing' ? 'is missing' : 'is late';
    return [
      {
        cause: causeOf(view),
        kind: 'missing',
        // The expectation already includes a grace period.
        holdMs: 0,
        title: `${name} ${what}: expected by ${clockTime(by, now)}`,
        body: `${escapeControls(match)}: ${expectationWords(view, now)}.`,
        overTitle: `${name} has arrived, too late for ${clockTime(by, now)}`,
        stage: state,
      },
    ];
  });
}

/** The cause includes the day, so that each day counts separately. */
export function causeOf({ key, day }: Pick<ExpectationView, 'key' | 'day'>): string {
  return `expected: ${day} ${key}`;
}

/** Extracts the date, for example `2026-11-22`. */
export function dayOfCause(cause: string): string {
  return cause.split(' ')[1] ?? '';
}
