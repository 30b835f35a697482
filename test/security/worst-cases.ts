import { readError } from '../../packages/client/src/transport/answer-body.ts';
import { parseRetryAfter } from '../../packages/client/src/transport/retry-after.ts';
import { createScrub, scrubAddresses, secretsOfAddress } from '../../packages/client/src/transport/scrub.ts';
import { readOverview } from '../../packages/client/src/wire/analytics.ts';
import { readFeeds } from '../../packages/client/src/wire/feeds.ts';
import { longestAddress } from '../../packages/client/src/wire/fields.ts';
import { readCreated, readVideo, readVideoPage } from '../../packages/client/src/wire/videos.ts';
import { parseYaml } from '../../src/config/document.ts';
import { SecretValues } from '../../src/log/redaction.ts';
import { serialize } from '../../src/log/serialize.ts';
import { escapeControls, quote } from '../../src/log/unsafe-characters.ts';
import { parseImportLink } from '../../src/routing/import-link.ts';
import { compileMatch } from '../../src/routing/match.ts';
import { checkSidecar } from '../../src/routing/sidecar.ts';
import { renderTitle } from '../../src/routing/template.ts';

// Runs every parser and scrubber on the worst input that its border lets in, and prints a JSON line for each: the CPU time it took, in
// units of one fixed piece of work, which takes a tenth of a second on a small server. Run by worst-cases.e2e.test.ts.

const MiB = 1024 * 1024;
const longestAnswer = 4 * MiB;
const secrets = new SecretValues();
secrets.add('key_0123456789abcdef');
const redact = { redact: (text: string) => secrets.redactText(text), stacks: false };
const scrubOf = (address: string) => createScrub(['key_0123456789abcdef', ...secretsOfAddress(address)]);

/** As many copies of `unit` as fit. */
function fill(unit: string, length: number): string {
  return unit.repeat(Math.floor(length / unit.length));
}

/** As long as an answer can be. */
function answerOf(entry: string, [before, after]: readonly [string, string]): unknown {
  return JSON.parse(`${before}${fill(`${entry},`, longestAnswer - 1000).slice(0, -1)}${after}`);
}

/** Beginnings of what the patterns look for, without an end. */
const units = [
  'a',
  ' ',
  '<',
  '<script>',
  'http://',
  'http://h?',
  'h%3A%2F%2F',
  'bearer ',
  '?token',
  '&x-amz-',
  '"\\',
  'authorization: ',
];
const addresses = [
  `https://h.example/${fill('abcdefgh/', longestAddress - 100)}`,
  `https://h.example/?${fill('abcdefgh&', longestAddress - 100)}`,
  `https://h.example/?${fill('%41%42%43%44%45%46%47%48=', longestAddress - 100)}`,
];
const glob = compileMatch('**/*a*/**/*b*/{x}/**/*c*.mp4');

