import { chmod, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { describe, expect, test } from 'vitest';
import type { MessageTarget } from '../../packages/notify/src/target.ts';
import { secret } from '../../src/config/secret.ts';
import type { Envelope } from '../../packages/notify/src/message.ts';
import { createSend, placeOf } from '../../packages/notify/src/senders/send.ts';
import type { Sent } from '../../packages/notify/src/senders/sent.ts';
import { selfSigned } from '../client/certificate.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { startServer } from '../support/server.ts';
import { eventually, until } from '../support/until.ts';
import { beat, failAddress } from '../../packages/notify/src/senders/http.ts';

const message: Envelope = {
  type: 'needs_you',
  title: '7 files need you: Größe',
  body: 'No rule matches it.\n/in/a.mp4',
  level: 'warn',
  cause: 'needs you: no_rule',
  at: 0,
  count: 7,
  files: ['f_1'],
  host: 'ingest1',
  id: 'l-1',
  isRepeat: false,
};
const common = { name: 'x', timeoutMs: 5_000, on: [], quiet: null, daily: { at: 0, isForIdleDays: false } } as const;
const hidden = secret('tk_very_secret');
const send = createSend({ PATH: process.env['PATH'], DROPCAST_API_KEY: 'key' });
const never = new AbortController().signal;
const to = (target: object, more: Partial<Envelope> = {}, signal = never): Promise<Sent> =>
  send({ ...common, ...target } as unknown as MessageTarget, { ...message, ...more }, signal);

interface Request {
  readonly url: string;
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

async function listen(answer: (response: ServerResponse, request: Request) => void = (response) => response.end()) {
  const requests: Request[] = [];
  const server = await startServer((request, response) => {
    void text(request).then((body) => {
      const { url = '', method = '', headers } = request;
      const seen = { url, method, headers, body };
      requests.push(seen);
      answer(response, seen);
    });
  });
  return { ...server, requests, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** As an operator may have set it for another program. */
function certificatesUnchecked(): Disposable {
  const name = 'NODE_TLS_REJECT_UNAUTHORIZED';
  const before = process.env[name];
  process.env[name] = '0';
  return {
    [Symbol.dispose]: () => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    },
  };
}

/** As with NODE_EXTRA_CA_CERTS. */
function certificateTrusted(): Disposable {
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, selfSigned.cert]);
  return { [Symbol.dispose]: () => setDefaultCACertificates(before) };
}

const webhook = (origin: string, more = {}): object => ({
  type: 'webhook',
  url: secret(`${origin}/hook/very-secret-path`),
  token: hidden,
  headers: { 'X-Site': secret('north') },
  ...more,
});

describe('a webhook', () => {
  test('gets the message as JSON, with token and headers', async () => {
    await using server = await listen();
    expect(await to(webhook(server.origin))).toEqual({ ok: true, answer: 'answered 200' });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/hook/very-secret-path' });
    expect(request?.headers).toMatchObject({ authorization: 'Bearer tk_very_secret', 'x-site': 'north' });
    expect(JSON.parse(request?.body ?? '')).toEqual({
      v: 1,
      title: '7 files need you: Größe',
      body: 'No rule matches it.\n/in/a.mp4\ndropcast on ingest1',
      format: 'text',
      type: 'warning',
      event: 'needs_you',
      cause: 'needs you: no_rule',
      at: '1970-01-01T00:00:00.000Z',
      count: 7,
      host: 'ingest1',
      page: null,
      files: ['f_1'],
      id: 'l-1',
      repeat: false,
    });
  });

  test('that redirects is not followed: the other address would get the token', async () => {
    await using other = await listen();
    await using server = await listen((response) => response.writeHead(302, { location: other.origin }).end());
    const sent = await to(webhook(server.origin));
    expect(sent).toMatchObject({ ok: false, isRefusal: false });
    expect(JSON.stringify(sent)).toContain('answered 302');
    expect(other.requests).toEqual([]);
  });

  test.each([
    [400, true],
    [413, true],
    [401, false],
    [404, false],
    [429, false],
    [503, false],
  ])('that answers %i: %s', async (status, isRefusal) => {
    await using server = await listen((response, { url, headers }) =>
      response.writeHead(status, { 'retry-after': '7' }).end(`bad ${headers.authorization} ${url}\nmore`),
    );
    const sent = await to(webhook(server.origin));
    expect(sent).toMatchObject({ ok: false, isRefusal, mayHaveArrived: false, retryAfterMs: 7_000 });
    expect(JSON.stringify(sent)).not.toMatch(/tk_very_secret/);
  });

  test('that does not listen, does not answer, or hangs up', async () => {
    const gone = await listen();
    await gone[Symbol.asyncDispose]();
    expect(await to(webhook(gone.origin))).toMatchObject({ ok: false, mayHaveArrived: false });
    await using silent = await listen(() => undefined);
    expect(await to(webhook(silent.origin, { timeoutMs: 50 }))).toMatchObject({ ok: false, mayHaveArrived: true });
    await using rude = await listen((response) => response.destroy());
    expect(await to(webhook(rude.origin))).toMatchObject({ ok: false, mayHaveArrived: true });
  });

  test('that is slow is left at once when dropcast stops', async () => {
    await using silent = await listen(() => undefined);
    const stop = new AbortController();
    const sending = to(webhook(silent.origin, { timeoutMs: 300_000 }), {}, stop.signal);
    await until('it is asked', () => silent.requests.length === 1);
    stop.abort();
    expect(await sending).toMatchObject({ ok: false, mayHaveArrived: true });
  });

  test('that answers without end costs no memory', async () => {
    await using server = await listen((response) => {
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', write);
      write();
    });
    expect(await to(webhook(server.origin))).toMatchObject({ ok: true });
  });

  test.each([
    [503, false],
    [400, true],
    [302, false],
  ])('that refuses with %i and a page of megabytes has not taken it', async (status, isRefusal) => {
    await using server = await listen((response) => response.writeHead(status).end(Buffer.alloc(5_000_000, 'x')));
    expect(await to(webhook(server.origin))).toMatchObject({ ok: false, isRefusal, mayHaveArrived: false });
  });

  test.each([
    ['never ends', (): void => undefined],
    ['breaks off', (response: ServerResponse): void => void response.socket?.resetAndDestroy()],
  ])('that takes the message with an answer that %s has taken it', async (_, end) => {
    await using server = await listen((response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('partial', () => end(response));
    });
    expect(await to(webhook(server.origin, { timeoutMs: 500 }))).toEqual({ ok: true, answer: 'answered 200' });
  });

  test('with an untrusted certificate gets nothing, whatever the environment says', async () => {
    using _ = certificatesUnchecked();
    let requests = 0;
    const server = createTlsServer(selfSigned, (_, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const sent = await to(webhook(`https://127.0.0.1:${port}`));
    server.close();
    expect(sent).toMatchObject({ ok: false, mayHaveArrived: false });
    expect(JSON.stringify(sent)).toMatch(/certificate/);
    expect(requests).toBe(0);
  });
});

test.each<[Partial<Envelope>, string, number]>([
  [{ type: 'needs_you', level: 'warn' }, 'warning', 4],
  [{ type: 'folder_away', level: 'warn' }, 'warning', 4],
  [{ type: 'live', level: 'info' }, 'success', 2],
  [{ type: 'recovered', level: 'info' }, 'success', 3],
  [{ type: 'daily', level: 'info' }, 'info', 2],
  [{ type: 'daily', level: 'warn' }, 'warning', 4],
  [{ type: 'test', level: 'info' }, 'info', 3],
  [{ type: 'digest', level: 'info' }, 'info', 3],
])('%j is %s to a webhook, and of priority %i to ntfy', async (more, type, priority) => {
  await using server = await listen();
  await to(webhook(server.origin), more);
  await to({ type: 'ntfy', url: server.origin, topic: secret('t'), token: null, priority: 'auto' }, more);
  const [hook, push] = server.requests;
  expect(JSON.parse(hook?.body ?? '')).toMatchObject({ type, event: more.type });
  expect(JSON.parse(push?.body ?? '')).toMatchObject({ priority });
  expect(push?.headers.authorization).toBeUndefined();
});

test('a server answer that repeats topic, token or address is reported without them', async () => {
  await using server = await listen((response, { headers, body, url }) =>
    response.writeHead(500).end(`${headers.authorization} ${body} ${url}`),
  );
  const topic = secret('topic-of-station');
  const push = await to({ type: 'ntfy', url: server.origin, topic, token: hidden, priority: 'auto' });
  const url = secret(`${server.origin}/very-secret-ping`);
  const beaten = await beat({ type: 'heartbeat', name: 'h', url, everyMs: 1, fail: '/fail', timeoutMs: 5_000 }, true, {
    timeoutMs: 5_000,
    signal: never,
  });
  expect(push).toMatchObject({ ok: false, why: expect.stringContaining('[secret]') as string });
  expect(JSON.stringify([push, beaten])).not.toMatch(/topic-of-station|tk_very_secret|127.0.0.1:\d+\/very/);
});

test('ntfy gets topic, title, text and priority', async () => {
  await using server = await listen();
  const target = { type: 'ntfy', url: server.origin, topic: secret('station'), token: hidden, priority: 'auto' };
  expect(await to(target)).toMatchObject({ ok: true });
  await to({ ...target, priority: 'min' }, { body: '', isRepeat: true });
  expect(
    server.requests.map(({ url, headers, body }) => [url, headers.authorization, JSON.parse(body) as unknown]),
  ).toEqual([
    [
      '/',
      'Bearer tk_very_secret',
      {
        topic: 'station',
        title: message.title,
        message: `${message.body}\ndropcast on ingest1`,
        markdown: false,
        priority: 4,
      },
    ],
    [
      '/',
      'Bearer tk_very_secret',
      {
        topic: 'station',
        title: `${message.title} (may be a repeat)`,
        message: `${message.title}\ndropcast on ingest1`,
        markdown: false,
        priority: 1,
      },
    ],
  ]);
});

describe('a name or a message from outside', () => {
  const hostile = [
    '@everyone and @here.mp4',
    '<!channel> <@U1> <#C1> <https://evil.example|invoice>.mp4',
    '<img src=x onerror=alert(1)></a><?xml>.mp4',
    '[invoice](https://evil.example) ![x](javascript:alert(1)) [y][z].mp4',
    '[z]: https://evil.example',
  ];

  test.each(hostile)('mentions no one, links nowhere and is no HTML in a chat: %s', async (title) => {
    await using server = await listen();
    await using scratch = await scratchDirectory();
    const written = scratch.file('json');
    await to(webhook(server.origin), { title, body: title });
    await to({ type: 'command', argv: ['/bin/sh', '-c', `cat > '${written}'`] }, { title, body: title });
    for (const json of [server.requests[0]?.body ?? '', await readFile(written, 'utf8')]) {
      const sent = JSON.parse(json) as { title: string; body: string };
      for (const text of [sent.title, sent.body]) {
        expect(text).not.toMatch(/@\w|<[\w!@#/?]|\][([:]/);
        expect(text.replaceAll('\u200B', '')).toContain(title);
      }
    }
  });

  test.each(hostile)('is plain text for ntfy: %s', async (title) => {
    await using server = await listen();
    await to({ type: 'ntfy', url: server.origin, topic: secret('t'), token: null, priority: 'auto' }, { title });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ title, markdown: false });
  });

  test.each(['a < b, 5 [m] (x) and you @ noon.mp4', 'ü@.mp4', 'f(x)[1] <3'])('stays as it is: %s', async (title) => {
    await using server = await listen();
    await to(webhook(server.origin), { title });
    expect(JSON.parse(server.requests[0]?.body ?? '')).toMatchObject({ title });
  });
});

/** Answers each verb until the one at which it only sends a byte now and then. */
async function stallingMailServer(stallsAt: string | null) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    const drip = (): void => {
      const timer = setInterval(() => socket.write('2'), 50);
      socket.on('close', () => clearInterval(timer));
    };
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let isText = false;
    let rest = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (isText && line !== '.') continue;
        const [verb = ''] = line.split(' ');
        if (verb === stallsAt) return drip();
        isText = verb === 'DATA';
        socket.write(answers[verb] ?? '250 ok\r\n');
      }
    });
    if (stallsAt === null) drip();
    else socket.write('220 hello\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { port, open: () => sockets.size, [Symbol.asyncDispose]: close };
}

