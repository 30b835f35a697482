import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaAt } from '../../src/config/json-schema.ts';
import { expectProblems, scratch, type Scratch } from './scratch.ts';

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
});
afterAll(() => here[Symbol.asyncDispose]());

const env = { KEY: 'abc', HOOK: 'https://hooks.example.com/T1/secret-part', TOKEN: 'tk_secret' };

const text = (notify: string): string => `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders: [{ path: inbox, rules: [{ match: "**", channel: c }] }]
notify:
${notify}
`;

const all = `  - { type: webhook, url: !env HOOK, token: !env TOKEN, headers: { X-Site: north hall, X-Api-Key: !file header.txt }, timeout: 5s }
  - { type: ntfy, name: phone, topic: station, token: !env TOKEN, quiet: "22:00-07:00", on: [live, needs_you], priority: high }
  - { type: email, smtp: "smtps://mail.example.com", user: u, password: !file password.txt, from: d@example.com, to: [ops@example.com] }
  - { type: command, command: [~/tell, --now], on: [daily], daily_at: "08:30", idle_days: true }
  - { type: heartbeat, url: "https://hc.example.com/uuid?x=1", every: 1m, fail: "?status=down" }`;

describe('notify', () => {
  it('takes targets of every type, with secrets that nothing shows', async () => {
    await here.write('header.txt', 'two words\n');
    await here.write('password.txt', 'pässwort mit Leerzeichen\n');
    const { config, problems } = await here.load(text(all), env);
    expect(problems).toEqual([]);
    const [webhook, ntfy, email, command, heartbeat] = config?.notify ?? [];
    expect(webhook).toMatchObject({ type: 'webhook', name: 'webhook', timeoutMs: 5000, quiet: null });
    expect(
      webhook?.type === 'webhook' &&
        [webhook.url, webhook.token, webhook.headers['X-Site'], webhook.headers['X-Api-Key']].map((each) =>
          each?.reveal(),
        ),
    ).toEqual([env.HOOK, env.TOKEN, 'north hall', 'two words']);
    expect(webhook?.type === 'webhook' && webhook.on).not.toContain('live');
    expect(ntfy).toMatchObject({
      name: 'phone',
      url: 'https://ntfy.sh',
      priority: 'high',
      quiet: { from: 1320, to: 420 },
      on: ['live', 'needs_you'],
    });
    expect(email).toMatchObject({
      smtp: { host: 'mail.example.com', port: 465, security: 'tls' },
      user: 'u',
      to: ['ops@example.com'],
    });
    expect(email?.type === 'email' && email.password?.reveal()).toBe('pässwort mit Leerzeichen');
    expect(command).toMatchObject({
      argv: [here.file('home', 'tell'), '--now'],
      daily: { at: 510, isForIdleDays: true },
    });
    expect(heartbeat).toMatchObject({ everyMs: 60_000, fail: '?status=down' });
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toMatch(
      /secret-part|tk_secret|two words|Leerzeichen|uuid/,
    );
  });

  it('is silence by default', async () => {
    const { config } = await here.load(text('').replace('notify:\n', ''), env);
    expect(config?.notify).toEqual([]);
  });

  it('names its secret files, so that the unit gives access to them', async () => {
    const { paths } = await here.load(text(all), env);
    expect(paths?.secretFiles).toEqual([here.file('header.txt'), here.file('password.txt')]);
  });

  it.each([
    ['{ type: pager }', '4:13 notify[0].type ~ webhook, ntfy, email, command or heartbeat'],
    ['{ url: "https://x.example" }', '4:5 notify[0].type ~ webhook, ntfy'],
    ['{ type: webhook }', '4:5 notify[0].url ~ missing'],
    ['{ type: webhook, url: !env HOOK, smtp: x }', '4:38 notify[0].smtp ~ allowed here: type, url, token'],
    ['{ type: webhook, url: !env HOOK, tokn: x }', '4:38 notify[0].tokn ~ did you mean "token"?'],
    ['{ type: webhook, url: ftp://x.example }', '4:27 notify[0].url ~ https://'],
    ['{ type: webhook, url: "https://user:pw@x.example" }', '4:27 notify[0].url ~ not a web address'],
    ['{ type: webhook, url: !env NOT_SET }', '4:32 notify[0].url ~ NOT_SET'],
    ['{ type: ntfy, topic: "a b" }', '4:26 notify[0].topic ~ topic'],
    ['{ type: ntfy, topic: t, on: [alive] }', '4:34 notify[0].on[0] ~ live'],
    ['{ type: ntfy, topic: t, quiet: night }', '4:36 notify[0].quiet ~ "08:00-18:00"'],
    ['{ type: ntfy, topic: t, daily_at: "25:00" }', '4:39 notify[0].daily_at ~ "18:30"'],
    ['{ type: email, smtp: mail.example.com, from: a@b, to: [c@d] }', '4:26 notify[0].smtp ~ smtps://'],
    [
      '{ type: email, smtp: "smtp://u:p@mail.example.com", from: a@b, to: [c@d] }',
      '4:26 notify[0].smtp ~ user and password',
    ],
    ['{ type: command, command: [tell] }', '4:32 notify[0].command[0] ~ absolute path'],
    [
      '{ type: heartbeat, url: "https://x.example", on: [live] }',
      '4:50 notify[0].on ~ allowed here: type, url, every, fail',
    ],
    ['{ type: ntfy, topic: a }\n  - { type: ntfy, topic: b }', '5:5 notify[1].name ~ already called "ntfy"'],
  ])('refuses %s', async (target, problem) => {
    expectProblems(await here.problems(text(`  - ${target}`), env), [problem]);
  });

  it('refuses a token in a file that others can read, and not an address', async () => {
    const config = text(
      '  - { type: webhook, url: "https://x.example/", token: abcdef, headers: { X-Token: abcdef, X-A: b } }',
    );
    await here.write('open.yaml', config, 0o644);
    const { loadConfig } = await import('../../src/config/load.ts');
    const { problems } = await loadConfig(here.file('open.yaml'), { ...here.environment, env });
    expect(problems.map(({ key }) => key)).toEqual(['notify[0].token', 'notify[0].headers.X-Token']);
    expect(JSON.stringify(problems)).not.toContain('abcdef');
  });
});