const cases: Readonly<Record<string, () => unknown>> = {
  ...each(units, 'an error answer full of', (unit) =>
    readError(500, fill(unit, longestAnswer), scrubOf(addresses[0] ?? '')),
  ),
  ...each(units, 'an error message full of', (unit) =>
    readError(
      500,
      JSON.stringify({ error: { code: fill(unit, 20_000), message: fill(unit, 20_000) } }),
      scrubOf(addresses[1] ?? ''),
    ),
  ),
  ...each(addresses, 'the secrets of the address', (address) => scrubOf(address)(fill(`${address} `, 65_536))),
  ...each(units, 'an address full of', (unit) => scrubAddresses(fill(unit, 65_536))),
  ...each(units, 'a log text full of', (unit) => serialize({ err: new Error(fill(unit, 10 * MiB)) }, redact)),
  ...each(units, 'a log line of many texts full of', (unit) =>
    serialize(
      Object.fromEntries(
        Array.from({ length: 50 }, (_, n) => [`k${n}`, Array.from({ length: 50 }, () => fill(unit, 8000))]),
      ),
      redact,
    ),
  ),
  ...each(units, 'a finished log line full of', (unit) => secrets.redactLine(fill(unit, 160_000))),
  'unsafe characters': () => [escapeControls(fill('\u202E', 65_536)), quote(fill('\u009F', 65_536))],
  'a page of the smallest videos': () =>
    readVideoPage({ page: 1, perPage: 100 })(answerOf('{"id":"a","status":"b"}', ['{"data":[', ']}'])),
  'a page of nothing': () => readVideoPage({ page: 1, perPage: 100 })(answerOf('1', ['[', ']'])),
  'a video with tags that are none': () => readVideo(answerOf('1', ['{"id":"a","status":"b","tags":[', ']}'])),
  'a video with many tags': () => readVideo(answerOf('""', ['{"id":"a","status":"b","tags":[', ']}'])),
  'a video with a long reason': () => readVideo({ id: 'a', status: 'failed', error: fill('http://', longestAnswer) }),
  'a long status': () => readVideo({ id: 'a', status: fill('x', longestAnswer) }),
  'a video with many other fields': () => readVideo(answerOf('"a":1', ['{"id":"a","status":"b",', '}'])),
  'a record with a long address': () => readCreated({ id: 'a', upload_url: fill('https://h/', longestAnswer) }),
  'feeds that are none': () => readFeeds(answerOf('[]', ['[', ']'])),
  'figures with many videos': () =>
    readOverview({})(answerOf('{}', ['{"total_views":1,"unique_viewers":1,"top_videos":[', ']}'])),
  'a deep answer': () => {
    try {
      return readVideo(JSON.parse(`${'['.repeat(longestAnswer / 2)}${']'.repeat(longestAnswer / 2)}`));
    } catch {
      return null; // too deep
    }
  },
  'a Retry-After': () =>
    [fill('1', 16_000), fill('1.', 16_000), `Mon, ${fill('GMT ', 16_000)}`].map((text) =>
      parseRetryAfter(text, text, 0),
    ),
  'a path that almost matches': () => glob(fill('a/b/', 4000)),
  'a title from a long name': () =>
    renderTitle('{title}', { path: `${fill('._ ', 4000)}.mp4`, modifiedMs: 0, captures: {} }),
  ...each(
    ['[', '- a\n', '{a: ', '*a,', 'a: [b, {c: d}]\n', '"', '\n', 'a:\n', '#\n', 'x', '\\x41'],
    'sidecars full of',
    (unit) => [parseYaml(fill(unit, 65_536)), parseYaml(`a: "${fill(unit, 65_000)}"`)],
  ),
  'a sidecar of unknown keys': () => checkSidecar('clip.yaml', answerOf('"a":1', ['{', '}'])),
  'a link file': () => units.map((unit) => parseImportLink('a.webloc', fill(unit, 65_536))),
};

/** About a second. */
const mostUnits = 10;
const mostTries = 3;

function each(inputs: readonly string[], what: string, run: (input: string) => unknown): Record<string, () => unknown> {
  return Object.fromEntries(inputs.map((input) => [`${what} ${JSON.stringify(input.slice(0, 30))}`, () => run(input)]));
}

function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** About a tenth of a second where one core does what a small server's does. */
function unitOfWork(): unknown {
  return 'a'.repeat(1_600_000).replaceAll(/[a-z]/g, 'b');
}

const unitMs = (): number => Math.min(...Array.from({ length: 3 }, () => cpuMs(unitOfWork)));
const firstUnitMs = unitMs();

/** A busy neighbour can only make work look longer than it is: a case over its bound is measured again, beside a new unit. */
function unitsOf(run: () => unknown): number {
  let least = cpuMs(run) / firstUnitMs;
  for (let tries = 1; tries < mostTries && least > mostUnits; tries += 1)
    least = Math.min(least, cpuMs(run) / unitMs());
  return least;
}

for (const [name, run] of Object.entries(cases)) {
  console.log(JSON.stringify({ name, units: Number(unitsOf(run).toFixed(2)) }));
}