const answers: Readonly<Record<string, string>> = {
  EHLO: '250-hello\r\n250 AUTH PLAIN\r\n',
  AUTH: '235 in\r\n',
  DATA: '354 go on\r\n',
};

/** Unfolded and decoded (RFC 2047). */
function subjectOf(mail: string): string {
  const folded = /^Subject: (.*(?:\r\n[ \t].*)*)/m.exec(mail)?.[1] ?? '';
  const joined = folded.replaceAll('\r\n', '').replaceAll(/\?=\s+=\?/g, '?==?');
  return joined.replaceAll(/=\?utf-8\?Q\?(.*?)\?=/gi, (_, text: string) =>
    Buffer.from(
      text
        .replaceAll('_', ' ')
        .replaceAll(/=(..)/g, (__, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
      'latin1',
    ).toString(),
  );
}

describe('e-mail', () => {
  async function mailServer(options: SMTPServerOptions = {}) {
    const mails: { from: string; to: string[]; text: string; user: unknown }[] = [];
    const server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _, done) =>
        password === hidden.reveal() ? done(null, { user: username }) : done(new Error('no such user')),
      onData: (stream, { envelope, user }, done) => {
        stream.once('end', () => done());
        void text(stream).then((content) => {
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
          mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), text: content, user });
        });
      },
      ...options,
    });
    server.on('error', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.server.address() as AddressInfo;
    return { mails, port, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
  }
  const email = (port: number, more = {}): object => ({
    type: 'email',
    smtp: { host: '127.0.0.1', port, security: 'plain' },
    user: 'u',
    password: hidden,
    from: 'dropcast@example.com',
    to: ['a@example.com', 'b@example.com'],
    ...more,
  });

  test('goes to all recipients, with login', async () => {
    await using server = await mailServer();
    expect(await to(email(server.port), { title: 'Größe\r\nBcc: x@evil.example' })).toMatchObject({ ok: true });
    const [mail] = server.mails;
    expect(mail).toMatchObject({ from: 'dropcast@example.com', to: ['a@example.com', 'b@example.com'], user: 'u' });
    expect(mail?.text).toMatch(/^Message-ID: <l-1@dropcast>/im);
    expect(mail?.text).toMatch(/^Auto-Submitted: auto-generated/m);
    expect(mail?.text).not.toMatch(/^Bcc:/im);
  });

  test('says what the server answered, and no password', async () => {
    await using server = await mailServer({ authOptional: false });
    const sent = await to(email(server.port, { password: secret('wrong-password') }));
    expect(sent).toMatchObject({ ok: false, isRefusal: false });
    expect(JSON.stringify(sent)).toMatch(/535/);
    expect(JSON.stringify(sent)).not.toMatch(/wrong-password|very_secret/);
  });

  test('that the server refuses for its content is not sent for ever', async () => {
    await using server = await mailServer({
      onData: (stream, _, done) => {
        stream.resume();
        stream.on('end', () => done(Object.assign(new Error('spam'), { responseCode: 554 })));
      },
    });
    expect(await to(email(server.port))).toMatchObject({ ok: false, isRefusal: true });
  });

  test('does not go out in plain text where TLS is expected', async () => {
    await using server = await mailServer();
    const sent = await to(email(server.port, { smtp: { host: '127.0.0.1', port: server.port, security: 'starttls' } }));
    expect(sent).toMatchObject({ ok: false });
    expect(server.mails).toEqual([]);
  });

  const tls = { ...selfSigned, authOptional: true };
  const security = { tls: { ...tls, secure: true }, starttls: { ...tls, disabledCommands: [] as string[] } } as const;
  describe.each(['tls', 'starttls'] as const)('with %s', (kind) => {
    test('arrives at a server whose certificate is trusted, with login', async () => {
      using _ = certificateTrusted();
      await using server = await mailServer({ ...security[kind], authOptional: false, allowInsecureAuth: false });
      const smtp = { host: '127.0.0.1', port: server.port, security: kind };
      expect(await to(email(server.port, { smtp }))).toMatchObject({ ok: true });
      expect(server.mails).toMatchObject([{ user: 'u' }]);
    });

    test('gets nothing, not even the password, when its certificate is untrusted, whatever the environment says', async () => {
      using _ = certificatesUnchecked();
      let logins = 0;
      const onAuth: SMTPServerOptions['onAuth'] = (_auth, _session, done) => {
        logins += 1;
        done(null, { user: 'u' });
      };
      await using server = await mailServer({ ...security[kind], onAuth });
      const smtp = { host: '127.0.0.1', port: server.port, security: kind };
      expect(await to(email(server.port, { smtp }))).toMatchObject({ ok: false, isRefusal: false });
      expect([logins, server.mails]).toEqual([0, []]);
    });
  });

  test('says what it is about, that no one should reply, when it may be a repeat and when it has no text', async () => {
    await using server = await mailServer();
    await to(email(server.port), { body: '', isRepeat: true });
    const [mail] = server.mails;
    expect(subjectOf(mail?.text ?? '')).toBe('[dropcast ingest1] 7 files need you: Größe');
    expect(mail?.text).toMatch(/7 files need you: Gr=C3=B6=C3=9Fe/);
    expect(mail?.text).toMatch(/may be a repeat/);
    await to(email(server.port, { user: null, password: null }));
    expect(server.mails[1]).toMatchObject({ user: undefined });
    expect(server.mails[1]?.text).not.toMatch(/may be a repeat/);
  });

  test.each([
    'x\r\nBcc: evil@example.com.mp4',
    'x\nContent-Type: text/html\n\n<img src=x>.mp4',
    '=?utf-8?Q?x?=\r\n\r\n<b>.mp4',
  ])('has one subject and no header or HTML from a title: %j', async (title) => {
    await using server = await mailServer();
    expect(await to(email(server.port), { title, body: title })).toMatchObject({ ok: true });
    const [mail] = server.mails;
    const head = (mail?.text ?? '').split('\r\n\r\n')[0] ?? '';
    expect(head.match(/^[\w-]+(?=:)/gm)?.toSorted()).toEqual(
      [
        'Auto-Submitted',
        'From',
        'To',
        'Subject',
        'Message-ID',
        'Content-Transfer-Encoding',
        'Date',
        'MIME-Version',
        'Content-Type',
      ].toSorted(),
    );
    expect(head).toMatch(/^Content-Type: text\/plain; charset=utf-8$/m);
    expect(mail?.to).toEqual(['a@example.com', 'b@example.com']);
  });

  test.each(['=?utf-8?Q?paid?=.mp4', '=?utf-8?Q?=E2=80=AE4pm?= x.mp4', 'a =?UTF-8?Q?one?= =?utf-8?Q?two?= needs you'])(
    'shows an encoded word in a name as its letters: %s',
    async (title) => {
      await using server = await mailServer();
      await to(email(server.port), { title });
      const subject = subjectOf(server.mails[0]?.text ?? '');
      expect(subject.replaceAll('\u200B', '')).toBe(`[dropcast ingest1] ${title}`);
    },
  );

  test.each([
    ['RCPT', 550, false],
    ['DATA', 554, true],
    ['DATA', 451, false],
  ])('that is refused at %s with %i: sent again until then: %s', async (command, responseCode, isRefusal) => {
    const refuse = Object.assign(new Error('no'), { responseCode });
    await using server = await mailServer(
      command === 'RCPT'
        ? { onRcptTo: (_address, _session, done) => done(refuse) }
        : { onData: (stream, _session, done) => void stream.resume().on('end', () => done(refuse)) },
    );
    const sent = await to(email(server.port));
    expect(sent).toMatchObject({ ok: false, isRefusal, mayHaveArrived: false });
    expect(JSON.stringify(sent)).toContain(`127.0.0.1:${server.port} answered ${responseCode}`);
  });

  test.each([
    ['nobody listens', '127.0.0.1', 1, 'nothing listens there|no connection'],
    ['the host is unknown', 'mail.invalid', 25, 'no host has this name|no connection'],
  ])('when %s, says so', async (_, host, port, words) => {
    const sent = await to(email(port, { smtp: { host, port, security: 'plain' } }));
    expect(sent).toMatchObject({ ok: false, mayHaveArrived: false, isRefusal: false });
    expect(JSON.stringify(sent)).toMatch(new RegExp(words));
  });

  test('is left at once when dropcast stops, before and while it is sent', async () => {
    await using server = await stallingMailServer('MAIL');
    expect(await to(email(server.port), {}, AbortSignal.abort())).toMatchObject({ ok: false, mayHaveArrived: true });
    const stop = new AbortController();
    const sending = to(email(server.port, { timeoutMs: 300_000 }), {}, stop.signal);
    await eventually('it alone is connected', () => expect(server.open()).toBe(1));
    stop.abort();
    expect(await sending).toMatchObject({ ok: false, why: 'dropcast was stopped', mayHaveArrived: true });
    await until('the connection is closed', () => server.open() === 0);
  });

  test.each([
    ['its greeting', null],
    ['EHLO', 'EHLO'],
    ['AUTH', 'AUTH'],
    ['MAIL', 'MAIL'],
    ['RCPT', 'RCPT'],
    ['DATA', 'DATA'],
    ['the text', '.'],
  ])('to a server that stalls at %s ends in time, and leaves no connection', async (_, stallsAt) => {
    await using server = await stallingMailServer(stallsAt);
    // On a busy machine, the time may be over before it is connected: then nothing can have arrived.
    expect(await to(email(server.port, { timeoutMs: 300 }))).toMatchObject({ ok: false });
    await until('the connection is closed', () => server.open() === 0);
  });
});

