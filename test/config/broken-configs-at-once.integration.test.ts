import { afterAll, beforeAll, it } from 'vitest';
import { expectProblems, scratch, type Scratch } from './scratch.ts';

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
      '2:13 service.base_url ~ https',
      '3:17 service.api_key ~ MISSING_KEY ~ not set',
      '4:22 service.requests_per_hour ~ 1 to 1000000',
      '5:17 service.send_key_to[0] ~ https://video.example.com/v1',
      '5:37 service.send_key_to[1] ~ path',
      '6:3 service.timeout ~ notify[].timeout',
      '7:10 folders ~ at least one folder',
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
      '4:25 uploads.concurrency ~ 1 to 32',
      '4:39 uploads.bandwidth ~ unlimited ~ 20MB/s ~ 8Mbit/s',
      '4:60 uploads.stall_timeout ~ 5s',
      '5:20 retry.attempts ~ 1 to 1000',
      '5:30 retry.first ~ 5s',
      '5:40 retry.max ~ too long ~ 24d',
      '6:19 poll.interval ~ 5s',
      '6:40 poll.give_up_after ~ too long ~ 24d',
      '7:19 publish.quiet ~ 5s',
      '7:33 publish.at_most ~ no value',
      '8:19 status.listen ~ off ~ 127.0.0.1:7878 ~ [::1]:7878',
      '8:38 status.socket ~ text ~ number ~ quotes',
      '9:15 log.level ~ error, warn, info or debug',
      '9:32 log.format ~ "json"',
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
      '7:9 folders[0].rules[0].mach ~ "match"',
      '9:16 folders[0].rules[1].match ~ text ~ number ~ quotes',
      '10:18 folders[0].rules[1].channel ~ spaces',
      '11:15 folders[0].rules[1].tags ~ list ~ text',
      '12:9 folders[0].rules[2].channel ~ missing',
      '13:9 folders[0].rules[2].titel ~ "title"',
      '15:14 folders[1].include ~ at least one pattern',
      '17:9 folders[1].rules[0] ~ keys ~ text',
      '19:18 folders[1].rules[1].channel ~ empty',
      '20:27 folders[1].rules[1].publish[1] ~ text ~ number ~ quotes',
    ],
  ],
  [
    'templates and globs together with schema errors',
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
      '6:5 folders[0].setle ~ "settle"',
      '7:26 folders[0].after_ready.move ~ inside the folder ~ ".."',
      '11:16 folders[0].rules[0].title ~ {show}',
      '12:26 folders[0].rules[0].tags[1] ~ text ~ number ~ quotes',
      '12:29 folders[0].rules[0].tags[2] ~ {nobody} ~ {show} {title} {name} {ext} {path} {dir} {dirs} {date}',
      '15:9 folders[0].rules[1].titel ~ "title"',
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
      '4:3 service.base_url ~ duplicate ~ line 2',
      '9:5 folders[1].path ~ duplicate ~ line 8',
      '10:28 folders[1].rules[0].match ~ duplicate ~ line 10',
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
      '1:1 version ~ service, state_dir, tls, ledger, host_name, uploads, retry, poll, publish, folders, status, exports, notify, log',
      '2:1 services ~ "service"',
      '6:5 folders[0] ~ keys ~ text',
      '7:1 restart ~ service, state_dir, tls, ledger, host_name, uploads, retry, poll, publish, folders, status, exports, notify, log',
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
      '2:18 service.base_url ~ !env ~ service.api_key',
      '3:12 service.api_key ~ !env NAME',
      '4:22 service.send_key_to ~ !file ~ service.api_key',
      '5:12 state_dir ~ unknown tag ~ quotes',
      '7:16 folders[0].path ~ !env ~ service.api_key',
      '10:30 folders[0].rules[0].channel ~ !credential ~ service.api_key',
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
      '4:12 state_dir ~ /media/inbox/state is ~ folder /media',
      '8:11 folders[1].path ~ warning ~ /media',
      '10:11 folders[2].path ~ folders[0].path',
      '12:11 folders[3].path ~ own home',
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
      '2:3 service ~ keys ~ a list',
      '3:10 uploads ~ keys ~ a number',
      '4:8 retry ~ keys ~ a list',
      '5:7 poll ~ keys ~ true',
      '6:10 publish ~ keys ~ text',
      '8:3 folders ~ list ~ a mapping',
      '9:9 status ~ keys ~ text',
      '10:6 log ~ keys ~ text',
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
      '6:5 folders[2].rules[0].path ~ folders[].path',
      '7:5 folders[2].rules[0].rules ~ folders[].rules',
      '8:9 folders[1].exclude[0] ~ text ~ a mapping',
      '9:18 folders[0].rules[0].channel ~ anchor ~ quotes',
      '10:5 folders[1]["<<"] ~ merge',
      '13:12 folders[1].rules ~ anchor ~ quotes',
      '15:13 folders[2].rules[0].match ~ missing',
      '15:13 folders[2].rules[0].channel ~ missing',
    ],
  ],
];

let here: Scratch;
beforeAll(async () => {
  here = await scratch();
});
afterAll(() => here[Symbol.asyncDispose]());

it.each(BROKEN)('reports everything at once: %s', async (_, text, problems) => {
  expectProblems(await here.problems(text), problems);
});
