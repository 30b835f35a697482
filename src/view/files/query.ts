import { DURATION_FORM, parseDuration } from '../../config/units.ts';
import { longestText } from '../../pipeline/file/selection.ts';
import type { FileSelection } from '../../pipeline/file/selection.ts';
import { knownStates } from './known-states.ts';
import { ends, stages, stagesAndEnds, stageWord } from '../stages.ts';

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

/** As the operator gave it; an empty text is none. */
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
 * Words of people where all of them are: the stages, and how files ended. Where one is a state that only JSON has, all
 * are such states. Ends are the same either way, and found faster as states.
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

/** Who asks for what was skipped also means what a person ignored. */
const skipped = ['skipped', 'ignored'];

/** `live`: the name of the last stage in JSON. */
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
  // A day alone is a day of this machine's clock, as on its page; SQLite's and JavaScript's is one of UTC.
  const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00`) : new Date(text);
  if (/^\d{4}-/.test(text) && !Number.isNaN(at.getTime())) return at.getTime();
  problems.push(`${word} "${text}": expected today, yesterday, a day like 2026-11-22, or ${DURATION_FORM}`);
  return undefined;
}
