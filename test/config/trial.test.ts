import { expect, test } from 'vitest';
import { checkTrial, rulesTexts } from '../../src/config/trial.ts';

const rule = '{ match: "**", channel: ch_main }';

test('rules that are valid are those of a configuration, each with its line', () => {
  const { rules, problems } = checkTrial(
    'rules:\n  - match: "{show}/*.mp4"\n    channel: ch_news\n    tags: [a]\n  - match: "**"\n    channel: ch_main\n',
  );
  expect(problems).toEqual([]);
  expect(rules).toMatchObject([
    { key: 'rules[0]', line: 2, match: '{show}/*.mp4', title: '{title}', tags: ['a'] },
    { key: 'rules[1]', line: 5, channel: 'ch_main', description: null },
  ]);
});

test.each<[string, RegExp, { line: number; column: number }]>([
  ['rules:\n  - match: "**"\n    chanel: x\n', /did you mean "channel"/, { line: 3, column: 5 }],
  ['rules:\n  - match: "{a"\n    channel: x\n', /never closed/, { line: 2, column: 12 }],
  ['rules:\n\t- x', /tab/, { line: 2, column: 1 }],
  [`rules: [${rule}]\nservice: { api_key: !file /etc/shadow }`, /tag/, { line: 2, column: 21 }],
  ['rules:\n  - match: "**"\n    channel: !env HOME', /tag/, { line: 3, column: 14 }],
  [`rules: [${rule}]\npath: /etc`, /only "rules:"/, { line: 2, column: 1 }],
  ['- match: x', /begins with "rules:"/, { line: 1, column: 1 }],
  ['', /begins with "rules:"/, { line: 1, column: 1 }],
])('%j is refused at its place', (text, message, place) => {
  const { rules, problems } = checkTrial(text);
  expect(rules).toBe(null);
  expect(problems[0]).toMatchObject({ message: expect.stringMatching(message), ...place });
});

test.each<[string, string, RegExp]>([
  ['aliases', `rules:\n- &a ${rule}\n${'- *a\n'.repeat(300)}`, /more than 200 rules/],
  ['tokens', `rules: [${'a,'.repeat(20_000)}]`, /more than 6,000 parts/],
  ['length', `rules: []\n#${'x'.repeat(70_000)}`, /longer than 64 KiB/],
  [
    'patterns',
    `rules:\n${`- { match: "${'*a'.repeat(400)}", channel: c }\n`.repeat(20)}`,
    /more than 10000 characters/,
  ],
  ['depth', `rules: ${'['.repeat(500)}${']'.repeat(500)}`, /nested too deeply|too deep/],
  [
    'a bomb',
    'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\nrules: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]',
    /./,
  ],
])('a text with too much of something (%s) is refused', (_, text, message) => {
  const { rules, problems } = checkTrial(text);
  expect(rules).toBe(null);
  expect(problems[0]?.message).toMatch(message);
});

test('the rules of the file are written out whole, and a secret in them is hidden', () => {
  const rules = [{ match: '**', channel: 'ch', description: 'see s3cret-key', expect: [{ by: '18:00' }] }];
  const text = rulesTexts({ folders: [{ rules: [] }, { rules }] }, ['', 's3cret-key'])(1);
  expect(text).toContain('expect:\n      - by: 18:00');
  expect(text).toContain('see [secret]');
  expect(checkTrial(text)).toMatchObject({ problems: [], rules: [{ match: '**' }] });
});
