import { afterAll, beforeAll, expect, it } from 'vitest';
import { scratch, type Scratch } from './scratch.ts';

/** Configurations with many mistakes of different kinds: all of them have to be told at once, in the order of the file. */
const BROKEN: readonly (readonly [what: string, text: string, problems: readonly string[]])[] = [
  [
    'an account section in which everything is wrong',
    `service:
  base_url: http://video.example.com/v1
  api_key: !env MISSING_KEY
  requests_per_hour: lots
  send_key_to: [upload.example.com, https://a.example/path]
  timeout: 5s
folders: []
`,
    [
      '2:13 service.base_url: is plain http, which would show the key to the network; write https (http is for localhost, 127.x.x.x and [::1])',
      '3:17 service.api_key: the environment variable MISSING_KEY is not set; set it where dropcast starts',
      '4:22 service.requests_per_hour: must be a whole number from 1 to 1000000',
      '5:17 service.send_key_to[0]: not a web address; write it like https://video.example.com/v1',
      '5:37 service.send_key_to[1]: has a path; write the scheme, host and port only',
      '6:3 service.timeout: unknown key; allowed here: base_url, api_key, webhook_secret, requests_per_hour, send_key_to',
      '7:10 folders: must hold at least one folder',
    ],
  ],
  [
    'numbers, words and durations',
    `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
uploads: { concurrency: 0, bandwidth: fast, stall_timeout: 90 }
retry: { attempts: 0, first: 1 s, max: 30d }
poll: { interval: soon, give_up_after: 100d }
publish: { quiet: -1s, at_most: null }
status: { listen: localhost, socket: 5 }
log: { level: verbose, format: JSON }
folders:
  - path: inbox
    rules: [{ match: "**", channel: ch_main }]
`,
    [
      '4:25 uploads.concurrency: must be a whole number from 1 to 32',
      '4:39 uploads.bandwidth: not a bandwidth; write unlimited, or a number with a unit, like 500kB/s, 20MB/s or 8Mbit/s',
      '4:60 uploads.stall_timeout: write a whole number with a unit, like 500ms, 5s, 2m, 24h or 7d',
      '5:20 retry.attempts: must be a whole number from 1 to 1000',
      '5:30 retry.first: not a duration; write a whole number with a unit, like 500ms, 5s, 2m, 24h or 7d',
      '5:40 retry.max: too long; at most 24d',
      '6:19 poll.interval: not a duration; write a whole number with a unit, like 500ms, 5s, 2m, 24h or 7d',
      '6:40 poll.give_up_after: too long; at most 24d',
      '7:19 publish.quiet: not a duration; write a whole number with a unit, like 500ms, 5s, 2m, 24h or 7d',
      '7:33 publish.at_most: empty; give it a value or remove the key',
      '8:19 status.listen: not an address; write off, or host:port, like 127.0.0.1:7878 or [::1]:7878',
      '8:38 status.socket: must be text, not a number; put it in quotes',
      '9:15 log.level: must be error, warn, info or debug',
      '9:32 log.format: must be auto, pretty, json or journald; did you mean "json"?',
    ],
  ],
  [
    'rules of two folders',
    `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
folders:
  - path: one
    rules:
      - mach: "news/**"
        channel: ch_news
      - match: 5
        channel: ch news
        tags: news
      - match: "**"
        titel: "{title}"
  - path: two
    include: []
    rules:
      - "**"
      - match: "**"
        channel: ""
        publish: [feed_a, 7]
`,
    [
      '7:9 folders[0].rules[0].mach: unknown key, did you mean "match"?',
      '9:16 folders[0].rules[1].match: must be text, not a number; put it in quotes',
      '10:18 folders[0].rules[1].channel: must not hold blanks',
      '11:15 folders[0].rules[1].tags: must be a list, not text; write it like [a, b], or each item after "- "',
      '12:9 folders[0].rules[2].channel: missing. Identifier of the channel that the video goes to, like ch_news.',
      '13:9 folders[0].rules[2].titel: unknown key, did you mean "title"?',
      '15:14 folders[1].include: must name at least one pattern; without include the usual video and audio files are taken',
      '17:9 folders[1].rules[0]: must hold keys (name: value), not text',
      '19:18 folders[1].rules[1].channel: must not be empty',
      '20:27 folders[1].rules[1].publish[1]: must be text, not a number; put it in quotes',
    ],
  ],
  [
    'templates and globs beside schema errors',
    `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
folders:
  - path: inbox
    setle: 10s
    after_ready: { move: "../elsewhere" }
    rules:
      - match: "news/{show}/**"
        channel: ch_news
        title: "{shwo}"
        tags: ["{show}", 5, "{nobody}"]
      - match: "**"
        channel: ch_main
        titel: x
`,
    [
      '6:5 folders[0].setle: unknown key, did you mean "settle"?',
      '7:26 folders[0].after_ready.move: it must be a directory inside the folder, without ".."',
      '11:16 folders[0].rules[0].title: unknown word {shwo}, did you mean {show}?',
      '12:26 folders[0].rules[0].tags[1]: must be text, not a number; put it in quotes',
      '12:29 folders[0].rules[0].tags[2]: unknown word {nobody}; known here are {show} {title} {name} {ext} {path} {dir} {dirs} {date}',
      '15:9 folders[0].rules[1].titel: unknown key, did you mean "title"?',
    ],
  ],
  [
    'what comes from copying blocks',
    `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
  base_url: https://video.example.com/v2
folders:
  - path: inbox
    rules: [{ match: "**", channel: ch_main }]
  - path: inbox
    path: inbox
    rules: [{ match: "**", match: "*", channel: ch_main }]
`,
    [
      '4:3 service.base_url: duplicate key; it stands in line 2 already',
      '9:5 folders[1].path: duplicate key; it stands in line 8 already',
      '10:28 folders[1].rules[0].match: duplicate key; it stands in line 10 already',
    ],
  ],
  [
    'YAML that was meant for another program',
    `version: "3"
services:
  dropcast:
    image: dropcast
folders:
  - /srv/media:/media
restart: always
`,
    [
      '1:1 version: unknown key; allowed here: service, state_dir, uploads, retry, poll, publish, folders, status, log',
      '2:1 services: unknown key, did you mean "service"?',
      '6:5 folders[0]: must hold keys (name: value), not text',
      '7:1 restart: unknown key; allowed here: service, state_dir, uploads, retry, poll, publish, folders, status, log',
    ],
  ],
  [
    'secrets everywhere but in their place',
    `service:
  base_url: !env BASE_URL
  api_key: "\${API_KEY}"
  send_key_to: !file origins
state_dir: !vault state
folders:
  - path: !env INBOX
    rules:
      - match: "**"
        channel: !credential channel
`,
    [
      '2:18 service.base_url: !env is for service.api_key and service.webhook_secret alone',
      '3:12 service.api_key: variables are not replaced in YAML; write !env NAME',
      '4:22 service.send_key_to: !file is for service.api_key and service.webhook_secret alone',
      '5:12 state_dir: unknown tag; put text that starts with ! in quotes',
      '7:16 folders[0].path: !env is for service.api_key and service.webhook_secret alone',
      '10:30 folders[0].rules[0].channel: !credential is for service.api_key and service.webhook_secret alone',
    ],
  ],
  [
    "paths that get in each other's way",
    `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
state_dir: media/inbox/state
folders:
  - path: media
    rules: [{ match: "**", channel: ch_main }]
  - path: ./media/inbox/
    rules: [{ match: "**", channel: ch_main }]
  - path: media/../media
    rules: [{ match: "**", channel: ch_main }]
  - path: ~root/media
    rules: [{ match: "**", channel: ch_main }]
`,
    [
      '4:12 state_dir: /media/inbox/state lies inside of the watched folder /media; dropcast would watch its own files',
      '8:11 folders[1].path: warning: lies inside of /media, which is watched too; files below are taken by this folder alone',
      '10:11 folders[2].path: the same folder as folders[0].path; put all its rules there',
      '12:11 folders[3].path: ~ is your own home only; write the other one out',
    ],
  ],
  [
    'lists where mappings are wanted, and the other way round',
    `service:
  - base_url: https://video.example.com/v1
uploads: 4
retry: []
poll: true
publish: 10s
folders:
  path: inbox
status: "off"
log: debug
`,
    [
      '2:3 service: must hold keys (name: value), not a list',
      '3:10 uploads: must hold keys (name: value), not a number',
      '4:8 retry: must hold keys (name: value), not a list',
      '5:7 poll: must hold keys (name: value), not the word true',
      '6:10 publish: must hold keys (name: value), not text',
      '8:3 folders: must be a list, not a mapping; write it like [a, b], or each item after "- "',
      '9:9 status: must hold keys (name: value), not text',
      '10:6 log: must hold keys (name: value), not text',
    ],
  ],
  [
    'aliases that lead nowhere',
    `service:
  base_url: https://video.example.com/v1
  api_key: !env KEY
folders:
  - &first
    path: inbox
    rules: &rules
      - match: "**"
        channel: *main
  - <<: *first
    path: outbox
    exclude: *rules
    rules: *rulez
  - path: third
    rules: [*first]
`,
    [
      '6:5 folders[2].rules[0].path: unknown key here; it belongs to folders[].path',
      '7:5 folders[2].rules[0].rules: unknown key here; it belongs to folders[].rules',
      '8:9 folders[1].exclude[0]: must be text, not a mapping',
      '9:18 folders[0].rules[0].channel: no anchor (&) of this name stands above; put text that starts with * in quotes',
      '10:5 folders[1]["<<"]: merge keys are not part of YAML 1.2; an alias can stand for a whole value, like rules: *name',
      '13:12 folders[1].rules: no anchor (&) of this name stands above; put text that starts with * in quotes',
      '15:13 folders[2].rules[0].match: missing. Glob over the path relative to the folder.',
      '15:13 folders[2].rules[0].channel: missing. Identifier of the channel that the video goes to, like ch_news.',
    ],
  ],
];

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
});
afterAll(() => here[Symbol.asyncDispose]());

it.each(BROKEN)('reports everything at once: %s', async (_, text, problems) => {
  const found = await here.problems(text);
  expect(found.map((problem) => problem.replace('dropcast.yaml:', ''))).toEqual(problems);
});
