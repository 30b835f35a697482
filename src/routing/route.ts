import { compileMatch, type Captures } from './match.ts';
import type { Plan, Route, Rule } from './plan.ts';
import type { Sidecar } from './sidecar.ts';
import { renderDescription, renderTags, renderTitle, type TemplateContext } from './template.ts';
import { distinct, manyLines, oneLine } from './text.ts';

export interface RoutedFile {
  /** Path relative to the folder, with `/` as the separator. */
  readonly path: string;
  /** Modification time, epoch milliseconds. */
  readonly modifiedMs: number;
}

/**
 * Decides a file's destination. The first matching rule wins; if none matches, the file is held. A sidecar overrides
 * the rule's title, description, channel and publish, and adds to its tags. Never throws.
 */
export function route(rules: readonly Rule[], file: RoutedFile, sidecar: Sidecar | null): Route {
  for (const rule of rules) {
    const captures = compileMatch(rule.match)(file.path);
    if (captures !== null) return { kind: 'take', plan: planFor(rule, { ...file, captures }, sidecar) };
  }
  return { kind: 'held', code: 'no_rule', why: 'no rule matches' };
}

/** Builds the plan from the matching rule and the sidecar. */
function planFor(
  rule: Rule,
  context: TemplateContext & { readonly captures: Captures },
  sidecar: Sidecar | null,
): Plan {
  const { title, description, tags = [], channel, publish } = sidecar ?? {};
  return {
    rule: rule.key,
    channel: channel ?? rule.channel,
    title: oneLine(title ?? '') || renderTitle(rule.title, context),
    description: description === undefined ? ruleDescription(rule, context) : manyLines(description) || null,
    tags: distinct([...renderTags(rule.tags, context), ...tags.map(oneLine)]),
    publish: distinct(publish ?? rule.publish),
    // The default is omitted, so that equal plans compare equal.
    ...(rule.priority !== undefined && rule.priority !== 'normal' && { priority: rule.priority }),
    ...(rule.readyBy !== undefined && { readyBy: rule.readyBy }),
  };
}

function ruleDescription(rule: Rule, context: TemplateContext): string | null {
  return rule.description === null ? null : renderDescription(rule.description, context);
}
