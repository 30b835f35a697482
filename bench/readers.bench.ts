import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Row } from './bench.ts';
import { until } from './child.ts';
import type { Running } from './child.ts';
import { caughtUp, instantService, watchedFolder } from './watched-folder.ts';
import type { WatchedFolder } from './watched-folder.ts';

/** What a user of a folder may put into it to keep the service busy: names in a directory, and what is in them. */
type Hostile = Readonly<Record<string, string | Buffer>>;

const list = 16 * 1024 * 1024;
const fill = (unit: string, bytes: number): string => unit.repeat(Math.floor(bytes / unit.length));
const many = (count: number, each: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => each(n)).join('');
const sha256 = 'a'.repeat(64);

const cases: Readonly<Record<string, { readonly what: string; readonly make: () => Hostile }>> = {
  none: { what: 'a clip alone', make: () => ({}) },
  newlines: { what: '`SHA256SUMS` of 16 MiB of newlines', make: () => ({ SHA256SUMS: fill('\n', list) }) },
  entries: {
    what: '`SHA256SUMS` of 100,000 entries in 12 MiB',
    make: () => ({ SHA256SUMS: many(100_000, (n) => `${sha256}  ${'d/'.repeat(27)}${n}.mpg\n`) }),
  },
  lines: {
    what: '`SHA256SUMS` of lines of 8,000 characters',
    make: () => ({ SHA256SUMS: fill(`${sha256}  ${'x'.repeat(4_000)}${' '.repeat(3_900)}\n`, list) }),
  },
  entities: {
    what: '16 MiB of entities in one path of a `.mhl`',
    make: () => ({
      'x.mhl': `<hashlist><hash><file>${fill('&#x41;', list - 200)}</file><md5>${'a'.repeat(32)}</md5></hash></hashlist>`,
    }),
  },
  hashes: {
    what: '`.mhl` of 100,000 hashes in 13 MiB',
    make: () => ({
      'x.mhl': `<hashlist>${many(100_000, (n) => `<hash><file>${'d/'.repeat(20)}${n}.mpg</file><md5>${'a'.repeat(32)}</md5></hash>`)}</hashlist>`,
    }),
  },
  elements: {
    what: '`.mhl` of 16 MiB of elements of three characters',
    make: () => ({ 'x.mhl': fill('<a>', list) }),
  },
  sidecar: {
    what: 'sidecar of 64 KiB of list items',
    make: () => ({ 'clip.yaml': fill('- a\n', 65_000) }),
  },
  spellings: {
    what: '200 spellings of one sidecar of 64 KiB',
    make: () =>
      Object.fromEntries(
        Array.from({ length: 200 }, (_, n) => [spelled('clip.mpg.yaml', n), fill('title: [a]\n', 65_000)]),
      ),
  },
  links: {
    what: 'link files of 256 KiB',
    make: () => ({ 'x.url': fill('[x]\nURL=', 262_144), 'y.webloc': fill('<string>', 262_144) }),
  },
  boxes: {
    what: 'MP4 with 3 MiB of the smallest boxes in its `moov`',
    make: () => ({ 'clip.mp4': Buffer.concat([ftyp, box('moov', repeated(box('free'), 390_000))]) }),
  },
  fragments: {
    what: 'MP4 of 200,000 of the smallest fragments',
    make: () => ({
      'clip.mp4': Buffer.concat([
        ftyp,
        box('moov', box('mvex')),
        repeated(Buffer.concat([box('moof'), box('mdat')]), 200_000),
      ]),
    }),
  },
  matroska: {
    what: 'Matroska of 3,000,000 elements',
    make: () => ({
      'clip.mkv': Buffer.concat([
        Buffer.from('1a45dfa3801853806701ffffffffffffff', 'hex'),
        repeated(Buffer.from('ec80', 'hex'), 3_000_000),
      ]),
    }),
  },
  chunks: {
    what: 'AVI of 750,000 empty chunks',
    make: () => ({
      'clip.avi': Buffer.concat([
        Buffer.from('RIFF\xf8\xff\xff\x7fAVI ', 'latin1'),
        repeated(Buffer.from('JUNK\0\0\0\0', 'latin1'), 750_000),
      ]),
    }),
  },
};

const figures: Readonly<Record<string, Row>> = {
  cpu: { what: 'CPU', unit: 's', most: 5 },
  turn: { what: 'longest turn of the event loop', unit: 'ms', most: 50 },
};

export const bench: Bench = {
  about:
    'Files that a user of a folder can put into it to keep the service busy: each reader of foreign bytes gets the worst that its bounds let in. A turn is CPU time of the main thread, garbage collection included, so other programs of a busy machine do not change it.',
  rounds: 1,
  rows: {
    peak: { what: 'most memory, in all', unit: 'MB', most: 384 },
    ...Object.fromEntries(
      Object.entries(cases).flatMap(([name, { what }]) =>
        Object.entries(figures).map(([figure, row]) => [`${name} ${figure}`, { ...row, what: `${what}: ${row.what}` }]),
      ),
    ),
  },
  round: async (build) => {
    using service = await instantService();
    await using folder = await watchedFolder(build, 0, { service: service.baseUrl });
    await using running = folder.run();
    await caughtUp(folder, running);
    const values: Record<string, number> = {};
    for (const [name, { make }] of Object.entries(cases)) {
      const { cpu, turn } = await read(make(), name, { folder, running });
      values[`${name} cpu`] = cpu;
      values[`${name} turn`] = turn;
    }
    return { values: { ...values, peak: (await running.memory()).peakMb } };
  },
};

async function read(
  files: Hostile,
  name: string,
  { folder, running }: { readonly folder: WatchedFolder; readonly running: Running },
): Promise<{ readonly cpu: number; readonly turn: number }> {
  const directory = join(folder.inbox, name);
  await folder.longest(running);
  const before = await running.cpuSeconds();
  await mkdir(directory);
  for (const [file, content] of Object.entries(files)) await writeFile(join(directory, file), content);
  // Of another size in each case: equal content would be a duplicate, of which nothing else is read.
  await writeFile(join(directory, 'clip.mpg'), 'x'.repeat(4_000 + Object.keys(cases).indexOf(name)));
  // It settles for a second.
  await sleep(3_000);
  await until(async () => {
    const spent = await running.cpuSeconds();
    await sleep(2_000);
    return (await running.cpuSeconds()) - spent < 0.1;
  });
  return { cpu: (await running.cpuSeconds()) - before, turn: (await folder.longest(running)).turn };
}

/** The same name in another case. */
function spelled(name: string, n: number): string {
  return name.replaceAll(/[a-z]/g, (letter, at: number) => ((n >> at) & 1 ? letter.toUpperCase() : letter));
}

function box(type: string, content: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

const ftyp = box('ftyp', Buffer.from('isom\0\0\0\0isom', 'latin1'));

function repeated(piece: Uint8Array, times: number): Buffer {
  return Buffer.alloc(piece.length * times, piece);
}
