import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { selfSigned } from '../client/certificate.ts';
import { expectProblems, scratch, type Scratch } from './scratch.ts';

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
  await here.write('ca.pem', selfSigned.cert);
});
afterAll(() => here[Symbol.asyncDispose]());

const env = { KEY: 'abc' };

const text = (tls: string): string => `service: { base_url: https://video.example.com/v1, api_key: !env KEY }
folders: [{ path: inbox, rules: [{ match: "**", channel: c }] }]
${tls}
`;

describe('tls.ca', () => {
  it.each([
    ['', {}],
    ['tls: {}', {}],
    ['tls: { ca: {} }', {}],
    ['tls: { ca: ca.pem }', { '*': selfSigned.cert }],
    [
      'tls: { ca: { Video.example.com: ca.pem, "*.up.example.com": ./ca.pem, 10.0.0.7: ca.pem, "fd00::7": ca.pem } }',
      {
        'video.example.com': selfSigned.cert,
        '*.up.example.com': selfSigned.cert,
        '10.0.0.7': selfSigned.cert,
        'fd00::7': selfSigned.cert,
      },
    ],
  ])('%s is read', async (line, authorities) => {
    const { config, problems, paths } = await here.load(text(line), env);
    expect(problems).toEqual([]);
    expect(config?.service.authorities).toEqual(authorities);
    expect(new Set(paths?.secretFiles)).toEqual(new Set(line.includes('pem') ? [here.file('ca.pem')] : []));
  });

  it.each([
    ['tls: { ca: nowhere.pem }', '3:12 tls.ca ~ cannot read the certificates ~ nowhere.pem'],
    ['tls: { ca: { a.example.com: nowhere.pem } }', '3:29 tls.ca["a.example.com"] ~ nowhere.pem'],
    ['tls: { ca: dropcast.yaml }', '3:12 tls.ca ~ no certificate'],
    ['tls: { ca: { "https://a.example.com": ca.pem } }', '3:14 tls.ca["https://a.example.com"] ~ write only its name'],
    ['tls: { ca: { "a.example.com:443": ca.pem } }', '3:14 tls.ca["a.example.com:443"] ~ write only its name'],
    ['tls: { ca: { "up*.example.com": ca.pem } }', '3:14 tls.ca["up*.example.com"] ~ write only its name'],
    ['tls: { ca: !file ca.pem }', '3:18 tls.ca ~ !file works only for'],
    ['tls: { cas: ca.pem }', '3:8 tls.cas ~ "ca"'],
  ])('%s is refused', async (line, problem) => {
    expectProblems(await here.problems(text(line), env), [problem]);
  });

  it('is shown in config.example.yaml as it may be written', async () => {
    const shipped = await readFile(resolve(import.meta.dirname, '../../config.example.yaml'), 'utf8');
    const shown = [...shipped.matchAll(/^# tls:.*\n(?:# {3}.*\n)*/gm)].map(([lines]) => lines.replaceAll(/^# /gm, ''));
    expect(shown).toHaveLength(2);
    for (const lines of shown)
      expect(await here.problems(text(lines.replaceAll(/\/etc\/[\w./]+/g, 'ca.pem')), env)).toEqual([]);
  });
});
