import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConfigNotFoundError, findConfig } from '../../src/config/find.ts';
import { loadConfig } from '../../src/config/load.ts';
import { dropcastRecipe } from '../../scripts/release/image/recipes.ts';
import { defaultStateDir } from '../../src/config/paths.ts';
import { formatProblem } from '../../src/config/problem.ts';
import { placeAsNobody, problemsAsNobody } from './as-nobody.ts';
import { expectProblems, scratch, type Scratch } from './scratch.ts';
import { needs } from '../support/needs.ts';

const MINIMAL = `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
folders:
  - path: inbox
    rules: [{ match: "**", channel: ch_main }]
`;
const withKey = (key: string) => MINIMAL.replace('!env KEY', key);

let here: Scratch;
beforeEach(async () => {
  here = await scratch();
});
afterEach(() => here[Symbol.asyncDispose]());

describe('a configuration that is right', () => {
  it('gets every default', async () => {
    const { config, problems } = await here.load(MINIMAL);
    expect(problems).toEqual([]);
    expect(config).toMatchObject({
      file: join(here.path, 'dropcast.yaml'),
      service: { baseUrl: 'https://video.example.com/v1', requestsPerHour: 1000, sendKeyTo: [] },
      stateDir: join(here.path, 'home/.local/state/dropcast'),
      uploads: { concurrency: 4, bandwidth: { windows: [], otherwise: null }, window: null, stallTimeoutMs: 60_000 },
      retry: { attempts: 12, firstMs: 1000, maxMs: 900_000 },
      poll: { intervalMs: 15_000, giveUpAfterMs: 86_400_000 },
      publish: { quietMs: 10_000, atMostMs: 120_000 },
      status: {
        listen: { host: '127.0.0.1', port: 7878 },
        socket: join(here.path, 'home/.local/state/dropcast/dropcast.sock'),
      },
      log: { level: 'info', format: 'auto' },
    });
    expect(config?.folders).toEqual([
      {
        path: join(here.path, 'inbox'),
        key: 'folders[0]',
        include: [
          '**/*.{mp4,mov,m4v,mkv,webm,avi,mpg,mpeg,ts,m2ts,mxf,mp3,m4a,wav,flac,mts,m2t,trp,m2v,m1v,mpe,vob,3gp,3gpp,3g2,wmv,asf,flv,f4v,ogv,qt,dv,gxf,divx,xvid,aac,aif,aiff,opus,ogg,oga,wma,mp2,m4b}',
        ],
        exclude: [],
        settleMs: 5000,
        doneMarker: null,
        watch: 'auto',
        rescanMs: 60_000,
        onDuplicate: 'skip',
        onChange: 'upload',
        existing: 'upload',
        afterReady: { kind: 'keep' },
        beside: false,
        notify: { owners: {}, others: [] },
        rules: [
          {
            key: 'folders[0].rules[0]',
            line: 6,
            match: '**',
            channel: 'ch_main',
            title: '{title}',
            description: null,
            tags: [],
            publish: [],
            priority: 'normal',
          },
        ],
      },
    ]);
  });

  it('takes what is written over the defaults', async () => {
    const { config } = await here.load(`service:
  base_url: http://[::1]:8080/v1/
  api_key: !env KEY
  requests_per_hour: 200
  send_key_to: ["https://Upload.example.com:443/"]
state_dir: ~/state
uploads:
  concurrency: 32
  bandwidth: { "08:00-18:00": 8Mbit/s, otherwise: unlimited }
  window: "20:00-06:00"
  stall_timeout: 2m
publish: { quiet: 0s, at_most: 0s }
status: { listen: off, hosts: [DropCast.example.com], socket: run/x.sock }
log: { level: debug, format: json }
folders:
  - path: ~/in/../inbox/
    include: ["*.mp4"]
    exclude: ["_work/**"]
    settle: 100ms
    after_ready: { move: "done/{date}" }
    rules:
      - { match: "{show}/*", channel: c, title: "{show}", description: "", tags: ["{dirs}"], publish: [f] }
`);
    expect(config).toMatchObject({
      service: { baseUrl: 'http://[::1]:8080/v1', requestsPerHour: 200, sendKeyTo: ['https://upload.example.com'] },
      stateDir: join(here.path, 'home/state'),
      uploads: {
        concurrency: 32,
        bandwidth: { windows: [{ from: 480, to: 1080, bytesPerSecond: 1_000_000 }], otherwise: null },
        window: { from: 1200, to: 360 },
        stallTimeoutMs: 120_000,
      },
      publish: { quietMs: 0, atMostMs: 0 },
      status: { listen: null, hosts: ['dropcast.example.com'], socket: join(here.path, 'run/x.sock') },
      log: { level: 'debug', format: 'json' },
      folders: [
        {
          path: join(here.path, 'home/inbox'),
          include: ['*.mp4'],
          exclude: ['_work/**'],
          settleMs: 100,
          afterReady: { kind: 'move', to: 'done/{date}' },
          rules: [{ line: 22, title: '{show}', description: '', tags: ['{dirs}'], publish: ['f'] }],
        },
      ],
    });
  });

  it('gives the lines of rules that an alias shares', async () => {
    const text = MINIMAL.replace('rules: [', 'rules: &rules [') + '  - path: other\n    rules: *rules\n';
    const { config, locate } = await here.load(text);
    expect(config?.folders[1]?.rules[0]).toMatchObject({ key: 'folders[1].rules[0]', line: 6 });
    expect(locate('folders[1].rules')).toEqual({ line: 8, column: 12 });
    expect(locate('folders[1].settle')).toEqual({ line: 7, column: 5 });
  });

  it('is read the same with a byte order mark and carriage returns', async () => {
    expect((await here.load(`\ufeff${MINIMAL.replaceAll('\n', '\r\n')}`)).problems).toEqual([]);
  });

  it('may be a link, as mounted configuration maps are', async () => {
    await symlink(await here.write('real.yaml', MINIMAL), join(here.path, 'link.yaml'));
    expect((await loadConfig('link.yaml', here.environment)).config?.file).toBe(join(here.path, 'link.yaml'));
  });

  it('is given with a warning when other machines can open the page', async () => {
    const { config, problems } = await here.load(`${MINIMAL}status: { listen: "0.0.0.0:7878" }\n`);
    expect(config).not.toBeNull();
    expect(problems).toMatchObject([{ key: 'status.listen', severity: 'warning', line: 7, column: 19 }]);
  });

  it('is given without that warning in our container, where the page must listen so', async () => {
    const root = join(import.meta.dirname, '../..');
    const [, example = ''] = /```yaml\n([^`]*)```/.exec(await readFile(join(root, 'docs/container.md'), 'utf8')) ?? [];
    const value = dropcastRecipe('')
      .config.Env.find((line) => line.startsWith('container='))
      ?.split('=')[1];
    expect(value).toBeDefined();
    const file = await here.write('dropcast.yaml', `${MINIMAL}${example}`);
    const environment = { ...here.environment, env: { ...here.environment.env, container: value } };
    const { config, problems } = await loadConfig(file, environment);
    expect(problems).toEqual([]);
    expect(config?.status.listen?.host).toBe('0.0.0.0');
  });
});

describe('the state directory', () => {
  it.each([
    [{ STATE_DIRECTORY: '/s/one:/s/two', XDG_STATE_HOME: '/x' }, '/s/one'],
    [{ STATE_DIRECTORY: '', XDG_STATE_HOME: '/x' }, '/x/dropcast'],
  ])('comes from %j', async (env, stateDir) => {
    const { config } = await here.load(MINIMAL, { KEY: 'abc', ...env });
    expect(config).toMatchObject({ stateDir, status: { socket: `${stateDir}/dropcast.sock` } });
  });

  it('ignores a relative XDG_STATE_HOME, as its specification says', async () => {
    const { config } = await here.load(MINIMAL, { KEY: 'abc', XDG_STATE_HOME: 'state' });
    expect(config?.stateDir).toBe(join(here.path, 'home/.local/state/dropcast'));
  });

  it.each([
    ['/etc/dropcast/dropcast.yaml', '/var/lib/dropcast'],
    ['/etc/dropcast/news.yaml', '/var/lib/dropcast@news'],
    ['/etc/dropcast/news', '/home/op/.local/state/dropcast'],
    ['/etc/dropcast/old/news.yaml', '/home/op/.local/state/dropcast'],
  ])('of the service that reads %s is %s for any other reader', (file, stateDir) => {
    expect(defaultStateDir(file, { env: {}, cwd: '/', home: '/home/op' })).toBe(stateDir);
    expect(defaultStateDir(file, { env: { STATE_DIRECTORY: '/s' }, cwd: '/', home: '/home/op' })).toBe('/s');
  });

  it('has the failure log, unless systemd has a directory for it', async () => {
    const { config } = await here.load(MINIMAL, { KEY: 'abc', STATE_DIRECTORY: '/s' });
    expect(config?.failureLog).toBe('/s/failures.jsonl');
    const logs = { LOGS_DIRECTORY: '/var/log/one:/var/log/two' };
    const there = await here.load(MINIMAL, { KEY: 'abc', STATE_DIRECTORY: '/s', ...logs });
    expect(there.config?.failureLog).toBe('/var/log/one/failures.jsonl');
  });

  it('leaves the socket to the runtime directory of systemd', async () => {
    const { config } = await here.load(MINIMAL, { KEY: 'abc', RUNTIME_DIRECTORY: '/run/dropcast' });
    expect(config?.status.socket).toBe('/run/dropcast/dropcast.sock');
  });
});

describe('the key', () => {
  const key = async (text: string, env?: Record<string, string>) => {
    const { config, problems } = await here.load(withKey(text), env);
    return (
      config?.service.apiKey.reveal() ?? problems.map(({ message }) => message.replaceAll(here.path, '')).join('; ')
    );
  };

  it('comes from a variable', async () => {
    expect(await key('!env KEY', { KEY: 's3cret' })).toBe('s3cret');
  });

  it('comes from a file without the line break at its end, next to the configuration or at home', async () => {
    await here.write('api_key', 's3cret\r\n');
    expect(await key('!file api_key')).toBe('s3cret');
    await mkdir(here.environment.home);
    await here.write('home/api_key', 's4cret\n');
    expect(await key('!file ~/api_key')).toBe('s4cret');
  });

  it('comes from a credential of systemd', async () => {
    await here.write('api_key', 's3cret', 0o444);
    expect(await key('!credential api_key', { CREDENTIALS_DIRECTORY: here.path })).toBe('s3cret');
  });

  it('may be in a file that no other user can read', async () => {
    expect(await key('s3cret')).toBe('s3cret');
  });

  it.each([0o640, 0o604, 0o620, 0o644])('may not be in a file of mode %o', async (mode) => {
    const file = await here.write('open.yaml', withKey('s3cret'), mode);
    const [problem] = (await loadConfig(file, here.environment)).problems;
    expect(problem).toMatchObject({ key: 'service.api_key', line: 3 });
    expect(problem?.message).toContain(`(mode 0${mode.toString(8)})`);
  });

  it('is given with a warning when every user can read its file', async () => {
    await here.write('api_key', 's3cret', 0o644);
    const { config, problems } = await here.load(withKey('!file api_key'));
    expect(config?.service.apiKey.reveal()).toBe('s3cret');
    expect(problems).toMatchObject([{ key: 'service.api_key', severity: 'warning', line: 3 }]);
  });

  it.each([
    ['empty', '', 'is empty'],
    ['only a line break', '\n\n', 'is empty'],
    ['two lines', 's3cret\nother', 'space or line break'],
    ['a blank at the end', 's3cret \n', 'space or line break'],
    ['an umlaut', 's3crét', 'character'],
    ['a byte order mark', '\ufeffs3cret', 'character'],
    ['a zero byte', 's3cret\0', 'character'],
    ['too much', 'x'.repeat(9000), 'is larger than 8 KiB'],
  ])('is refused when its file holds %s', async (_, content, message) => {
    await here.write('api_key', content);
    const shown = await key('!file api_key');
    expect(shown).toContain(message);
    expect(shown).not.toContain('s3cr');
  });

  it.each([
    ['is a directory', '!file .', 'is a directory'],
    ['is below a file', '!file dropcast.yaml/key', 'ENOTDIR'],
    ['is a device', '!file /dev/null', 'regular file'],
    ['has a name that is too long', `!file ${'x'.repeat(300)}`, 'ENAMETOOLONG'],
  ])('is refused when its file %s', async (_, tag, message) => {
    expect(await key(tag)).toContain(message);
  });

  it(
    'is refused with the reason of the system when its file is not ours to read',
    needs('readable clone'),
    async () => {
      await here.write('api_key', 's3cret', 0o600);
      await here.write('dropcast.yaml', withKey('!file api_key'), 0o644);
      await chmod(here.path, 0o755);
      const problems = await problemsAsNobody(join(here.path, 'dropcast.yaml'), here.environment);
      expect(problems[0]?.message).toContain('EACCES');
    },
  );

  it('names the line for the unit when the credential is not there', async () => {
    expect(await key('!credential api_key', { CREDENTIALS_DIRECTORY: here.path })).toContain('LoadCredential=api_key:');
  });

  it.each([
    ['', 'is empty'],
    ['two words', 'space'],
    ['line\n', 'line break'],
    ['ключ', 'character'],
  ])('is refused when the variable is %j', async (value, message) => {
    expect(await key('!env KEY', { KEY: value })).toContain(message);
  });

  it('is in nothing that is shown of the configuration', async () => {
    const loaded = await here.load(MINIMAL, { KEY: 's3cret' });
    expect(JSON.stringify(loaded)).not.toContain('s3cret');
    expect(JSON.stringify(loaded)).toContain('[secret]');
  });
});

describe('a file that is not a configuration', () => {
  it.each([
    ['an empty file', '', '1:1 service ~ missing'],
    ['comments only', '# nothing\n', '1:1 service ~ missing'],
    ['a list', '- a\n- b\n', '1:1 ~ keys ~ a list'],
    ['a word', 'dropcast\n', '1:1 ~ keys ~ text'],
    ['a zero byte', 'service:\n  base_url: x\0\n', '2:14 ~ U+0000'],
    ['bytes that are not UTF-8', Buffer.from('a: 1\nb: "caf\xe9"\n', 'latin1'), '2:8 ~ UTF-8'],
    ['UTF-16', Buffer.from('\ufeffa: 1', 'utf16le'), '1:1 ~ UTF-8'],
    ['2 MB', '# \n'.repeat(700_000), '1:1 ~ 1024 KiB'],
    ['a film', Buffer.from([0, 0, 0, 0x18, 0x66, 0x74, 0x79, 0x70]), '1:1 ~ U+0000'],
  ])('%s is refused', async (_, content, problem) => {
    expectProblems((await here.problems(content)).slice(0, 1), [problem]);
  });

  it.each([
    ['missing', 'nowhere.yaml', 'ENOENT'],
    ['a directory', '.', 'is a directory'],
    ['below a file', 'file/x.yaml', 'ENOTDIR'],
    ['a device', '/dev/zero', 'regular file'],
    ['a link to itself', 'loop', 'ELOOP'],
  ])('is said to be so when it is %s', async (_, file, message) => {
    await here.write('file', '');
    await symlink('loop', join(here.path, 'loop'));
    const { config, problems, locate } = await loadConfig(file, here.environment);
    expect(config).toBeNull();
    expect(problems).toMatchObject([{ line: 1, column: 1, key: '', message: expect.stringContaining(message) }]);
    expect(locate('folders[0]')).toEqual({ line: 1, column: 1 });
  });

  it('does not wait for a writer of a FIFO', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(here.path, 'fifo')]);
    const { problems } = await loadConfig('fifo', here.environment);
    expect(problems[0]?.message).toContain('regular file');
  });

  it('is said to be unreadable', needs('readable clone'), async () => {
    const file = await here.write('dropcast.yaml', MINIMAL, 0o000);
    await chmod(here.path, 0o755);
    const problems = await problemsAsNobody(file, here.environment);
    expect(problems[0]?.message).toContain('EACCES');
  });
});

describe('finding the configuration', () => {
  it('takes --config, then $DROPCAST_CONFIG, then ./dropcast.yaml', async () => {
    for (const name of ['option.yaml', 'env.yaml', 'dropcast.yaml']) await here.write(name, '');
    const withEnv = { ...here.environment, env: { DROPCAST_CONFIG: 'env.yaml' } };
    const named = (file: string) => ({ file: join(here.path, file), isImplicit: false });
    expect(await findConfig('option.yaml', withEnv)).toEqual(named('option.yaml'));
    expect(await findConfig('dropcast.yaml', withEnv)).toEqual(named('dropcast.yaml'));
    expect(await findConfig(undefined, withEnv)).toEqual(named('env.yaml'));
    const chance = { file: join(here.path, 'dropcast.yaml'), isImplicit: true };
    expect(await findConfig(undefined, here.environment)).toEqual(chance);
    expect(await findConfig(undefined, { ...here.environment, env: { DROPCAST_CONFIG: '' } })).toEqual(chance);
  });

  it('takes no other one when the named one is missing, and says which', async () => {
    await here.write('dropcast.yaml', '');
    const missing = findConfig('other.yaml', here.environment);
    await expect(missing).rejects.toThrow(ConfigNotFoundError);
    await expect(missing).rejects.toThrow(`${join(here.path, 'other.yaml')} (from --config)`);
    const fromEnv = findConfig(undefined, { ...here.environment, env: { DROPCAST_CONFIG: '/no/such.yaml' } });
    await expect(fromEnv).rejects.toThrow('/no/such.yaml (from $DROPCAST_CONFIG)');
  });

  it('tries the next place where the current directory is closed', needs('readable clone'), async () => {
    const closed = join(here.path, 'closed');
    await mkdir(closed);
    await here.write('closed/dropcast.yaml', '');
    await symlink('closed/dropcast.yaml', join(here.path, 'dropcast.yaml'));
    await chmod(closed, 0o000);
    await chmod(here.path, 0o755);
    const installed = '/etc/dropcast/dropcast.yaml';
    expect(await placeAsNobody({ ...here.environment, cwd: closed })).toMatch(
      new RegExp(`^(?:${installed}|.* ${closed}/dropcast.yaml, ${installed})$`),
    );
    // A link into it is there for all to see.
    expect(await placeAsNobody(here.environment)).toBe(join(here.path, 'dropcast.yaml'));
  });

  it('names every place when there is none', async () => {
    await expect(findConfig(undefined, here.environment)).rejects.toMatchObject({
      places: [join(here.path, 'dropcast.yaml'), '/etc/dropcast/dropcast.yaml'],
    });
  });
});

describe('a problem in words', () => {
  const problem = {
    file: '/etc/dropcast/x.yaml',
    line: 12,
    column: 5,
    key: 'a.b',
    message: 'wrong',
    severity: 'error',
  } as const;

  it.each([
    ['/etc/dropcast', 'x.yaml:12:5 a.b: wrong'],
    ['/etc', 'dropcast/x.yaml:12:5 a.b: wrong'],
    ['/home', '/etc/dropcast/x.yaml:12:5 a.b: wrong'],
    ['/etc/dropcast/x.yaml', '/etc/dropcast/x.yaml:12:5 a.b: wrong'],
  ])('names the file as seen from %s', (cwd, text) => {
    expect(formatProblem(problem, cwd)).toBe(text);
  });

  it('has no colon for no key, and says that a warning is one', () => {
    expect(formatProblem({ ...problem, key: '' }, '/etc/dropcast')).toBe('x.yaml:12:5 wrong');
    expect(formatProblem({ ...problem, severity: 'warning' }, '/etc/dropcast')).toBe('x.yaml:12:5 a.b: warning: wrong');
  });

  it('shows a file name that a terminal would obey in quotes', () => {
    expect(formatProblem({ ...problem, file: '/etc/\u001b[2J.yaml' }, '/home')).toBe(
      String.raw`"/etc/\u001b[2J.yaml":12:5 a.b: wrong`,
    );
  });
});
