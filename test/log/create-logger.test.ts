import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/log/create-logger.ts';
import type { LoggerOptions } from '../../src/log/create-logger.ts';
import { SecretValues } from '../../src/log/redaction.ts';

const KEY = 'dk_live_7f3a9b"c+d/e=1';
const SIGNATURE = 'deadbeefcafe4711';
const ADDRESS = `https://up.example/v/vid_1?X-Amz-Credential=AKIA&X-Amz-Signature=${SIGNATURE}`;

const FORMATS = ['pretty', 'json', 'journald'] as const;
const LEVELS = ['error', 'warn', 'info', 'debug'] as const;

class Memory extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
  get lines(): readonly string[] {
    return this.text.split('\n').slice(0, -1);
  }
}

function open(changes: Partial<LoggerOptions> = {}) {
  const stream = new Memory();
  const secrets = new SecretValues();
  secrets.add(KEY);
  const options: LoggerOptions = {
    level: 'debug',
    format: 'json',
    stream,
    isTerminal: false,
    env: {},
    secrets,
    ...changes,
  };
  return { ...createLogger(options), stream };
}

/** What got throws, in shape: the key and the signed address stand in six places. */
function gotError(): Error {
  class Options {
    readonly headers = { authorization: `Bearer ${KEY}`, 'x-upload-auth': KEY };
    readonly url = new URL(ADDRESS);
  }
  class Request {
    readonly requestUrl = ADDRESS;
    readonly options = new Options();
  }
  const error = new Error(`Request failed with status code 403: PUT ${ADDRESS}, authorization: Bearer ${KEY}`);
  error.name = 'HTTPError';
  const timings = { start: 1, url: ADDRESS };
  return Object.assign(error, {
    code: 'ERR_NON_2XX_3XX_RESPONSE',
    options: new Options(),
    request: new Request(),
    timings,
  });
}

test.each(FORMATS.flatMap((format) => LEVELS.map((level) => [format, level] as const)))(
  'neither key nor signed address is in any %s line at level %s',
  async (format, level) => {
    const { logger, close, stream } = open({ format, level, isTerminal: true });
    const secret = { reveal: () => KEY, toJSON: () => '[secret]' };
    const error = gotError();
    const wrapped = new Error(`while sending ${KEY}`, { cause: new Error('middle', { cause: error }) });
    const cloned = Object.assign({}, error, { message: error.message, cause: Object.assign({}, gotError()) });
    for (const at of LEVELS) {
      logger[at](`PUT ${ADDRESS} with Bearer ${KEY}`, { err: error });
      logger[at]('wrapped', { err: wrapped, other: error, list: [error], map: new Map([[KEY, ADDRESS]]) });
      logger[at]('cloned', {
        err: cloned,
        error: cloned,
        deep: { cause: cloned },
        aggregate: new AggregateError([error], KEY),
      });
      logger[at]('fields', {
        key: secret,
        config: { apiKey: secret, plain: KEY },
        url: new URL(ADDRESS),
        upload_url: ADDRESS,
      });
      logger[at]('forms', {
        [KEY]: 1,
        json: JSON.stringify({ KEY, ADDRESS }),
        percent: encodeURIComponent(`${KEY} ${ADDRESS}`),
      });
      logger[at]('basic', { text: Buffer.from(`user:${KEY}`).toString('base64') });
      logger[at]('long', { text: `${'x'.repeat(8_185)}${KEY}`, headers: { Authorization: KEY, cookie: KEY } });
    }
    await close();
    const forms = [
      KEY,
      JSON.stringify(KEY).slice(1, -1),
      encodeURIComponent(KEY),
      Buffer.from(KEY).toString('base64'),
      SIGNATURE,
    ];
    expect(stream.lines.length).toBe(7 * (LEVELS.indexOf(level) + 1));
    for (const form of [...forms, 'dk_live', '7f3a9b', Buffer.from(`user:${KEY}`).toString('base64'), 'AKIA']) {
      expect(stream.text).not.toContain(form);
    }
    expect(stream.text).toContain('https://up.example/v/vid_1');
  },
);

