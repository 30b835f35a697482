import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch, type Scratch } from './scratch.ts';

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

const problems = async (...config: Parameters<typeof text>) =>
  (await here.problems(text(...config), env)).map((problem) => problem.replace('dropcast.yaml:', ''));

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
    ['webhook_secret: !env NOT_SET', 'the environment variable NOT_SET is not set; set it where dropcast starts'],
    ['webhook_secret: !env KEY', 'the environment variable KEY is not whsec_ and base64, as the service shows it'],
    ['webhook_secret: whsec_', 'the secret is not whsec_ and base64, as the service shows it'],
    ['webhook_secret: [a]', 'must be text; put it in quotes'],
    ['webhook_secret:', 'empty; write !env NAME, !file PATH or !credential NAME'],
  ])('refuses %s', async (line, message) => {
    expect(await problems(line)).toEqual([expect.stringMatching(/^4:\d+ service\.webhook_secret: /)]);
    expect((await problems(line))[0]).toContain(message);
  });

  it('is worth a warning while nothing listens', async () => {
    expect(await problems('webhook_secret: !env SECRET', 'status: { listen: off }')).toEqual([
      '4:24 service.webhook_secret: warning: has no use while status.listen is off: webhooks arrive where the status page is',
    ]);
    expect(await problems('webhook_secret: off', 'status: { listen: off }')).toEqual([]);
  });
});
