import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratch, type Scratch } from './scratch.ts';

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
});
afterAll(() => here[Symbol.asyncDispose]());

const env = { KEY: 'abc', TOKEN: 'tk_secret' };

const text = (uploads: string): string => `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders: [{ path: inbox, rules: [{ match: "**", channel: c }] }]
uploads: ${uploads}
`;

describe('uploads.headers and uploads.content_type', () => {
  it('take plain values, and secrets that nothing shows', async () => {
    const { config, problems } = await here.load(
      text('{ headers: { x-ms-blob-type: BlockBlob, X-Auth-Token: !env TOKEN }, content_type: "video/mp4; x=1" }'),
      env,
    );
    expect(problems).toEqual([]);
    const { headers = {}, contentType } = config?.uploads ?? {};
    const revealed = Object.entries(headers).map(([name, value]) => [name, value.reveal()]);
    expect(Object.fromEntries(revealed)).toEqual({ 'x-ms-blob-type': 'BlockBlob', 'X-Auth-Token': 'tk_secret' });
    expect(contentType).toBe('video/mp4; x=1');
    expect(`${JSON.stringify(config)} ${inspect(config, { depth: 20 })}`).not.toContain('tk_secret');
  });

  it.each(['auto', 'none'])('content_type may be %s', async (value) => {
    expect((await here.load(text(`{ content_type: ${value} }`), env)).config?.uploads.contentType).toBe(value);
  });

  it.each([
    ['{ headers: { Host: a } }', 'no upload may carry this header'],
    ['{ headers: { Content-Length: a } }', 'no upload may carry this header'],
    ['{ headers: { Proxy-Authorization: a } }', 'no upload may carry this header'],
    ['{ headers: { "two words": a } }', 'not the name of a header'],
    [`{ headers: { ${'x'.repeat(101)}: a } }`, 'must not be longer than 100 characters'],
    ['{ headers: { x-site: "grün" } }', 'contains a character that no header may have'],
    ['{ headers: { x-site: !env NOT_SET } }', 'the environment variable NOT_SET is not set'],
    ['{ content_type: video }', 'not a media type'],
    ['{ content_type: "video/mp4\\nx: y" }', 'not a media type'],
    ['{ content_type: 7 }', 'auto, none, or a media type'],
  ])('%s is refused', async (uploads, message) => {
    const { problems } = await here.load(text(uploads), env);
    expect(problems.map((problem) => problem.message).join()).toContain(message);
  });
});