test('stacks are logged at debug level only', async () => {
  for (const [level, told] of [
    ['info', false],
    ['debug', true],
  ] as const) {
    const { logger, close, stream } = open({ level });
    logger.error('bug', { err: new Error('x') });
    await close();
    expect(stream.text.includes('create-logger.test.ts')).toBe(told);
  }
});

test.each([
  [{ isTerminal: true, env: { JOURNAL_STREAM: '8:1' } }, /^\p{Cc}\[2m\d\d:/u],
  [{ isTerminal: true, env: { NO_COLOR: '1' } }, /^\d\d:/],
  [{ isTerminal: true, env: { TERM: 'dumb' } }, /^\d\d:/],
  [{ isTerminal: false, env: { JOURNAL_STREAM: '8:1' } }, /^<6>m/],
  [{ isTerminal: false, env: {} }, /^\{"time":"/],
])('auto takes the format from the surroundings: %j', async (surroundings, begin) => {
  const { logger, close, stream } = open({ format: 'auto', ...surroundings });
  logger.info('m');
  await close();
  expect(stream.text).toMatch(begin);
});

test('a field that changes after the call does not change the line', async () => {
  const { logger, close, stream } = open();
  const fields = { state: 'uploading' };
  for (let line = 0; line < 100; line += 1) logger.info('m', fields);
  fields.state = 'done';
  await close();
  expect(stream.lines.filter((line) => line.includes('uploading'))).toHaveLength(100);
});

test('a burst arrives complete and in order', async () => {
  const { logger, close, stream } = open();
  for (let line = 0; line < 2_000; line += 1) logger.info('m', { line });
  await close();
  expect(stream.lines.map((line) => Reflect.get(JSON.parse(line) as object, 'line'))).toEqual(
    Array.from({ length: 2_000 }, (_, n) => n),
  );
});

test('a stream that breaks or throws loses lines and nothing else, and is used again once it works', async () => {
  let mode: 'fail' | 'throw' | 'work' = 'fail';
  const written: string[] = [];
  const stream = new Writable({ autoDestroy: false, emitClose: false });
  stream.write = (chunk: unknown, ...rest: unknown[]) => {
    const done = rest.find((each) => typeof each === 'function') as (error?: Error) => void;
    if (mode === 'throw') throw new Error('ERR_STREAM_DESTROYED');
    if (mode === 'work') written.push(String(chunk));
    else stream.emit('error', new Error('ENOSPC'));
    done(mode === 'fail' ? new Error('ENOSPC') : undefined);
    return true;
  };
  const { logger, close } = open({ stream });
  for (const next of ['fail', 'throw', 'work'] as const) {
    mode = next;
    logger.info(next);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await close();
  expect(written.join('')).toMatch(/"message":"work"/);
  expect(written).toHaveLength(1);
});

test('a destroyed stream does not keep close waiting', async () => {
  const stream = new Memory();
  const { logger, close } = open({ stream });
  stream.destroy(new Error('EPIPE'));
  logger.info('lost');
  await close();
  await close();
  logger.info('after close');
  expect(stream.text).toBe('');
});

test('a stalled reader costs bounded memory, and dropped lines are counted', async () => {
  const gate = Promise.withResolvers<void>();
  let text = '';
  const write = async (chunk: Buffer) => {
    text += chunk.toString();
    await gate.promise;
  };
  const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => void write(chunk).finally(done) });
  const { logger, close } = open({ stream, maxWaitingBytes: 10_000 });
  for (let line = 0; line < 1_000; line += 1) {
    logger.info('m');
    await new Promise((resolve) => setImmediate(resolve));
  }
  gate.resolve();
  await close();
  const dropped = Number(/Log lines dropped: the output is not being read","lines":(\d+)/.exec(text)?.[1]);
  expect(dropped).toBeGreaterThan(500);
  expect(text.split('\n')).toHaveLength(1_000 - dropped + 2);
});
