import { DURATION_FORM, parseDuration } from '../../config/units.ts';
import { longestText, type FileSelection } from '../../pipeline/file/selection.ts';
import { knownStates, ends, stages, stagesAndEnds, stageWord } from '../stages.ts';

/** Query words, with the same names as options of `ls` and as parameters in the page's address. */
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

/** Used as a state: selects files that need a person, regardless of their state. */
export const needsYou = 'needs-you';

export type QueryWord = (typeof queryWords)[number];

/** Values as the operator gave them; empty text counts as omitted. */
export type FileQuery = Readonly<Partial<Record<QueryWord, string | undefined>>>;

export interface ReadQuery {
  readonly selection: FileSelection;
  /** Invalid values, one sentence each. They are ignored in the selection. */
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
  const read = isNeeding ? {} : readStates(state, problems);
  const stages = inStage(read.stages, given('stage'), problems);
  const [since, until] = [given('since'), given('until')];
  return {
    selection: {
      states: read.states,
      stages,
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

/**
 * Interprets the words as displayed stages and ends if all of them are. If any is a state that only JSON has, all must
 * be JSON states. Ends have the same name in both, and states are faster to query.
 */
function readStates(text: string | undefined, problems: string[]): Pick<FileSelection, 'states' | 'stages'> {
  if (text === undefined) return {};
  const words = text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
  const unknown = words.find((word) => !isShown(word) && !knownStates.includes(word));
  const areStates = words.some((word) => !isShown(word)) || words.every((word) => ends.some((end) => end === word));
  const mixed = areStates ? words.find((word) => !knownStates.includes(word)) : undefined;
  if (unknown !== undefined)
    problems.push(`unknown state "${unknown}"; the states are: ${stagesAndEnds.join(', ')}; or ${needsYou} alone`);
  else if (mixed !== undefined) problems.push(`"${mixed}" cannot be selected together with states that only JSON has`);
  else if (areStates) return { states: words };
  else return { stages: words.flatMap((word) => (word === 'skipped' ? skipped : [word])) };
  return {};
}

function isShown(word: string): boolean {
  return stagesAndEnds.some((shown) => shown === word);
}

/** A query for skipped files includes those that a person ignored. */
const skipped = ['skipped', 'ignored'];

/** Checks that a stage or state is known; `live` is the last stage's name in JSON. */
function inStage(
  among: readonly string[] | undefined,
  text: string | undefined,
  problems: string[],
): readonly string[] | undefined {
  if (text === undefined) return among;
  const stage = stages.find((one) => one === text) ?? (text === 'live' ? stageWord(text) : undefined);
  if (stage === undefined) problems.push(`unknown stage "${text}"; the stages are: ${stages.join(', ')}`);
  return stage === undefined ? among : (among ?? [stage]).filter((word) => word === stage);
}

/** @returns epoch milliseconds */
function readTime(word: 'since' | 'until', text: string, now: number, problems: string[]): number | undefined {
  const today = new Date(now);
  if (text === 'today') return today.setHours(0, 0, 0, 0);
  if (text === 'yesterday') return new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1).getTime();
  const duration = parseDuration(text, { min: '1s', max: '3650d' });
  if (duration.ok) return now - duration.value;
  // A date alone means the local day, as on the page. JavaScript and SQLite would take it as UTC.
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00`) : new Date(text);
  if (/^\d{4}-/.test(text) && !Number.isNaN(at.getTime())) return at.getTime();
  problems.push(`${word} "${text}": expected today, yesterday, a day like 2026-11-22, or ${DURATION_FORM}`);
  return undefined;
}
