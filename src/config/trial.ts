import type { Rule } from '../routing/plan.ts';
import { checkFolder } from './checks.ts';
import { checkSchema } from './check-schema.ts';
import { parseTrial, yamlText, type TextProblem } from './document.ts';
import { byPlace, error, type Finding } from './problem.ts';
import { isMapping, listOf, property, textOf } from './raw-tree.ts';

/** Rules that are being written, or what is wrong with them, in the order of the text. */
export interface Trial {
  /** Null if there is an error. */
  readonly rules: readonly Rule[] | null;
  readonly problems: readonly (TextProblem & Pick<Finding, 'severity'>)[];
}

const mostRules = 200;

/** Longest patterns together, in characters: matching costs their length times that of the path. */
const mostPattern = 10_000;

/**
 * Checks the `rules:` of a folder as the configuration would. Reads nothing else: a tag such as `!file` is an error.
 * Pure.
 */
export function checkTrial(text: string): Trial {
  const document = parseTrial(text);
  const [broken] = document.problems;
  if (broken !== undefined) return { rules: null, problems: [{ ...broken, severity: 'error' }] };
  const rules = property(document.value, 'rules');
  const wrong = document.findings.length > 0 ? document.findings : whyNotTried(document.value, rules);
  const { checked, findings } = wrong.length > 0 ? { checked: null, findings: wrong } : checkRules(rules);
  const problems = findings
    .map(({ path, at, place, message, severity }) => ({ ...(place ?? document.locate(path, at)), message, severity }))
    .toSorted(byPlace);
  if (checked === null || problems.some(({ severity }) => severity === 'error')) return { rules: null, problems };
  const lineOf = (index: number): number => document.locate(['rules', index], 'value').line;
  return { problems, rules: checked.map((rule, index) => ({ ...rule, key: `rules[${index}]`, line: lineOf(index) })) };
}

function whyNotTried(value: unknown, rules: unknown): readonly Finding[] {
  if (!isMapping(value) || rules === undefined) return [error([], 'begins with "rules:", and below it a list')];
  const other = Object.keys(value).find((key) => key !== 'rules');
  if (other !== undefined) return [{ ...error([other], 'only "rules:" can be tried here'), at: 'key' }];
  const patterns = listOf(rules).map((rule) => textOf(property(rule, 'match')) ?? '');
  if (patterns.length > mostRules) return [error(['rules'], `more than ${mostRules} rules, the maximum here`)];
  if (patterns.join('').length > mostPattern)
    return [error(['rules'], `patterns of more than ${mostPattern} characters together, the maximum here`)];
  return [];
}

/** Everything but the rules is a placeholder that passes every check. */
function checkRules(rules: unknown): {
  readonly checked: readonly Omit<Rule, 'key' | 'line'>[] | null;
  readonly findings: readonly Finding[];
} {
  const folder = { path: '/', rules };
  const tree = { service: { base_url: 'https://video.example.com', api_key: 'none' }, folders: [folder] };
  const { checked, findings } = checkSchema(tree);
  const taken = new Set(findings.map(({ path }) => JSON.stringify(path)));
  const linted = checkFolder(folder, ['folders', 0]).filter(({ path }) => !taken.has(JSON.stringify(path)));
  const all = [...findings, ...linted].map((finding) => ({ ...finding, path: finding.path.slice(2) }));
  return { checked: checked?.folders[0]?.rules ?? null, findings: all };
}

/**
 * Returns the rules of each folder as YAML, on demand. @param hidden secrets, which are masked
 */
export function rulesTexts(tree: unknown, hidden: readonly string[]): (folder: number) => string {
  return (folder) => {
    const rules = property(listOf(property(tree, 'folders'))[folder], 'rules') ?? [];
    return hidden.reduce(
      (text, secret) => (secret === '' ? text : text.replaceAll(secret, '[secret]')),
      yamlText({ rules }),
    );
  };
}
