import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectProblems, scratch, type Scratch } from './scratch.ts';

/** The smallest configuration that is right. */
const LINES = [
  'service:',
  '  base_url: https://video.example.com/v1',
  '  api_key: !env KEY',
  'folders:',
  '  - path: inbox',
  '    rules:',
  '      - match: "**"',
  '        channel: ch_main',
];

/** Other text for some of its lines, by line from 1; null removes the line, line 9 comes after the last. */
type Edits = Readonly<Record<number, string | null>>;

const BROKEN: readonly (readonly [what: string, edits: Edits, problem: string])[] = [
  ['a key with a slip of the pen', { 8: '        chanel: ch_main' }, '8:9 folders[0].rules[0].chanel ~ "channel"'],
  ['a key of another place', { 9: 'concurrency: 8' }, '9:1 concurrency ~ uploads.concurrency'],
  [
    'an unknown key',
    { 9: 'frobnicate: yes' },
    '9:1 frobnicate ~ service, state_dir, tls, ledger, host_name, uploads, retry, poll, publish, folders, status, exports, notify, log',
  ],
  ['a key in camel case', { 2: '  baseUrl: https://video.example.com/v1' }, '2:3 service.baseUrl ~ "base_url"'],
  [
    'a key that a terminal would obey',
    { 9: '"evil\\u202Eyek": 1' },
    '9:1 ["evil\\u202eyek"] ~ service, state_dir, tls, ledger, host_name, uploads, retry, poll, publish, folders, status, exports, notify, log',
  ],
  [
    'a key named like the prototype',
    { 9: '__proto__: { a: 1 }' },
    '9:1 __proto__ ~ service, state_dir, tls, ledger, host_name, uploads, retry, poll, publish, folders, status, exports, notify, log',
  ],
  ['a merge key', { 9: 'uploads: { <<: { concurrency: 2 } }' }, '9:12 uploads["<<"] ~ merge'],
  [
    'a duplicate key',
    {
      5: `  - path: inbox
    path: outbox`,
    },
    '6:5 folders[0].path ~ duplicate ~ line 5',
  ],
  ['a missing service', { 1: null, 2: null, 3: null }, '1:1 service ~ missing'],
  ['a service that is a list', { 1: 'service: [a]', 2: null, 3: null }, '1:10 service ~ keys ~ a list'],
  ['a missing channel', { 8: null }, '7:9 folders[0].rules[0].channel ~ missing'],
  [
    'folders that are no list',
    { 4: 'folders: inbox', 5: null, 6: null, 7: null, 8: null },
    '4:10 folders ~ list ~ text',
  ],
  ['no folder at all', { 4: 'folders: []', 5: null, 6: null, 7: null, 8: null }, '4:10 folders ~ at least one folder'],
  ['a folder that is only a path', { 5: '  - inbox', 6: null, 7: null, 8: null }, '5:5 folders[0] ~ keys ~ text'],
  [
    'a rule list with nothing in it',
    { 6: '    rules: []', 7: null, 8: null },
    '6:12 folders[0].rules ~ at least one rule',
  ],
  [
    'a key with nothing after it',
    {
      5: `  - path: inbox
    exclude:`,
    },
    '6:5 folders[0].exclude ~ no value',
  ],
  [
    'text that YAML takes for a number',
    { 8: '        channel: 12' },
    '8:18 folders[0].rules[0].channel ~ text ~ number ~ quotes',
  ],
  [
    'a tag that YAML takes for a number',
    {
      8: `        channel: ch_main
        tags: [news, 2024]`,
    },
    '9:22 folders[0].rules[0].tags[1] ~ text ~ number ~ quotes',
  ],
  ['an identifier with a blank in it', { 8: '        channel: ch main' }, '8:18 folders[0].rules[0].channel ~ spaces'],
  [
    'a duration without a unit',
    {
      5: `  - path: inbox
    settle: 5`,
    },
    '6:13 folders[0].settle ~ 5s',
  ],
  [
    'a duration with an unknown unit',
    {
      5: `  - path: inbox
    settle: 5 parsecs`,
    },
    '6:13 folders[0].settle ~ 5s',
  ],
  [
    'a duration that a timer cannot hold',
    {
      5: `  - path: inbox
    rescan: 25d`,
    },
    '6:13 folders[0].rescan ~ too long ~ 24d',
  ],
  ['a duration that is too short', { 9: 'poll: { interval: 1ms }' }, '9:19 poll.interval ~ too short ~ 10ms'],
  ['a first pause longer than the last', { 9: 'retry: { first: 20m, max: 15m }' }, '9:17 retry.first ~ retry.max'],
  [
    'a poll that gives up before it asks',
    {
      9: `poll:
  interval: 10m
  give_up_after: 5m`,
    },
    '10:13 poll.interval ~ poll.give_up_after',
  ],
  ['a publish that waits longer than it may', { 9: 'publish: { quiet: 3m }' }, '9:19 publish.quiet ~ publish.at_most'],
  [
    'a bandwidth without a unit',
    { 9: 'uploads: { bandwidth: 20 }' },
    '9:23 uploads.bandwidth ~ unlimited ~ 20MB/s ~ 8Mbit/s',
  ],
  [
    'a bandwidth in either bits or bytes',
    { 9: 'uploads: { bandwidth: 20Mb/s }' },
    '9:23 uploads.bandwidth ~ MB/s ~ Mbit/s',
  ],
  ['a bandwidth with a small letter', { 9: 'uploads: { bandwidth: 20mb/S }' }, '9:23 uploads.bandwidth ~ MB/s'],
  [
    'two limits for one hour',
    { 9: 'uploads: { bandwidth: { "08:00-18:00": 20MB/s, "17:00-20:00": 1MB/s, otherwise: unlimited } }' },
    '9:48 uploads.bandwidth["17:00-20:00"] ~ overlaps "08:00-18:00"',
  ],
  [
    'a limit for no time of day',
    { 9: 'uploads: { bandwidth: { daytime: 20MB/s, otherwise: unlimited } }' },
    '9:25 uploads.bandwidth.daytime ~ "08:00-18:00"',
  ],
  [
    'a wrong limit for a time of day',
    { 9: 'uploads: { bandwidth: { "08:00-18:00": 20Mb/s, otherwise: unlimited } }' },
    '9:40 uploads.bandwidth["08:00-18:00"] ~ MB/s ~ Mbit/s',
  ],
  [
    'a limit for some times of day only',
    { 9: 'uploads: { bandwidth: { "08:00-18:00": 20MB/s } }' },
    '9:23 uploads.bandwidth ~ otherwise',
  ],
  ['a window for uploads that is none', { 9: 'uploads: { window: nights }' }, '9:20 uploads.window ~ "20:00-06:00"'],
  ['a window for uploads of no length', { 9: 'uploads: { window: "20:00-20:00" }' }, '9:20 uploads.window ~ same time'],
  ['too many uploads at a time', { 9: 'uploads: { concurrency: 33 }' }, '9:25 uploads.concurrency ~ 1 to 32'],
  ['half an upload', { 9: 'uploads: { concurrency: 1.5 }' }, '9:25 uploads.concurrency ~ 1 to 32'],
  [
    'an infinite budget',
    {
      3: `  api_key: !env KEY
  requests_per_hour: .inf`,
    },
    '4:22 service.requests_per_hour ~ 1 to 1000000',
  ],
  ['a word that is not one of the few', { 9: 'log: { level: inof }' }, '9:15 log.level ~ "info"'],
  [
    'a word that is like none of the few',
    { 9: 'log: { format: xml }' },
    '9:16 log.format ~ auto, pretty, json or journald',
  ],
  [
    'a switch where words are wanted',
    {
      5: `  - path: inbox
    watch: true`,
    },
    '6:12 folders[0].watch ~ auto, native or polling',
  ],
  [
    'a done marker that every video would be',
    {
      5: `  - path: inbox
    done_marker: '{name}.{ext}'`,
    },
    '6:18 folders[0].done_marker ~ add something',
  ],
  [
    'after_ready with a slip of the pen',
    {
      5: `  - path: inbox
    after_ready: kepe`,
    },
    '6:18 folders[0].after_ready ~ "keep"',
  ],
  [
    'after_ready with two actions',
    {
      5: `  - path: inbox
    after_ready: { delete: { after: 7d }, move: done }`,
    },
    '6:20 folders[0].after_ready.delete ~ only one of move and delete',
  ],
  [
    'a file deleted in no time',
    {
      5: `  - path: inbox
    after_ready: { delete: { after: 0s } }`,
    },
    '6:37 folders[0].after_ready.delete.after ~ at least 1s',
  ],
  [
    'a disk that is always full enough',
    {
      5: `  - path: inbox
    after_ready: { delete: { when_full: 0% } }`,
    },
    '6:41 folders[0].after_ready.delete.when_full ~ 1% to 99% ~ 85%',
  ],
  [
    'an archive that is to be something else',
    {
      5: `  - path: inbox
    existing: adopted`,
    },
    '6:15 folders[0].existing ~ upload, ignore or adopt ~ "adopt"',
  ],
  [
    'a folder that may upload nothing',
    {
      5: `  - path: inbox
    uploads: 0`,
    },
    '6:14 folders[0].uploads ~ 1 to 32',
  ],
  [
    'a priority of no rule',
    {
      8: `        channel: ch_main
        priority: urgent`,
    },
    '9:19 folders[0].rules[0].priority ~ high, normal or low',
  ],
  [
    'a deadline that is no time',
    {
      8: `        channel: ch_main
        ready_by: noon`,
    },
    '9:19 folders[0].rules[0].ready_by ~ not a deadline ~ 18:30 Europe/Berlin',
  ],
  [
    'a deadline in a zone that does not exist',
    {
      5: `  - path: inbox
    ready_by: "18:30 Europe/Atlantis"`,
    },
    '6:15 folders[0].ready_by ~ not a deadline',
  ],
  [
    'a limit of a folder in its rule',
    {
      8: `        channel: ch_main
        uploads: 2`,
    },
    '9:9 folders[0].rules[0].uploads ~ belongs in folders[].uploads',
  ],
  [
    'after_ready with a wrong key',
    {
      5: `  - path: inbox
    after_ready: { mvoe: done }`,
    },
    '6:20 folders[0].after_ready.mvoe ~ "move"',
  ],
  [
    'after_ready that moves to a number',
    {
      5: `  - path: inbox
    after_ready:
      move: 5`,
    },
    '7:13 folders[0].after_ready.move ~ text ~ number ~ quotes',
  ],
  [
    'after_ready that is a list',
    {
      5: `  - path: inbox
    after_ready: [keep]`,
    },
    '6:18 folders[0].after_ready ~ keep, delete, { move: … } or { delete: … }',
  ],
  [
    'a later deletion with a wrong key',
    {
      5: `  - path: inbox
    after_ready: { delete: { affter: 7d } }`,
    },
    '6:30 folders[0].after_ready.delete.affter ~ "after"',
  ],
  [
    'a later deletion after no duration',
    {
      5: `  - path: inbox
    after_ready: { delete: { after: 7 } }`,
    },
    '6:37 folders[0].after_ready.delete.after ~ 7d',
  ],
  [
    'a later deletion when a disk is fuller than full',
    {
      5: `  - path: inbox
    after_ready: { delete: { when_full: 100% } }`,
    },
    '6:41 folders[0].after_ready.delete.when_full ~ 1% to 99%',
  ],
  [
    'a later deletion that says not when',
    {
      5: `  - path: inbox
    after_ready: { delete: {} }`,
    },
    '6:28 folders[0].after_ready.delete ~ after, when_full or both ~ after_ready: delete',
  ],
  [
    'a later deletion with a slip of the pen',
    {
      5: `  - path: inbox
    after_ready: { delet: { after: 7d } }`,
    },
    '6:20 folders[0].after_ready.delet ~ "delete"',
  ],
  ['plain http to another machine', { 2: '  base_url: http://video.example.com/v1' }, '2:13 service.base_url ~ https'],
  [
    'a base address with a password',
    { 2: '  base_url: https://me:secret@video.example.com/v1' },
    '2:13 service.base_url ~ password',
  ],
  [
    'a base address with a query',
    { 2: '  base_url: https://video.example.com/v1?key=secret' },
    '2:13 service.base_url ~ query',
  ],
  [
    'a base address with a fragment',
    { 2: '  base_url: https://video.example.com/v1#x' },
    '2:13 service.base_url ~ fragment',
  ],
  [
    'a base address that is not an address',
    { 2: '  base_url: video.example.com' },
    '2:13 service.base_url ~ https://video.example.com/v1',
  ],
  [
    'an origin with a path',
    {
      3: `  api_key: !env KEY
  send_key_to: [https://a.example, https://b.example/put]`,
    },
    '4:36 service.send_key_to[1] ~ path',
  ],
  [
    'a port without a host',
    { 9: 'status: { listen: 7878 }' },
    '9:19 status.listen ~ off ~ 127.0.0.1:7878 ~ [::1]:7878',
  ],
  ['a port beyond all ports', { 9: 'status: { listen: "127.0.0.1:70000" }' }, '9:19 status.listen ~ 65535'],
  [
    'IPv6 without brackets',
    { 9: 'status: { listen: "::1:7878" }' },
    '9:19 status.listen ~ off ~ 127.0.0.1:7878 ~ [::1]:7878',
  ],
  [
    'the address of the proxy instead of its name',
    { 9: 'status: { hosts: ["https://dropcast.example.com"] }' },
    '9:19 status.hosts[0] ~ not a host name ~ dropcast.example.com',
  ],
  [
    'a port behind the name of the proxy',
    { 9: 'status: { hosts: [dropcast.example.com, "dropcast.example.com:8443"] }' },
    '9:41 status.hosts[1] ~ not a host name',
  ],
  [
    'a socket path beyond the limit of the system',
    {
      9: `status:
  socket: /run/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx`,
    },
    '10:11 status.socket ~ 108 ~ 97',
  ],
  ['the home of another user', { 5: '  - path: ~other/inbox' }, '5:11 folders[0].path ~ own home'],
  [
    'the same folder twice',
    {
      9: `  - path: ./other/../inbox
    rules: [{ match: "**", channel: ch_2 }]`,
    },
    '9:11 folders[1].path ~ folders[0].path',
  ],
  [
    'a state directory in a watched folder',
    { 9: 'state_dir: inbox/state' },
    '9:12 state_dir ~ /inbox/state is ~ folder /inbox',
  ],
  ['the whole tree under one folder', { 5: '  - path: .' }, '1:1 state_dir ~ /home/.local/state/dropcast '],
  [
    'a secret tag in another place',
    { 8: '        channel: !env CHANNEL' },
    '8:23 folders[0].rules[0].channel ~ !env ~ service.api_key',
  ],
  ['a secret tag with nothing after it', { 3: '  api_key: !env' }, '3:12 service.api_key ~ !env DROPCAST_API_KEY'],
  ['a secret tag with a list', { 3: '  api_key: !env [KEY]' }, '3:12 service.api_key ~ api_key: !env DROPCAST_API_KEY'],
  ['an unknown tag', { 3: '  api_key: !vault KEY' }, '3:12 service.api_key ~ unknown tag ~ quotes'],
  ['an alias to nothing', { 8: '        channel: *main' }, '8:18 folders[0].rules[0].channel ~ anchor ~ quotes'],
  ['a variable that is not set', { 3: '  api_key: !env OTHER_KEY' }, '3:17 service.api_key ~ OTHER_KEY ~ not set'],
  ['a key written after !env', { 3: '  api_key: !env sk_live_123' }, '3:17 service.api_key ~ not set'],
  ['a variable in the way of a shell', { 3: '  api_key: ${KEY}' }, '3:12 service.api_key ~ !env NAME'],
  [
    'a key file that is not there',
    { 3: '  api_key: !file nowhere/api_key' },
    '3:18 service.api_key ~ /nowhere/api_key ~ ENOENT',
  ],
  [
    'a credential without systemd',
    { 3: '  api_key: !credential api_key' },
    '3:24 service.api_key ~ LoadCredential= ~ /api_key',
  ],
  [
    'a credential that is a path',
    { 3: '  api_key: !credential ../api_key' },
    '3:24 service.api_key ~ !credential api_key',
  ],
  ['a key with nothing in it', { 3: '  api_key: ""' }, '3:12 service.api_key ~ empty'],
  ['a key that YAML takes for a number', { 3: '  api_key: 12345' }, '3:12 service.api_key ~ text ~ quotes'],
  [
    'a broken glob and an unknown template word next to a wrong key',
    {
      7: `      - match: "**"
        title: "{shwo}"`,
      8: '        chanel: ch_main',
    },
    `8:16 folders[0].rules[0].title ~ {shwo} ~ {title} {name} {ext} {path} {dir} {dirs} {date}
9:9 folders[0].rules[0].chanel ~ "channel"`,
  ],
  ['a tab', { 6: '	rules:' }, '6:1 ~ tab ~ spaces'],
  ['an open quote', { 8: '        channel: "ch_main' }, '9:1 ~ not closed'],
  [
    'a colon in plain text',
    {
      8: `        channel: ch_main
        title: Tonight: the news`,
    },
    '9:16 ~ indentation ~ quote',
  ],
  [
    'a second document',
    {
      9: `---
service: {}`,
    },
    '9:1 ~ second document',
  ],
  [
    'another version of YAML',
    {
      1: `%YAML 1.1
---
service:`,
    },
    '1:1 ~ %YAML 1.1 ~ 1.2',
  ],
];

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
});
afterAll(() => here[Symbol.asyncDispose]());

it('finds nothing wrong with the smallest configuration', async () => {
  expect(await here.problems(edited({}))).toEqual([]);
});

it.each(BROKEN)('says what is wrong and where: %s', async (_, edits, problem) => {
  expectProblems(await here.problems(edited(edits)), problem.split('\n'));
});

it.each(BROKEN)('gives no configuration for it: %s', async (_, edits) => {
  expect((await here.load(edited(edits))).config).toBeNull();
});

function edited(edits: Edits): string {
  const lines: (string | null)[] = [...LINES];
  for (const [line, text] of Object.entries(edits)) lines[Number(line) - 1] = text;
  return `${lines.filter((line) => line !== null).join('\n')}\n`;
}
