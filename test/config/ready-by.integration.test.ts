import { expect, it } from 'vitest';
import { parseReadyBy } from '../../src/config/ready-by.ts';
import { expectProblems, scratch } from './scratch.ts';

const configuration = (folder: string, rule: string): string => `
service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders:
  - path: inbox
    ready_by: ${folder}
    rules:
      - { match: "**", channel: ch_main, ready_by: ${rule} }
`;

it.each([
  ['a duration that is not longer than settle', '5s', '1h', '5:15 folders[0].ready_by ~ warning ~ settle (5s)'],
  ['the same in a rule', '1h', '2s', '7:52 folders[0].rules[0].ready_by ~ warning ~ settle (5s)'],
])('%s is worth a warning', async (_name, folder, rule, problem) => {
  await using here = await scratch();
  expectProblems(await here.problems(configuration(folder, rule), { KEY: 'abc' }), [problem]);
});

it('a deadline of an hour, by a time of day or of no rule is fine', async () => {
  await using here = await scratch();
  expect(await here.problems(configuration('1h', '"06:00"'), { KEY: 'abc' })).toEqual([]);
  expect(await here.problems(configuration('"18:30 Europe/Berlin"', 'off'), { KEY: 'abc' })).toEqual([]);
});

it('a time without a zone is one of this machine, by name', () => {
  const { timeZone } = new Intl.DateTimeFormat('en').resolvedOptions();
  expect(parseReadyBy('6:05')).toEqual({ ok: true, value: { minutes: 365, zone: timeZone } });
});
