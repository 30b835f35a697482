import { didYouMean } from '../routing/did-you-mean.ts';
import { quoted } from '../routing/text.ts';
import type { Config } from './config.ts';

/** Ids of channels and feeds. */
export interface ChannelsAndFeeds {
  readonly channel: readonly string[];
  readonly feed: readonly string[];
}

/** A channel or feed in a rule that the service does not have. */
export interface UnknownNameFinding {
  /** The faulty value's key, such as `folders[0].rules[1].channel` or `folders[0].rules[1].publish[0]`. */
  readonly key: string;
  readonly kind: keyof ChannelsAndFeeds;
  readonly name: string;
  readonly message: string;
}

/** The channels and feeds used in the rules, without duplicates. */
export function namesUsed({ folders }: Pick<Config, 'folders'>): ChannelsAndFeeds {
  const rules = folders.flatMap((folder) => folder.rules);
  return {
    channel: [...new Set(rules.map(({ channel }) => channel))],
    feed: [...new Set(rules.flatMap(({ publish }) => publish))],
  };
}

/** Finds names in the rules that the service does not have, in rule order, each with the likely intended name. Pure. */
export function unknownNames(
  { folders }: Pick<Config, 'folders'>,
  known: ChannelsAndFeeds,
): readonly UnknownNameFinding[] {
  const named = folders
    .flatMap(({ rules }) => rules)
    .flatMap(({ key, channel, publish }) => [
      { key: `${key}.channel`, kind: 'channel' as const, name: channel },
      ...publish.map((name, n) => ({ key: `${key}.publish[${n}]`, kind: 'feed' as const, name })),
    ]);
  return named
    .filter(({ kind, name }) => !known[kind].includes(name))
    .map((one) => ({ ...one, message: unknownWords(one.kind, one.name, known[one.kind]) }));
}

/** Maximum number of names to list. An account may have hundreds. */
const mostListed = 20;

function unknownWords(kind: string, name: string, known: readonly string[]): string {
  const what = `the service has no ${kind} ${quoted(name)}`;
  const meant = didYouMean(name, known);
  if (known.length === 0) return `${what}; it has no ${kind}s at all`;
  const more = known.length > mostListed ? ` and ${known.length - mostListed} more` : '';
  const list = `${known.slice(0, mostListed).join(', ')}${more}`;
  return meant === null ? `${what}; it has ${list}` : `${what}, did you mean ${quoted(meant)}? It has ${list}`;
}
