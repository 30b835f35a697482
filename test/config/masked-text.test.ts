import { describe, expect, test } from 'vitest';
import { maskedText } from '../../src/config/masked-text.ts';

const secret = 'sk_live_PLANTED0001';
const yamlEscaped = Buffer.from(secret)
  .toString('hex')
  .replaceAll(/../g, String.raw`\x$&`);

/** Ways to write a key. */
const written: readonly (readonly [name: string, text: string])[] = [
  ['plain', `service: { api_key: ${secret} }\n`],
  ['in double quotes', `service:\n  api_key: "${secret}" # the key\n`],
  ['in single quotes', `service:\n  api_key: '${secret}'\n`],
  ['with escapes', `service:\n  api_key: "${yamlEscaped}"\n`],
  ['over two lines in quotes', `service:\n  api_key: "sk_live_PLANT\\\n    ED0001"\n`],
  ['as a block', `service:\n  api_key: |\n    ${secret}\n  base_url: https://a.example/v1\n`],
  ['as a block that strips', `service:\n  api_key: |-\n\n    ${secret}\n`],
  ['folded', `service:\n  api_key: >-\n    ${secret}\n    more\n`],
  ['behind an anchor', `x: &k ${secret}\nservice: { api_key: *k }\n`],
  ['in an anchored mapping', `x: &k { a: ${secret} }\nservice: { api_key: *k }\n`],
  ['with a quoted key', `"service": { "api_key": "${secret}" }\n`],
  ['as a key with a question mark', `service:\n  ? api_key\n  : ${secret}\n`],
  ['under a misspelt key', `service: { api_kee: ${secret} }\n`],
  ['as a list', `service:\n  api_key:\n    - ${secret}\n`],
  ['in a header', `notify: [{ type: webhook, headers: { X-Custom: ${secret} } }]\n`],
  ['in a command', `notify: [{ type: command, command: [/usr/bin/curl, -H, "X: ${secret}"] }]\n`],
  ['as the topic of ntfy', `notify: [{ type: ntfy, topic: ${secret} }]\n`],
  ['in the path of an address', `notify: [{ type: webhook, url: "https://hooks.example.com/${secret}" }]\n`],
  ['in the query of an address', `service: { base_url: "https://a.example/v1?k=${secret}" }\n`],
  ['as the user of an address', `service: { base_url: "https://${secret}@a.example/v1" }\n`],
  ['as the password of an address', `service: { base_url: "https://u:${secret}@a.example/v1" }\n`],
  ['as a password with an @', `service: { base_url: "https://u:p@${secret}@a.example/v1" }\n`],
  ['as a password with a slash', `service: { base_url: "https://u:p/${secret}@a.example/v1" }\n`],
  ['as a password with a question mark', `service: { base_url: "https://u:${secret}?p@a.example/v1" }\n`],
  ['as the password of an address without https', `service: { base_url: "u:${secret}@a.example/v1" }\n`],
  ['as the password of another address', `sandbox: { at: "https://u:p@${secret}@a.example/v1" }\n`],
  ['in the path of the service', `service: { base_url: "https://a.example/v1/${secret}/x" }\n`],
  ['in a comment', `# was ${secret}\nservice: {}\n`],
  ['in a comment behind a value', `service: {} # api_key=${secret}\n`],
  ['as an address in a comment', `# see https://hooks.example.com/${secret}\nservice: {}\n`],
  ['where a name belongs', `service: { api_key: !env ${secret} }\n`],
  ['as the name of a file', `service: { api_key: !file ${secret} }\n`],
  ['in a text that is no YAML', `service: { api_key: ${secret}\n  "folders: [\n`],
  ['in a block of a text that is no YAML', `a: b: c\nservice:\n  api_key: |\n    ${secret}\n  x: {\n`],
  ['with tabs', `service:\n\tapi_key: ${secret}\n`],
];

describe.each([
  ['\n', 'Unix'],
  ['\r\n', 'Windows'],
])('with line ends %j of %s', (end) => {
  test.each(written)('a secret %s is hidden', (_, text) => {
    const masked = maskedText(text.replaceAll('\n', end));
    expect(masked.text).not.toContain('PLANT');
    expect(masked.text).not.toContain(yamlEscaped);
    expect(masked.text).toContain('[redacted]');
  });
});

test('hidden values are returned as the parser reads them, so that they are found elsewhere', () => {
  for (const name of [
    'with escapes',
    'over two lines in quotes',
    'as a block',
    'behind an anchor',
    'as the password of an address',
    'in the path of the service',
  ])
    expect(maskedText(written.find(([each]) => each === name)?.[1] ?? '').secrets, name).toContain(secret);
  expect(maskedText('service: { base_url: "https://u:p%40ss-word@a.example" }').secrets).toContain('p@ss-word');
  expect(maskedText('service: { base_url: "https://u:p@ss-word@a.example" }').secrets).toContain('p@ss-word');
});

test('what is no secret stays as it is written, with comments and line numbers', () => {
  const text = `# all of it
service:
  base_url: https://video-2026-eu-west.example.com/v1 # the service
  api_key: !credential api_key
  webhook_secret: !env WEBHOOK_SECRET
folders:
  - path: /srv/media/inbox
    done_marker: "{name}.done"
    rules: [{ match: "evening-news-2026/**", channel: ch_main, publish: [feed_news] }]
status: { listen: 127.0.0.1:7878 }
`;
  expect(maskedText(text)).toEqual({ text, secrets: [] });
});

test('a text that is hostile to parsers is hidden or kept, and never an error', () => {
  for (const text of [
    '',
    '\0',
    '*nowhere',
    'a: *b',
    '[[[['.repeat(5_000),
    '{a: '.repeat(2_000),
    '\uFEFFa: 1',
    '---\na: 1\n---\napi_key: abcdefgh\n',
  ])
    expect(maskedText(text).text).not.toContain('abcdefgh');
  expect(maskedText('x'.repeat(1024 * 1024 + 1)).text).toContain('[redacted]');
});
