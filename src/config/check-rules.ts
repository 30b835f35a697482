import { lintGlob, lintMoveTemplate, lintRules, type LooseRule } from '../routing/lint.ts';
import { error, type Finding } from './finding.ts';
import { formatKeyPath, parseKeyPath, type KeyPath } from './key-path.ts';
import { isMapping, listOf, property, textOf } from './raw-tree.ts';

/** Checks globs, templates and rules on the raw tree, so that one wrong key does not hide them. */
export function checkRules(tree: unknown): readonly Finding[] {
  return listOf(property(tree, 'folders')).flatMap((folder, index) => checkFolder(folder, ['folders', index]));
}

function checkFolder(folder: unknown, path: KeyPath): Finding[] {
  const move = textOf(property(property(folder, 'after_ready'), 'move'));
  return [
    ...checkGlobs(property(folder, 'include'), [...path, 'include']),
    ...checkGlobs(property(folder, 'exclude'), [...path, 'exclude']),
    ...(move === undefined ? [] : finding([...path, 'after_ready', 'move'], lintMoveTemplate(move))),
    ...lintRules(looseRules(property(folder, 'rules'), [...path, 'rules'])).map(({ key, severity, message }) => ({
      ...error(parseKeyPath(key), message),
      severity,
    })),
  ];
}

function checkGlobs(globs: unknown, path: KeyPath): Finding[] {
  return listOf(globs).flatMap((glob, index) =>
    typeof glob === 'string' ? finding([...path, index], lintGlob(glob)) : [],
  );
}

function finding(path: KeyPath, message: string | null): Finding[] {
  return message === null ? [] : [error(path, message)];
}

function looseRules(rules: unknown, path: KeyPath): LooseRule[] {
  return listOf(rules).flatMap((rule, index) => (isMapping(rule) ? [looseRule(rule, [...path, index])] : []));
}

function looseRule(rule: unknown, path: KeyPath): LooseRule {
  const [match, title, description] = ['match', 'title', 'description'].map((key) => textOf(property(rule, key)));
  const tags = property(rule, 'tags');
  return {
    key: formatKeyPath(path),
    ...(match === undefined ? {} : { match }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    // A tag that is no text keeps its place, or the ones after it would be reported at the wrong index.
    ...(Array.isArray(tags) ? { tags: tags.map((tag) => textOf(tag) ?? '') } : {}),
  };
}
