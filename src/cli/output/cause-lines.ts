import type { CauseView } from '../../view/picture/needs-you.ts';
import type { CauseAction } from '../../view/picture/causes.ts';
import { clockTime } from '../../view/words/clock-time.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { shellWord } from '../../shell-word.ts';

/** Fewer are rows of their own. */
const leastFiles = 2;

/** Pure: causes with so many files that a line for all of them says more than a row for each. */
export function sharedCauses(causes: readonly CauseView[]): readonly CauseView[] {
  return causes.filter(({ files }) => files >= leastFiles);
}

/** Pure: what is the matter with all of them, what to do, and the command that does it for all. */
export function causeLines(cause: CauseView, nowMs: number): readonly string[] {
  const { title, next, since, examples } = cause;
  const begun = since === null ? '' : `, since ${clockTime(since, nowMs)}`;
  const [example] = examples;
  const like = example === undefined ? '' : `, like ${example.path}`;
  return [escapeControls(`${title}${begun}${like}`), escapeControls(`  ${next} ${commandsOf(cause)}`)];
}

/** `Which: …. All of them: ….` */
function commandsOf({ key, actions }: CauseView): string {
  const word = /^[\w.]+$/.test(key) ? key : shellWord(key);
  const [command] = actions.flatMap((action) => commands[action]?.(word) ?? []);
  const all = command === undefined ? '' : ` All of them: \`${command}\`.`;
  return `Which: \`dropcast ls --cause ${word}\`.${all}`;
}

const commands: Readonly<Record<CauseAction, ((cause: string) => string) | null>> = {
  retry: (cause) => `dropcast retry --cause ${cause}`,
  'force retry': (cause) => `dropcast retry --cause ${cause} --force`,
  ignore: (cause) => `dropcast ignore --cause ${cause}`,
  'send elsewhere': (cause) => `dropcast retry --cause ${cause} --to CHANNEL`,
  // Its own words say how.
  adopt: null,
  publish: null,
  reapply: (cause) => `dropcast reapply --cause ${cause}`,
};
