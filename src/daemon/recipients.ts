import type { Config } from '../config/config.ts';
import type { Facts } from '../pipeline/file/facts.ts';
import { compileMatch } from '../routing/match.ts';
import type { Rule } from '../routing/plan.ts';

/**
 * Returns the names of the targets that are notified about a file because of its folder, its rule or its owner. A rule
 * replaces what its folder says. Pure.
 */
export function recipientsOf(
  { folders }: Pick<Config, 'folders'>,
  file: Pick<Facts, 'folder' | 'path' | 'plan' | 'owner' | 'disposal'>,
): readonly string[] {
  const { owner } = file;
  const folder = folders.find((each) => each.path === file.folder);
  const people = ruleOf(folder?.rules ?? [], file)?.notify ?? folder?.notify;
  if (people === undefined) return [];
  const own = owner !== null && Object.hasOwn(people.owners, owner) ? people.owners[owner] : undefined;
  return own === undefined ? people.others : [own];
}

/**
 * Returns the rule that takes a file now. A rule's key is its place in the configuration, where a reload may have put
 * another rule, so the rule must still match. A file that was moved no longer has the path that its rule matched.
 */
function ruleOf(
  rules: readonly Rule[],
  { path, plan, disposal }: Pick<Facts, 'path' | 'plan' | 'disposal'>,
): Rule | undefined {
  if (plan === null) return undefined;
  const known = rules.find(({ key }) => key === plan.rule);
  const isOf = ({ match }: Rule): boolean => compileMatch(match)(path) !== null;
  return disposal === 'moved' || (known !== undefined && isOf(known)) ? known : rules.find(isOf);
}