describe('a command', () => {
  async function script(lines: string) {
    const scratch = await scratchDirectory();
    const path = scratch.file('tell');
    await writeFile(path, `#!/bin/sh\n${lines}\n`);
    await chmod(path, 0o755);
    return { ...scratch, path };
  }

  test('gets arguments as they are, the message as JSON, and no key', async () => {
    await using here = await script('cat > "$1.json"; env > "$1.env"; echo "$2" > "$1.arg"');
    const out = here.path;
    expect(await to({ type: 'command', argv: [here.path, out, '$(id); "x"'] })).toEqual({
      ok: true,
      answer: 'exited with 0',
    });
    expect(JSON.parse(await readFile(`${out}.json`, 'utf8'))).toMatchObject({
      title: message.title,
      event: 'needs_you',
    });
    expect(await readFile(`${out}.env`, 'utf8')).not.toContain('DROPCAST');
    expect(await readFile(`${out}.arg`, 'utf8')).toBe('$(id); "x"\n');
  });

  test('that fails says why', async () => {
    await using here = await script('echo "no route" >&2; exit 3');
    expect(await to({ type: 'command', argv: [here.path] })).toMatchObject({
      ok: false,
      why: 'exited with 3: no route',
    });
    expect(await to({ type: 'command', argv: [`${here.path}-not-there`] })).toMatchObject({
      ok: false,
      why: expect.stringContaining('ENOENT') as string,
    });
  });

  test('that fails with pages of text costs no memory, and one line of it is reported; what it writes elsewhere is not read', async () => {
    await using here = await script('head -c 5000000 /dev/zero | tr "\\0" x >&2; head -c 5000000 /dev/zero; exit 1');
    const sent = await to({ type: 'command', argv: [here.path] });
    expect(sent).toMatchObject({ ok: false, mayHaveArrived: false, isRefusal: false });
    expect(sent.ok ? '' : sent.why.length).toBeLessThan(250);
  });

  test('that ends by a signal says so; one that does not read its input has taken the message', async () => {
    await using killed = await script('kill -TERM $$');
    expect(await to({ type: 'command', argv: [killed.path] })).toMatchObject({
      ok: false,
      why: 'was terminated by SIGTERM',
    });
    await using deaf = await script('exec <&-; exit 0');
    expect(await to({ type: 'command', argv: [deaf.path] }, { body: 'x'.repeat(1_000_000) })).toMatchObject({
      ok: true,
    });
  });

  test('that leaves a program behind is done when it exits itself', async () => {
    await using here = await script('sleep 600 & echo $! > "$1"');
    const pid = `${here.path}.pid`;
    expect(await to({ type: 'command', argv: [here.path, pid], timeoutMs: 60_000 })).toMatchObject({ ok: true });
    process.kill(Number(await readFile(pid, 'utf8')), 'SIGKILL');
  });

  test('is not let run when dropcast stops', async () => {
    await using here = await script('sleep 600; touch "$1"');
    const stop = new AbortController();
    const sending = to({ type: 'command', argv: [here.path], timeoutMs: 300_000 }, {}, stop.signal);
    stop.abort();
    expect(await sending).toMatchObject({ ok: false, why: 'dropcast was stopped', mayHaveArrived: true });
    const stopped = await to({ type: 'command', argv: [here.path] }, {}, AbortSignal.abort());
    expect(stopped).toMatchObject({ ok: false, mayHaveArrived: true });
  });

  test('that is not executable says how the service may run it', async () => {
    await using here = await script('exit 0');
    await chmod(here.path, 0o644);
    expect(await to({ type: 'command', argv: [here.path] })).toMatchObject({
      ok: false,
      why: 'cannot be started (EACCES): not executable; in the service, run `sudo dropcast setup`',
    });
  });

  test('that hangs is ended, with all that it started', async () => {
    await using here = await script('echo $$ > "$1"; sleep 600 & echo $! > "$1.child"; wait');
    const pids = `${here.path}.pid`;
    expect(await to({ type: 'command', argv: [here.path, pids], timeoutMs: 500 })).toMatchObject({
      ok: false,
      mayHaveArrived: true,
    });
    const child = Number(await readFile(`${pids}.child`, 'utf8'));
    await until('its child is gone', async () => {
      const stat = await readFile(`/proc/${child}/stat`, 'utf8').catch(() => null);
      return stat === null || / Z /.test(stat);
    });
  });
});

