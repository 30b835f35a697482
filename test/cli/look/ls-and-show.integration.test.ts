import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ls } from '../../../src/cli/look/ls.ts';
import type { LsOptions } from '../../../src/cli/look/ls.ts';
import { show } from '../../../src/cli/look/show.ts';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { foundOf } from '../../../src/view/files/show-view.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import { escapeControls } from '../../../src/log/unsafe-characters.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { created, failure, ready, someFacts, somePlan, uploaded } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { fakeShell, printedJson } from '../api/fake-shell.ts';
import { writeConfig } from '../../support/configuration.ts';

const deep = 'a very long directory name of somebody/who likes long directory names/and more of them';
const names = [
  'clip.mp4',
  'a\nb.mp4',
  String.raw`a\x0bc.mp4`,
  'tab\tand\u202eturned.mp4',
  `${deep}/evening 01.mp4`,
  `${deep}/evening 02.mp4`,
  `${deep}/with\nnew\u001blines and more of them 03.mp4`,
  'has … of its own.mp4',
  "it's % _ [x]* 100%.mp4",
  'Überblick.mp4',
  `${'\u001b'.repeat(40)}.mp4`,
];
const kinds: readonly Partial<Facts>[] = [
  {},
  created,
  uploaded,
  { ...ready, end: 'done', endedAt: 3_000 },
  {
    end: 'failed',
    endedAt: 2_000,
    why: 'no',
    lastFailure: failure('permanent', { code: 'processing_failed', status: 422 }),
  },
];

let scratch: ScratchDirectory;
let inbox: string;
let files: readonly Facts[];

beforeAll(async () => {
  scratch = await scratchDirectory();
  inbox = scratch.file('in');
  mkdirSync(inbox);
  await writeConfig(scratch, { folders: [{ path: 'in' }] });
  files = names.map((path, n) =>
    someFacts({
      ...kinds[n % kinds.length],
      id: `f_${String(n).padStart(4, '0')}abcdef`,
      folder: inbox,
      path,
      discoveredAt: 1_000 + n,
      plan: { ...somePlan, channel: `ch_${n % 2}`, title: `Day ${n}` },
      ...(kinds[n % kinds.length]?.videoId !== undefined && { videoId: `vid_${n}xyz` }),
    }),
  );
  await using ledger = await openLedger(scratch.file('state'));
  for (const facts of files) await ledger.insert(facts);
});
afterAll(() => scratch[Symbol.asyncDispose]());

function shellIn(cwd: string, isTerminal = false) {
  return fakeShell({ env: { KEY: 'k' }, cwd, isTerminal });
}

async function listed(options: Partial<LsOptions>, cwd = scratch.path, isTerminal = false): Promise<string> {
  const shell = shellIn(cwd, isTerminal);
  await ls(shell, { limit: 100, config: scratch.file('dropcast.yaml'), ...options });
  return shell.out.text;
}

async function shown(name: string, cwd = scratch.path): Promise<string> {
  const shell = shellIn(cwd);
  await show(shell, { config: scratch.file('dropcast.yaml'), json: true }, name);
  return (printedJson(shell) as { file: { id: string } }).file.id;
}

describe('show takes every name that ls prints', () => {
  const directories = { 'the folder': () => inbox, 'a directory above': () => scratch.path, elsewhere: () => '/' };
  test.for(Object.keys(directories) as (keyof typeof directories)[])('whole, from %s', async (from) => {
    const cwd = directories[from]();
    // The columns of a table that is not cut are two blanks apart.
    const rows = (await listed({}, cwd))
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/ {2,}/));
    expect(rows).toHaveLength(names.length);
    for (const [, id = '', path = ''] of rows) expect([path, await shown(path, cwd)]).toEqual([path, id]);
    for (const [, id = ''] of rows) expect(await shown(id, cwd)).toBe(id);
  });

  test('cut to the width of a terminal', async () => {
    const rows = (await listed({}, '/', true)).trimEnd().split('\n').slice(1);
    const cut = rows.map((line) => line.split(/ {2,}/)).filter(([, , path = '']) => path.includes('…'));
    expect(cut.length).toBeGreaterThan(3);
    for (const [, id = '', path = ''] of cut) {
      const meant = files.filter((facts) => isCutTo(`${facts.folder}/${facts.path}`, path)).map(({ id }) => id);
      // Two files may be cut to the same text: then it names both.
      if (meant.length === 1) expect(await shown(path, '/')).toBe(id);
      else await expect(shown(path, '/')).rejects.toThrow(id);
    }
  });

  test('the video id, the beginning of the id, and an id that was cut', async () => {
    expect(await shown('vid_1xyz')).toBe('f_0001abcdef');
    expect(await shown('f_0002')).toBe('f_0002abcdef');
    expect(await shown('f_0003a…')).toBe('f_0003abcdef');
    expect(await shown('vid_1x…')).toBe('f_0001abcdef');
  });

  test('the path of a file that settles, as it is and as it is printed', async () => {
    const settling = ['new.mp4', 'new\nline.mp4', `${deep}/new one.mp4`].map((path) => ({
      folder: inbox,
      path,
      size: 5,
      why: 'unchanged for 1 of 5 s',
    }));
    const daemon = {
      folders: { settling: () => settling },
      rows: { held: () => [] },
      waits: () => [],
    } as unknown as Daemon;
    await using ledger = await openLedger(scratch.file('state'));
    const found = async (name: string) => (await foundOf(ledger, daemon, name)).settling.map(({ path }) => path);
    for (const { path } of settling) {
      const absolute = `${inbox}/${path}`;
      for (const name of [
        absolute,
        escapeControls(absolute),
        path.slice(path.lastIndexOf('/') + 1),
        escapeControls(path),
      ])
        expect([name, await found(name)]).toEqual([name, [absolute]]);
    }
    expect(await found(`${inbox}/a very lo…/new one.mp4`)).toEqual([`${inbox}/${deep}/new one.mp4`]);
    expect(await found('old.mp4')).toEqual([]);
  });

  test.for([
    '…',
    '\\',
    '…'.repeat(50),
    '/…',
    'no such…name',
    '\\x',
    `a${'\\u202e…'.repeat(600)}`,
    'x'.repeat(1_000_000),
  ])('and what it never prints finds nothing, or says what it found: %s', async (name) => {
    await expect(shown(name)).rejects.toThrow(/matches/);
  });
});

