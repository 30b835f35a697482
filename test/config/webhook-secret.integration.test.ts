import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectProblems, scratch, type Scratch } from './scratch.ts';

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
});
afterAll(() => here[Symbol.asyncDispose]());

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const env = { KEY: 'abc', SECRET };

const text = (secret: string, status = '') => `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
  ${secret}
folders: [{ path: inbox, rules: [{ match: "**", channel: c }] }]
${status}
`;

const problems = (...config: Parameters<typeof text>) => here.problems(text(...config), env);

describe('service.webhook_secret', () => {
  it('is found like the key, and shown nowhere', async () => {
    const { config } = await here.load(text('webhook_secret: !env SECRET'), env);
    expect(config?.service.webhooks).toMatchObject({ scheme: 'standard', header: null });
    expect(config?.service.webhooks?.secret.reveal()).toBe(SECRET);
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain('MfKQ9');
  });

  it.each(['', 'webhook_secret: off'])('may be left out: %j', async (line) => {
    const { config, problems } = await here.load(text(line), env);
    expect([config?.service.webhooks, problems]).toEqual([null, []]);
  });

  it.each([
    ['webhook_secret: !env NOT_SET', 'NOT_SET'],
    ['webhook_secret: !env KEY', 'whsec_'],
    ['webhook_secret: whsec_', 'whsec_'],
    ['webhook_secret: [a]', 'quotes'],
    ['webhook_secret:', '!env NAME'],
  ])('refuses %s', async (line, fact) => {
    const [problem = '', ...others] = await problems(line);
    expect(problem).toMatch(/^4:\d+ service\.webhook_secret: /);
    expect(problem).toContain(fact);
    expect(others).toEqual([]);
  });

  it('is worth a warning while nothing listens', async () => {
    expectProblems(await problems('webhook_secret: !env SECRET', 'status: { listen: off }'), [
      '4:24 service.webhook_secret ~ warning ~ status.listen',
    ]);
    expect(await problems('webhook_secret: off', 'status: { listen: off }')).toEqual([]);
  });
});

describe('service.webhook_scheme', () => {
  const lines = (...more: readonly string[]) => ['webhook_secret: !env SECRET', ...more].join('\n  ');
  const words = 'ein Geheimnis für alle';

  it.each(['hmac-hex', 'timestamped'])('%s takes any secret of 16 to 500 characters', async (scheme) => {
    const line = lines(`webhook_scheme: ${scheme}`, 'webhook_header: X-BunnyStream-Signature');
    for (const given of [SECRET, words, 'x'.repeat(16), 'x'.repeat(500)]) {
      const { config, problems } = await here.load(text(line), { ...env, SECRET: given });
      expect(problems).toEqual([]);
      expect(config?.service.webhooks).toMatchObject({ scheme, header: 'X-BunnyStream-Signature' });
      expect(config?.service.webhooks?.secret.reveal()).toBe(given);
    }
    for (const given of ['x'.repeat(15), 'x'.repeat(501)])
      expectProblems(await here.problems(text(line), { ...env, SECRET: given }), [
        '4:24 service.webhook_secret ~ 16 to 500 characters',
      ]);
  });

  it('is named where the secret is of another form than the standard one', async () => {
    expectProblems(await here.problems(text(lines()), { ...env, SECRET: 'a'.repeat(32) }), [
      '4:24 service.webhook_secret ~ webhook_scheme',
    ]);
  });

  it.each([
    ['webhook_scheme: sha1', '5:19 service.webhook_scheme ~ standard, hmac-hex or timestamped'],
    ['webhook_header: X-Signature', '5:19 service.webhook_header ~ warning ~ no effect'],
    ['webhook_scheme: hmac-hex\n  webhook_header: "X Signature"', '6:19 service.webhook_header ~ name of a header'],
  ])('%j is a problem', async (line, problem) => {
    expectProblems(await problems(lines(line)), [problem]);
  });

  it('is worth a warning without a secret, unless it is the default', async () => {
    expect((await problems('webhook_scheme: hmac-hex')).join()).toContain('without service.webhook_secret');
    expect(await problems('webhook_scheme: standard')).toEqual([]);
  });
});
