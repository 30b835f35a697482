import { DURATION_FORM, parseDuration } from '../../config/units.ts';
import { longestText } from '../../pipeline/file/selection.ts';
import type { FileSelection } from '../../pipeline/file/selection.ts';
import { knownStates } from './known-states.ts';
import { stages, statesIn } from '../stages.ts';

/** What `ls` takes as options and the page in its address, by the same names. */
export const queryWords = [
  'state',
  'stage',
  'folder',
  'host',
  'channel',
  'feed',
  'cause',
  'since',
  'until',
  'q',
] as const;

/** Among the states of a question: whatever state a file is in that needs a person. */
export const needsYou = 'needs-you';

export type QueryWord = (typeof queryWords)[number];

/** As somebody gave it; an empty text is none. */
export type FileQuery = Readonly<Partial<Record<QueryWord, string | undefined>>>;

export interface ReadQuery {
  readonly selection: FileSelection;
  /** What cannot be meant, a sentence each. The selection is without it. */
  readonly problems: readonly string[];
}

/** @param now epoch milliseconds */
export function readQuery(query: FileQuery, now: number): ReadQuery {
  const problems: string[] = [];
  const given = (word: QueryWord): string | undefined => {
    const text = query[word];
    if (text === undefined || text === '') return undefined;
    if (text.length <= longestText) return text;
    problems.push(`${word}: at most ${longestText.toLocaleString('en')} characters`);
    return undefined;
  };
  const state = given('state');
  const isNeeding = state === needsYou;
  const states = readStates(isNeeding ? undefined : state, given('stage'), problems);
  const [since, until] = [given('since'), given('until')];
  return {
    selection: {
      states,
      ...(isNeeding && { needsPerson: true }),
      folder: given('folder'),
      host: given('host'),
      channel: given('channel'),
      feed: given('feed'),
      cause: given('cause'),
      text: given('q'),
      since: since === undefined ? undefined : readTime('since', since, now, problems),
      until: until === undefined ? undefined : readTime('until', until, now, problems),
    },
    problems,
  };
}

function readStates(
  state: string | undefined,
  stage: string | undefined,
  problems: string[],
): readonly string[] | undefined {
  const states = state
    ?.split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  const unknown = states?.find((one) => !knownStates.includes(one));
  if (unknown !== undefined)
    problems.push(`unknown state "${unknown}"; the states are: ${knownStates.join(', ')}; or ${needsYou} alone`);
  const known = stages.find((one) => one === (stage === 'live' ? 'done' : stage));
  const ofStage = known && statesIn[known];
  if (stage !== undefined && ofStage === undefined)
    problems.push(`unknown stage "${stage}"; the stages are: ${stages.join(', ')}`);
  if (states === undefined || unknown !== undefined) return ofStage;
  return ofStage === undefined ? states : states.filter((one) => ofStage.includes(one));
}

/** @returns epoch milliseconds */
function readTime(word: 'since' | 'until', text: string, now: number, problems: string[]): number | undefined {
  const today = new Date(now);
  if (text === 'today') return today.setHours(0, 0, 0, 0);
  if (text === 'yesterday') return new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1).getTime();
  const duration = parseDuration(text, { min: '1s', max: '3650d' });
  if (duration.ok) return now - duration.value;
  // A day alone is a day of this machine's clock, as on its page; SQLite's and JavaScript's is one of UTC.
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00`) : new Date(text);
  if (/^\d{4}-/.test(text) && !Number.isNaN(at.getTime())) return at.getTime();
  problems.push(`${word} "${text}": expected today, yesterday, a day like 2026-11-22, or ${DURATION_FORM}`);
  return undefined;
}
