import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainRoute } from '../../src/routing/explain.ts';
import { route } from '../../src/routing/route.ts';
import { checkSidecar } from '../../src/routing/sidecar.ts';
import { hostileText, hostileTime, ruleGlob, rulesOf, smallPath } from './generators.ts';
import { someRule } from '../support/folder-config.ts';

const NEWS = someRule({
  key: 'folders[0].rules[0]',
  line: 20,
  match: 'news/{show}/**',
  channel: 'ch_news',
  title: '{show}: {title}',
  description: 'Recorded {date}',
  tags: ['news', '{show}'],
  publish: ['feed_news', 'feed_news'],
});
const REST = someRule({ key: 'folders[0].rules[1]', line: 27 });
const CLIP = { path: 'news/evening/the_clip.mp4', modifiedMs: 0 };

describe('a route', () => {
  test('is that of the first rule that matches', () => {
    expect(route([NEWS, REST], CLIP, null)).toEqual({
      kind: 'take',
      plan: {
        rule: 'folders[0].rules[0]',
        channel: 'ch_news',
        title: 'evening: the clip',
        description: 'Recorded 1970-01-01',
        tags: ['news', 'evening'],
        publish: ['feed_news'],
      },
    });
    expect(route([REST, NEWS], CLIP, null)).toMatchObject({ plan: { rule: 'folders[0].rules[1]', description: null } });
  });

  test('holds a file that no rule takes', () => {
    expect(route([NEWS], { path: 'sport/a.mp4', modifiedMs: 0 }, null)).toEqual({
      kind: 'held',
      code: 'no_rule',
      why: 'no rule matches',
    });
    expect(route([], CLIP, null)).toEqual({ kind: 'held', code: 'no_rule', why: 'no rule matches' });
  });

  test('takes from the sidecar what it gives, and adds its tags', () => {
    const sidecar = {
      title: ' A {title}\nof mine ',
      description: 'One\nTwo',
      tags: ['news', 'live'],
      channel: 'ch_x',
      publish: [],
    };
    expect(route([NEWS], CLIP, sidecar)).toEqual({
      kind: 'take',
      plan: {
        rule: 'folders[0].rules[0]',
        channel: 'ch_x',
        title: 'A {title} of mine',
        description: 'One\nTwo',
        tags: ['news', 'evening', 'live'],
        publish: [],
      },
    });
  });

  test('has no description when the sidecar gives an empty one', () => {
    expect(route([NEWS], CLIP, { description: '' })).toMatchObject({
      plan: { description: null, title: 'evening: the clip' },
    });
  });

  test('exists for any file, any rules and any sidecar', () => {
    const rule = fc.record({
      match: fc.oneof(ruleGlob, hostileText),
      title: hostileText,
      tags: fc.array(hostileText, { maxLength: 3 }),
    });
    const sidecar = fc.record(
      { title: hostileText, tags: fc.array(hostileText, { maxLength: 3 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(
        fc.array(rule, { maxLength: 4 }),
        fc.oneof(hostileText, smallPath),
        hostileTime,
        sidecar,
        (rules, path, modifiedMs, beside) => {
          const decided = route(rules.map(someRule), { path, modifiedMs }, beside);
          if (decided.kind === 'take') expect(decided.plan.title).not.toBe('');
        },
      ),
    );
  });
});

describe('an explanation', () => {
  const reasons = (globs: readonly string[], path: string) =>
    explainRoute(rulesOf(globs), { path, modifiedMs: 0 }, null).rules.map((rule) => rule.reason);

  test('lists every rule in order, with whether it took the file', () => {
    const explained = explainRoute([someRule({ key: 'r0', match: 'sport/**' }), NEWS, REST], CLIP, {
      tags: ['x'],
      title: 'T',
    });
    expect(explained.rules).toEqual([
      { rule: 'r0', line: 1, match: 'sport/**', matched: false, reason: '"news" is not "sport"', captures: {} },
      { rule: NEWS.key, line: 20, match: NEWS.match, matched: true, reason: null, captures: { show: 'evening' } },
      {
        rule: REST.key,
        line: 27,
        match: '**',
        matched: false,
        reason: expect.stringContaining(NEWS.key),
        captures: {},
      },
    ]);
    expect(explained.route).toEqual(route([NEWS], CLIP, { tags: ['x'], title: 'T' }));
    expect(explained.from_sidecar).toEqual(['title', 'tags']);
  });

  test.each([
    ['news/{show}/**', 'news/a.mp4', '"**"'],
    ['news/{show}/**', 'News/x/a.mp4', 'case'],
    ['news/*/x', 'news/a', '"x"'],
    ['news/*', 'news/a/b.mp4', '`*` does not cross folders'],
    ['n*/[ab]', 'news/c', '"[ab]"'],
    ['**/*.mp4', 'a/b.mov', '"*.mp4"'],
    ['a/**/b/*.mp4', 'a/c/d.mp4', '"b"'],
    ['a/**/b/*.mp4', 'a/d.mp4', '"b"'],
    ['**/a/**', 'b/c', 'pattern'],
    ['{a,b/c}/d', 'b/x/d', 'pattern'],
    ['{a', 'a', '"[{]"'],
  ])('says why %j does not take %j', (glob, path, fact) => {
    expect(reasons([glob], path)).toEqual([expect.stringContaining(fact)]);
  });

  test('of a file that nothing takes names nothing from the sidecar', () => {
    expect(explainRoute([NEWS], { path: 'x', modifiedMs: 0 }, { title: 'T' }).from_sidecar).toEqual([]);
  });

  test('always agrees with the route and gives a reason for every other rule', () => {
    fc.assert(
      fc.property(fc.array(ruleGlob, { maxLength: 4 }), smallPath, (globs, path) => {
        const explained = explainRoute(rulesOf(globs), { path, modifiedMs: 0 }, null);
        const takers = explained.rules.filter((rule) => rule.matched).map((rule) => rule.rule);
        expect(takers).toEqual(explained.route.kind === 'take' ? [explained.route.plan.rule] : []);
        for (const rule of explained.rules) expect(rule.reason === null).toBe(rule.matched);
      }),
    );
  });
});

test('a sidecar that was checked can be routed', () => {
  const checked = checkSidecar('clip.yaml', { tags: 'live' });
  expect(checked.ok && route([NEWS], CLIP, checked.sidecar)).toMatchObject({
    plan: { tags: ['news', 'evening', 'live'] },
  });
});