describe('ls', () => {
  test.for<[Partial<LsOptions>, readonly number[]]>([
    [{ state: 'failed' }, [9, 4]],
    [{ state: 'failed,queued' }, [10, 9, 6, 5, 4, 1, 0]],
    [{ state: 'awaiting upload' }, [6, 1]],
    [{ channel: 'ch_1', state: 'done' }, [3]],
    [{ cause: 'processing_failed' }, [9, 4]],
    [{ feed: 'feed_other' }, []],
    [{ query: 'EVENING' }, [5, 4]],
    [{ query: 'überblick' }, [9]],
    [{ query: 'Day 7' }, [7]],
    [{ query: '100%' }, [8]],
    [{ since: '1970-01-01T00:00:02.500Z' }, [8, 3]],
    [{ since: 'yesterday' }, []],
    [{ since: '1970-01-01T00:00:02.500Z', until: '1970-01-01T00:00:02.500Z' }, []],
    [{ folder: 'in', query: 'clip' }, [0]],
    [{ folder: 'elsewhere' }, []],
  ])('finds by %j', async ([options, numbers]) => {
    const shell = shellIn(scratch.path);
    await ls(shell, { limit: 100, config: scratch.file('dropcast.yaml'), json: true, ...options });
    const view = printedJson(shell) as { files: { id: string }[]; total: number };
    expect(view.files.map(({ id }) => Number(id.slice(2, 6)))).toEqual(numbers);
    expect(view.total).toBe(numbers.length);
  });

  test('has a cursor for the next page, in JSON and in words', async () => {
    const seen: string[] = [];
    let after: string | undefined;
    for (let pages = 0; pages < 3; pages += 1) {
      const shell = shellIn(scratch.path);
      await ls(shell, {
        limit: 4,
        config: scratch.file('dropcast.yaml'),
        json: true,
        ...(after !== undefined && { after }),
      });
      const view = printedJson(shell) as { files: { id: string }[]; next: string | null };
      seen.push(...view.files.map(({ id }) => id));
      after = view.next ?? undefined;
      expect(view.next === null).toBe(pages === 2);
    }
    expect(seen).toEqual(files.map(({ id }) => id).toReversed());
    const shell = shellIn(scratch.path);
    await ls(shell, { limit: 4, config: scratch.file('dropcast.yaml') });
    expect(shell.err.text).toMatch(/^4 of 11 files; the next ones: --after \d+, or raise --limit\.$/mu);
  });

  test('counts by each property, under the options that select them', async () => {
    const text = await listed({ counts: true, state: 'failed' });
    expect(text).toMatch(/^--state +failed +2$/mu);
    expect(text).toMatch(/^--state +queued +5$/mu);
    expect(text).toMatch(/^--channel +ch_0 +1$/mu);
    expect(text).toMatch(/^--cause +processing_failed +2$/mu);
    expect(text).toMatch(/^all +2$/mu);
  });

  test.for<[Partial<LsOptions>, RegExp]>([
    [{ state: 'faild' }, /unknown state "faild"; the states are: settling/],
    [{ since: 'tomorrow' }, /since "tomorrow": expected today, yesterday, a day like/],
    [{ until: 'noon' }, /until "noon": expected today, yesterday, a day like/],
    [{ query: 'x'.repeat(5_000) }, /q: at most 4,096 characters/],
  ])('says what it does not understand (%#)', async ([options, words]) => {
    await expect(listed(options)).rejects.toThrow(words);
  });
});

test('show tells how long each step took, and what each failed attempt was', async () => {
  const shell = shellIn(scratch.path);
  await show(shell, { config: scratch.file('dropcast.yaml') }, 'f_0004abcdef');
  expect(shell.out.text).toMatch(/^steps\n {2}\d{4}-\d\d-\d\d \d\d:\d\d:01 {2}waiting for a record +996 ms$/mu);
  expect(shell.out.text).toMatch(/failed +no \[HTTP 422, processing_failed\]$/mu);
});

function isCutTo(path: string, printed: string): boolean {
  const pieces = printed.split('…');
  const [start = '', end = ''] = [pieces[0], pieces.at(-1)];
  const escaped = escapeControls(path);
  return escaped.slice(1).startsWith(start.replace(/^\//, '')) && escaped.endsWith(end);
}