describe('expect', () => {
  const expecting = (
    folder: string,
    rule = '',
  ): string => `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders:
  - path: inbox
    expect: [${folder}]
    rules: [{ match: "news/*", channel: c${rule} }]
`;

  it('is of a folder or of a rule', async () => {
    const { config, problems } = await here.load(
      expecting(
        '{ match: "evening/*.mp4", by: "18:30", days: mon-fri, count: 2, zone: Europe/Berlin, grace: 10m }',
        ', expect: [{ by: "00:30", from: "20:00", until: arrived, days: "sat,sun" }]',
      ),
      env,
    );
    expect(problems).toEqual([]);
    expect(config?.folders[0]?.expect).toEqual([
      {
        match: 'evening/*.mp4',
        by: 1110,
        from: 0,
        days: [1, 2, 3, 4, 5],
        count: 2,
        zone: 'Europe/Berlin',
        until: 'live',
        graceMs: 600_000,
      },
      { match: 'news/*', by: 30, from: 1200, days: [0, 6], count: 1, zone: null, until: 'arrived', graceMs: 0 },
    ]);
  });

  it.each([
    ['{ match: "a/*", by: 18:61 }', '4:34 folders[0].expect[0].by ~ "18:30"'],
    ['{ match: "a/*" }', '4:14 folders[0].expect[0].by ~ missing'],
    ['{ match: "a/[", by: "18:30" }', '4:23 folders[0].expect[0].match ~ '],
    ['{ match: "a/*", by: "18:30", days: mo-fr }', '4:49 folders[0].expect[0].days ~ mon-fri'],
    ['{ match: "a/*", by: "18:30", zone: Berlin }', '4:49 folders[0].expect[0].zone ~ Europe/Berlin'],
    ['{ match: "a/*", by: "18:30", count: 0 }', '4:50 folders[0].expect[0].count ~ 1 to 10000'],
  ])('refuses %s', async (expectation, problem) => {
    expectProblems(await here.problems(expecting(expectation), env), [problem]);
  });
});

it('is in docs/notifications.md with examples that are accepted', async () => {
  const page = await readFile(resolve(import.meta.dirname, '../../docs/notifications.md'), 'utf8');
  const [notify = '', people = '', folders = '', ...further] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, example]) => example ?? '',
  );
  expect(further).toEqual([]);
  await here.write('topic', 'station\n');
  const local = (text: string): string => text.replaceAll(/!file [^\s}]+/g, '!file topic');
  const service = 'service: { base_url: https://video.example.com/v1, api_key: !env KEY }\n';
  for (const text of [`${folders}${local(notify)}`, local(people)])
    expect(await here.problems(`${service}${text}`, env)).toEqual([]);
});

it('explains every key of every type in docs/notifications.md', async () => {
  const page = await readFile(resolve(import.meta.dirname, '../../docs/notifications.md'), 'utf8');
  const targets = schemaAt(['notify', 0])?.oneOf ?? [];
  expect(targets.length).toBe(5);
  for (const key of targets.flatMap(({ properties }) => Object.keys(properties ?? {})))
    expect(page).toContain(`\`${key}`);
});

it('shows examples in config.example.yaml that are accepted', async () => {
  const shipped = await readFile(resolve(import.meta.dirname, '../../config.example.yaml'), 'utf8');
  const block = /^# Where to send notifications[^\n]*\n#\n((?:# {3}[^\n]*\n)+)/m.exec(shipped)?.[1] ?? '';
  const example = block
    .replace('# notify: []', '')
    .replaceAll(/^#/gm, '')
    .replaceAll(/!file \S+_address/g, '"https://x.example/y"')
    .replaceAll(/!file \S+/g, '!file topic');
  await here.write('topic', 'station\n');
  expect(example).toContain('type: heartbeat');
  expect(await here.problems(text(example), env)).toEqual([]);
});
