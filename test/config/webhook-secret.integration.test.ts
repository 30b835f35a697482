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
    expect(config?.service.webhookSecret?.reveal()).toBe(SECRET);
    expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain('MfKQ9');
  });

  it.each(['', 'webhook_secret: off'])('may be left out: %j', async (line) => {
    const { config, problems } = await here.load(text(line), env);
    expect([config?.service.webhookSecret, problems]).toEqual([null, []]);
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
