import { describe, expect, test } from 'vitest';
import { scratch } from './scratch.ts';

const env = { KEY: 'abc' };

/** A folder with one rule, and three targets. */
const text = (
  folder: string,
  rule = '',
): string => `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders:
  - path: /srv/media/inbox
    notify: ${folder}
    rules:
      - { match: "**", channel: ch_main${rule} }
notify:
  - { type: ntfy, topic: t }
  - { type: command, name: mail-anna, command: [/bin/true] }
  - { type: command, name: mail-ben, command: [/bin/true], on: [daily] }
  - { type: heartbeat, name: pulse, url: "https://x.example/1" }
`;

describe('notify of folders and rules', () => {
  test('names targets, for all files or by owner', async () => {
    await using here = await scratch();
    const load = async (...of: Parameters<typeof text>) => (await here.load(text(...of), env)).config?.folders[0];
    expect((await load('[ntfy]'))?.notify).toEqual({ owners: {}, others: ['ntfy'] });
    expect(await load('{ owners: { anna: mail-anna, "1005": ntfy } }', ', notify: []')).toMatchObject({
      notify: { owners: { anna: 'mail-anna', 1005: 'ntfy' }, others: [] },
      rules: [{ notify: { owners: {}, others: [] } }],
    });
  });

  test('makes its targets silent about everything else, unless they ask for it', async () => {
    await using here = await scratch();
    const on = async (...of: Parameters<typeof text>) => {
      const { config } = await here.load(text(...of), env);
      return config?.notify.map((target) => ('on' in target ? target.on.length : null));
    };
    expect(await on('[]')).toEqual([9, 9, 1, null]);
    expect(await on('{ owners: { anna: mail-anna }, others: [mail-ben] }')).toEqual([9, 0, 1, null]);
    expect(await on('[]', ', notify: [mail-anna]')).toEqual([9, 0, 1, null]);
  });

  test.each([
    [
      '[mail-ana]',
      '',
      '4:14 folders[0].notify[0] ~ no target in notify is called "mail-ana", did you mean "mail-anna"?',
    ],
    ['[zzz]', '', '4:14 folders[0].notify[0] ~ it has ntfy, mail-anna, mail-ben'],
    ['[pulse]', '', '4:14 folders[0].notify[0] ~ no target in notify is called "pulse"'],
    ['{ owners: { anna: mail-ana } }', '', '4:31 folders[0].notify.owners.anna ~ did you mean "mail-anna"?'],
    [
      '{ owners: { anna: ntfy }, others: [mail-bn] }',
      '',
      '4:48 folders[0].notify.others[0] ~ did you mean "mail-ben"?',
    ],
    ['[]', ', notify: [ntfi]', '6:51 folders[0].rules[0].notify[0] ~ did you mean "ntfy"?'],
    ['{ owners: {} }', '', '4:23 folders[0].notify.owners ~ needs at least one owner'],
    ['{ owner: { anna: ntfy } }', '', '4:15 folders[0].notify.owner ~ did you mean "owners"?'],
    ['ntfy', '', '4:13 folders[0].notify ~ must be a list'],
    ['{ owners: { anna: [ntfy] } }', '', '4:31 folders[0].notify.owners.anna ~ must be text'],
  ])('%s%s is a mistake', async (folder, rule, expected) => {
    await using here = await scratch();
    const problems = await here.problems(text(folder, rule), env);
    const [place = '', part = ''] = expected.split(' ~ ');
    expect(problems).toHaveLength(1);
    expect(String(problems[0])).toContain(place);
    expect(String(problems[0])).toContain(part);
  });
});
