import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { secretsIn } from '../../src/config/secret.ts';
import { loadConfig } from '../../src/config/load.ts';
import { maskedText } from '../../src/config/masked-text.ts';
import { selfSigned } from '../client/certificate.ts';
import { expectProblems, scratch } from './scratch.ts';

const here = await scratch();
afterAll(() => here[Symbol.asyncDispose]());

const env = { KEY: 'abc', PASSWORD: 'p@ss/wörd 1' };
const text = (
  ...lines: readonly string[]
): string => `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders: [{ path: inbox, rules: [{ match: "**", channel: c }] }]
${lines.join('\n')}
`;

describe('ledger', () => {
  it('is SQLite in the state directory by default, and the host has the name of its machine', async () => {
    const { config } = await here.load(text(), env);
    expect(config?.ledger).toBeNull();
    expect(config?.hostName).toBe(hostname());
  });

  it.each([
    ['postgres://dropcast@db.example.com/ledger', 'db.example.com', 5432, true],
    ['postgresql://dropcast@db.example.com:6432/ledger', 'db.example.com', 6432, true],
    ['postgres://dropcast@[2001:db8::1]:6432/ledger', '2001:db8::1', 6432, true],
    ['postgres://dropcast@localhost/ledger', 'localhost', 5432, false],
    ['postgres://dropcast@[::1]/ledger', '::1', 5432, false],
    ['postgres://dropcast@%2Frun%2Fpostgresql/ledger', '/run/postgresql', 5432, false],
    ['postgres://dropcast@/ledger?host=/run/postgresql', '/run/postgresql', 5432, false],
    ['postgres://dropcast@:6432/ledger?host=/run/postgresql', '/run/postgresql', 6432, false],
  ])('may be %s', async (url, host, port, tls) => {
    const { config, problems } = await here.load(text(`ledger: ${url}`, 'host_name: ingest1'), env);
    expect(problems).toEqual([]);
    expect(config?.ledger).toMatchObject({
      url,
      host,
      port,
      user: 'dropcast',
      database: 'ledger',
      password: null,
      ca: null,
      tls,
    });
    expect(config?.hostName).toBe('ingest1');
  });

  it('has a password behind a tag, its own authority, and TLS even to this machine on request', async () => {
    await here.write('ca.pem', selfSigned.cert);
    const { config, problems, paths } = await here.load(
      text(
        'ledger:',
        '  url: postgres://dropcast@127.0.0.1/ledger',
        '  password: !env PASSWORD',
        '  ca: ca.pem',
        '  tls: true',
      ),
      env,
    );
    expect(problems).toEqual([]);
    expect(config?.ledger).toMatchObject({ tls: true, ca: selfSigned.cert });
    expect(config?.ledger?.password?.reveal()).toBe(env.PASSWORD);
    expect(paths?.secretFiles).toEqual([here.file('ca.pem')]);
  });

  it('has what a command needs that looks while no daemon runs, or why it cannot be read', async () => {
    const file = await here.write(
      'dropcast.yaml',
      text('ledger: { url: "postgres://dropcast@db.example.com/ledger", password: !file later }'),
    );
    const looking = async () => (await loadConfig(file, here.environment, 'without key')).config?.ledger;
    expect(await looking()).toMatchObject({
      password: null,
      unread: expect.stringContaining('ledger.password: cannot read'),
    });
    await here.write('later', 'hidden word\n');
    const ledger = await looking();
    expect(ledger?.password?.reveal()).toBe('hidden word');
    expect(ledger?.unread).toBeNull();
  });

  it('has the files of the password and of the authority among those that the unit must read', async () => {
    await here.write('password', 'hidden word\n');
    const { config, paths } = await here.load(
      text('ledger: { url: "postgres://dropcast@db.example.com/ledger", password: !file password }'),
      env,
    );
    expect(config?.ledger?.password?.reveal()).toBe('hidden word');
    expect(paths?.secretFiles).toEqual([here.file('password')]);
  });

  it.each([
    ['in the address', 'ledger: postgres://dropcast:p%40ss%2Fword@db.example.com/ledger'],
    ['in the address of a mapping', 'ledger: { url: "postgres://dropcast:p%40ss%2Fword@db.example.com/ledger" }'],
    ['beside it', 'ledger: { url: "postgres://dropcast@db.example.com/ledger", password: p@ss/word }'],
  ])('takes a password %s from a closed file alone, and shows it nowhere', async (_, line) => {
    const { config, problems } = await here.load(text(line), env);
    expect(problems).toEqual([]);
    expect(config?.ledger?.password?.reveal()).toBe('p@ss/word');
    expect(config?.ledger?.url).toBe('postgres://dropcast@db.example.com/ledger');
    expect(config === null ? [] : secretsIn(config).map((secret) => secret.reveal())).toContain('p@ss/word');
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toMatch(/p@ss|p%40ss/);
    expect(config?.source.written.filter(({ key }) => key.startsWith('ledger')).length).toBeGreaterThan(0);
    expect(maskedText(text(line)).text).not.toMatch(/p@ss|p%40ss/);
    await here.write('open.yaml', text(line), 0o644);
    const open = await loadConfig(here.file('open.yaml'), { ...here.environment, env });
    expect(open.problems.map(({ message }) => message).join()).toMatch(
      /other users can read \(mode 0644\).*!file PATH/,
    );
    expect(JSON.stringify(open.problems)).not.toMatch(/p@ss|p%40ss/);
  });

  it('shows the address without the password among the settings', async () => {
    const { config } = await here.load(text('ledger: postgres://dropcast:p%40ss@db.example.com/ledger'), env);
    expect(config?.source.written.find(({ key }) => key === 'ledger')?.value).toBe(
      'postgres://dropcast:[secret]@db.example.com/ledger',
    );
  });

  it('is read without the password by users who may not know it', async () => {
    const file = await here.write(
      'other.yaml',
      text('ledger: { url: "postgres://d@db.example.com/l", password: !file nowhere }'),
    );
    const { config, problems } = await loadConfig(file, { ...here.environment, env }, 'without key');
    expect(problems).toEqual([]);
    expect(config?.ledger).toMatchObject({ host: 'db.example.com', password: null });
  });

  it.each([
    ['ledger: 5', '3:9 ledger ~ postgres://'],
    ['ledger: /var/lib/dropcast', '3:9 ledger ~ postgres://'],
    ['ledger: mysql://dropcast@db.example.com/ledger', '3:9 ledger ~ postgres://'],
    ['ledger: postgres://db.example.com/ledger', '3:9 ledger ~ user'],
    ['ledger: postgres://dropcast@db.example.com', '3:9 ledger ~ database'],
    ['ledger: postgres://dropcast@/ledger', '3:9 ledger ~ host'],
    ['ledger: postgres://dropcast@a.example.com,b.example.com/ledger', '3:9 ledger ~ one host'],
    ['ledger: postgres://dropcast@db.example.com:70000/ledger', '3:9 ledger ~ 65535'],
    [
      'ledger: postgres://dropcast@db.example.com/ledger?sslmode=require',
      '3:9 ledger ~ sslmode ~ ledger.tls and ledger.ca',
    ],
    ['ledger: postgres://dropcast@db.example.com/ledger?application_name=x', '3:9 ledger ~ query'],
    ['ledger: postgres://dropcast:secr@t@db.example.com/ledger', '3:9 ledger ~ %40'],
    ['ledger: { password: !env PASSWORD }', '3:1 ledger.url ~ missing'],
    ['ledger: { url: "postgres://d@db.example.com/l", pasword: !env PASSWORD }', '3:49 ledger.pasword ~ "password"'],
    ['ledger: { url: "postgres://d@db.example.com/l", password: !env NOT_SET }', '3:64 ledger.password ~ NOT_SET'],
    ['ledger: { url: "postgres://d:x@db.example.com/l", password: !env PASSWORD }', '3:66 ledger.password ~ twice'],
    ['ledger: { url: "postgres://d@db.example.com/l", ca: nowhere.pem }', '3:53 ledger.ca ~ nowhere.pem'],
    ['ledger: { url: "postgres://d@db.example.com/l", ca: dropcast.yaml }', '3:53 ledger.ca ~ no certificate'],
    ['ledger: { url: "postgres://d@db.example.com/l", tls: off }', '3:54 ledger.tls ~ true or false'],
    ['ledger: { url: "postgres://d@db.example.com/l", tls: false }', '3:54 ledger.tls ~ warning ~ plain text'],
    ['ledger: !env LEDGER', '3:14 ledger ~ !env'],
    ['host_name: two words', '3:12 host_name ~ letters'],
    ['host_name: "a:b"', '3:12 host_name ~ letters'],
    ['host_name: 7', '3:12 host_name ~ quotes'],
  ])('says what is wrong with %s', async (line, problem) => {
    const problems = await here.problems(text(line), env);
    expectProblems(problems, [problem]);
    expect(problems.join()).not.toContain('secr@t');
  });

  it('is shown in config.example.yaml as it may be written', async () => {
    const shipped = await readFile(resolve(import.meta.dirname, '../../config.example.yaml'), 'utf8');
    const [, ...lines] = /^# (ledger: postgres.*)\n#\n.*\n((?:# .*\n)+?)#\n.*\n# (host_name: .*)$/m.exec(shipped) ?? [];
    const [short = '', long = '', name = ''] = lines.map((line) => line.replaceAll(/^# /gm, ''));
    expect(await here.problems(text(short, name), env)).toEqual([]);
    await here.write('ca.pem', selfSigned.cert);
    const local = long.replace(/!file \S+/, '!env PASSWORD').replace(/ca: \S+/, 'ca: ca.pem');
    expect(await here.problems(text(local, name), env)).toEqual([]);
  });

  it('warns in a container without a given name, because its name changes at each start', async () => {
    const problemsAt = async (hostName: string, ...lines: readonly string[]) => {
      const file = await here.write(
        'container.yaml',
        text('ledger: postgres://dropcast@db.example.com/ledger', ...lines),
      );
      return (await loadConfig(file, { ...here.environment, env, hostName })).problems.map(({ message }) => message);
    };
    expect(await problemsAt('5fcd06dc12cc')).toEqual([expect.stringContaining('set host_name')]);
    expect(await problemsAt('5fcd06dc12cc', 'host_name: ingest1')).toEqual([]);
    expect(await problemsAt('ingest1')).toEqual([]);
  });

  it('has the name of its machine in letters that a name may have', async () => {
    const file = await here.write('named.yaml', text());
    const { config } = await loadConfig(file, { ...here.environment, env, hostName: 'Media Server 2/b' });
    expect(config?.hostName).toBe('Media-Server-2-b');
  });
});

describe('share', () => {
  const shared = (ledger: string, ...shares: readonly string[]): string =>
    [
      'service: { base_url: https://video.example.com/v1, api_key: !env KEY }',
      ledger,
      'folders:',
      ...shares.map((share, index) => `- { path: in${index}, share: ${share}, rules: [{ match: "**", channel: c }] }`),
      '',
    ].join('\n');
  const fleet = 'ledger: postgres://dropcast@db.example.com/ledger';

  it('names a folder for the fleet', async () => {
    const { config, problems } = await here.load(shared(fleet, 'nas1', 'nas-2.b'), env);
    expect(problems).toEqual([]);
    expect(config?.folders.map(({ share }) => share)).toEqual(['nas1', 'nas-2.b']);
  });

  it.each([
    [fleet, ['nas1', 'nas1'], '5:23 folders[1].share ~ folders[0] ~ name of its own'],
    [fleet, ['nas1/in'], '4:23 folders[0].share ~ same directory on every host'],
    [fleet, ['"nas1:"'], '4:23 folders[0].share ~ same directory on every host'],
    [fleet, ['"my nas"'], '4:23 folders[0].share ~ letters'],
    [fleet, ['7'], '4:23 folders[0].share ~ quotes'],
    ['', ['nas1'], '4:23 folders[0].share ~ warning ~ without ledger'],
  ])('says what is wrong with it: %s %j', async (ledger, shares, problem) => {
    expectProblems(await here.problems(shared(ledger, ...shares), env), [problem]);
  });
});