describe('a heartbeat', () => {
  test('asks its address while all is well, and the other one when not', async () => {
    await using server = await listen();
    const target = {
      type: 'heartbeat',
      name: 'h',
      everyMs: 1,
      timeoutMs: 5_000,
      url: secret(`${server.origin}/ping/uuid?a=1`),
      fail: '/fail',
    } as const;
    const attempt = { timeoutMs: 5_000, signal: never };
    expect(await beat(target, true, attempt)).toMatchObject({ ok: true });
    expect(await beat(target, false, attempt)).toMatchObject({ ok: true });
    expect(await beat({ ...target, fail: null }, false, attempt)).toBe(null);
    expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /ping/uuid?a=1',
      'GET /ping/uuid/fail?a=1',
    ]);
  });

  test.each([
    ['https://hc-ping.com/uuid', '/fail', 'https://hc-ping.com/uuid/fail'],
    ['https://hc-ping.com/uuid/', '/fail', 'https://hc-ping.com/uuid/fail'],
    ['https://kuma.example/api/push/T?status=up&msg=OK', '?status=down', 'https://kuma.example/api/push/T?status=down'],
  ])('%s with %s', (url, fail, address) => {
    expect(failAddress(url, fail)).toBe(address);
  });
});

test('the place of a target shows no secret', () => {
  const of = (target: object): string => placeOf({ ...common, ...target } as unknown as MessageTarget);
  expect(of(webhook('https://hooks.example.com'))).toBe('https://hooks.example.com/…');
  expect(of({ type: 'ntfy', url: 'https://ntfy.sh', topic: hidden })).toBe('https://ntfy.sh/…');
  expect(of({ type: 'command', argv: ['/usr/bin/tell', '--token=very'] })).toBe('/usr/bin/tell');
  const smtp = { host: 'mail.example.com', port: 465, security: 'tls' };
  expect(of({ type: 'email', smtp, to: ['a@example.com', 'b@example.com'] })).toBe(
    'a@example.com, b@example.com via mail.example.com:465',
  );
});
