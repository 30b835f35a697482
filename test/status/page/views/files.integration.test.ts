import { mkdir } from 'node:fs/promises';
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openLedger } from '../../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../../src/ledger/ledger.ts';
import { file } from '../../../../src/status/page/views/file.ts';
import { files, settlingFile } from '../../../../src/status/page/views/files.ts';
import { many } from '../../../../src/status/page/views/many.ts';
import { PageError } from '../../../../src/status/page/world.ts';
import type { Asked, PageWorld, ViewMaker } from '../../../../src/status/page/world.ts';
import { someFacts } from '../../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../../support/scratch-directory.ts';
import { allFiles, daemonWith, kinds, now } from '../files-world.ts';
import { someWorld } from '../some-world.ts';
import { wordsOf } from '../words-of.ts';

let scratch: ScratchDirectory;
let ledger: Ledger;

beforeAll(async () => {
  scratch = await scratchDirectory();
  await mkdir(scratch.file('state'));
  ledger = await openLedger(scratch.file('state'));
  for (const facts of allFiles()) await ledger.insert(facts);
});
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

function worldOf(mayChange = false): PageWorld {
  return someWorld(daemonWith(ledger), { now, mayChange });
}

function ask(words: string, id = ''): Asked {
  return { query: new URLSearchParams(words), part: () => id };
}

async function show(view: ViewMaker, asked: Asked, mayChange = false) {
  const shown = await view(worldOf(mayChange), asked);
  const { document } = parseHTML(`<!doctype html><html><body>${String(await shown.body)}</body></html>`);
  return { ...shown, document, words: await wordsOf(shown), rows: [...document.querySelectorAll('tbody tr')] };
}

const keys = (shown: Awaited<ReturnType<typeof show>>) => shown.rows.map((row) => row.getAttribute('data-key'));
const addresses = (shown: Awaited<ReturnType<typeof show>>) =>
  [...shown.document.querySelectorAll('a')].map((link) => link.getAttribute('href') ?? '');

describe('the view of files', () => {
  test('shows fifty, newest first, each with its state, the reason and what is next', async () => {
    const shown = await show(files, ask(''));
    expect(shown.rows).toHaveLength(50);
    expect(keys(shown).slice(0, 4)).toEqual(['f_copy', 'f_new', 'f_old', 'f_119']);
    expect(shown.words).toMatch(/clip 119\.mp4 \/in queued the service is busy; next try at 14:12/);
    expect(shown.words).toMatch(/clip 117\.mp4 \/in failed there is no video in it/);
  });

  test('goes to the end and back by links', async () => {
    const seen: (string | null)[] = [];
    let address = '';
    for (let page = 0; page < 3; page += 1) {
      const shown = await show(files, ask(address));
      seen.push(...keys(shown));
      const older = [...shown.document.querySelectorAll('.pages a')].find(({ textContent }) => textContent === 'Older');
      address = older?.getAttribute('href')?.split('?')[1] ?? '';
    }
    expect(new Set(seen).size).toBe(123);
    expect(address).toBe('');
  });

  test.for<[string, number, RegExp]>([
    ['state=failed', 20, /State × ?failed 20|failed 20/],
    ['state=failed,held', 40, /held 20/],
    ['stage=publishing', 0, /No file matches/],
    ['state=done&since=today', 20, /done 20/],
    ['channel=ch_1&state=failed', 0, /No file matches/],
    ['cause=no_rule', 20, /no_rule 20/],
    ['q=CLIP+117', 1, /there is no video in it/],
    ['q=%3Cscript', 1, /\[U\+202E\]\.mp4 \/in\/dir\/<script>alert\("1"\)/],
    ['state=settling', 1, /new & <b>\.mp4 \/in settling unchanged for 1 of 5 s/],
    ['state=faild', 50, /unknown state "faild"/],
    ['since=tomorrow', 50, /since "tomorrow": expected today/],
  ])('is filtered by its address: %s', async ([words, count, text]) => {
    const shown = await show(files, ask(words));
    expect(shown.rows).toHaveLength(count);
    expect(shown.words).toMatch(text);
  });

  test('offers every value with its count as a link, and the chosen one as a link that lets go of it', async () => {
    const shown = await show(files, ask('state=failed&q=clip'));
    expect(addresses(shown)).toEqual(
      expect.arrayContaining(['/files?q=clip', '/files?state=held&q=clip', '/files?state=failed&channel=ch_0&q=clip']),
    );
    const current = [...shown.document.querySelectorAll('.facets [aria-current]')].map(({ textContent }) =>
      textContent.replaceAll(/\s+/g, ' ').trim(),
    );
    expect(current).toEqual(['failed 20']);
    const chosen = [...shown.document.querySelectorAll('.chosen a')].map((link) => link.getAttribute('href'));
    expect(chosen).toEqual(['/files?q=clip', '/files?state=failed']);
  });

  test('keeps its rows during reading, and counts new files', async () => {
    const first = await show(files, ask('state=failed'));
    const address = first.document.querySelector('[data-live-address]')?.getAttribute('data-live-address') ?? '';
    expect(address).toMatch(/^\/files\?state=failed&top=\d+$/);
    await ledger.insert(someFacts({ ...kinds[3], id: 'f_later', folder: '/in', path: 'later.mp4' }));
    const second = await show(files, ask(address.split('?')[1] ?? ''));
    expect(keys(second)).toEqual(keys(first));
    expect(second.words).toContain('1 new');
    expect(second.document.querySelector('.newer a')?.getAttribute('href')).toBe('/files?state=failed');
    expect(keys(await show(files, ask('state=failed')))[0]).toBe('f_later');
    const later = await ledger.load('f_later');
    if (later !== null) await ledger.save({ ...later, end: 'vanished' });
  });

  test('has ticks and buttons for who may change something, and none for others', async () => {
    expect((await show(files, ask(''))).document.querySelector('input[type=checkbox], button[name=do]')).toBeNull();
    const shown = await show(files, ask('state=failed'), true);
    expect(shown.document.querySelectorAll('input[name=id]')).toHaveLength(20);
    const order = [...shown.document.querySelectorAll('form.many > fieldset, form.many > .scroll')];
    expect(order.map(({ localName }) => localName)).toEqual(['fieldset', 'div']);
    expect(shown.words).toContain('All 20 files that match');
  });
});

describe('before something is done with many files', () => {
  test('the page says how many, what it costs and when it is done', async () => {
    const shown = await show(many, ask('do=retry&which=all&state=failed'), true);
    expect(shown.words).toMatch(
      /20 files, at most 42 requests to the service\. 990 of 1,000 requests are used this hour; the last request for this command will be sent at about 14:32\./,
    );
    expect(shown.document.querySelector('form button')?.textContent).toBe('Retry: 20 files');
  });

  test('the files that are left are listed, with the reason', async () => {
    const shown = await show(many, ask('do=retry&which=all&state=held,done'), true);
    expect(shown.words).toMatch(/0 files, 0 requests/);
    expect(shown.words).toMatch(/20 files left: no rule matches them/);
    expect(shown.words).toMatch(/20 files left: done: nothing to retry/);
    expect(shown.document.querySelector('form')).toBeNull();
  });

  test.for([
    ['do=ignore&which=all&state=failed,held', /40 files, 0 requests/],
    ['do=send+elsewhere&which=all&state=failed&to=ch_9', /To channel ch_9\. 20 files, at most 42 requests/],
    ['do=publish&which=all', /0 files, 0 requests/],
  ] as const)('every command says its price: %s', async ([words, price]) => {
    expect((await show(many, ask(words), true)).words).toMatch(price);
  });

  test('a command that needs a channel asks for it first, and keeps what was chosen', async () => {
    const shown = await show(many, ask('do=send+elsewhere&which=ticked&id=f_3&id=f_9'), true);
    expect([...shown.document.querySelectorAll('option')].map(({ value }) => value)).toContain('ch_0');
    expect([...shown.document.querySelectorAll('input')].map((input) => input.getAttribute('value'))).toEqual([
      'send elsewhere',
      'ticked',
      'f_3',
      'f_9',
    ]);
  });

  test('only the ticked ones are meant', async () => {
    expect((await show(many, ask('do=retry&which=ticked&state=failed&id=f_3&id=f_9'), true)).words).toMatch(
      /^.*2 files, at most 6 requests/,
    );
  });

  test.for([
    ['do=retry&which=ticked', /Select files/],
    ['do=erase&which=all', /Choose what to do/],
    ['', /Choose what to do/],
    ['do=retry&which=all&state=faild', /unknown state/],
  ] as const)('a form that is incomplete is refused in words: %s', async ([words, why]) => {
    await expect(show(many, ask(words), true)).rejects.toThrow(why);
  });
});

describe('the view of one file', () => {
  test('shows why, what is next, the steps, the plan with its rule and line, and both ids', async () => {
    const { words } = await show(file, ask('', 'f_2'));
    for (const part of [
      /processing/,
      /publishing/,
      /File id f_2/,
      /Video id vid_2/,
      /Title Day 2/,
      /folders\[0\]\.rules\[0\] \*\* ?, line 12 of the configuration/,
      /feed_news published/,
    ])
      expect(words).toMatch(part);
  });

  test('tells each failed attempt with HTTP status and code, latest first', async () => {
    const { words } = await show(file, ask('', 'f_3'));
    expect(words).toMatch(/there is no video in it failed 422 processing_failed/);
  });

  test.for([
    ['f_3', ['/files/f_3/retry', '/files/f_3/ignore']],
    ['f_0', ['/files/f_0/first', '/files/f_0/ignore']],
    ['f_2', []],
    ['f_old', []],
  ] as const)('offers what can be done now: %s', async ([id, forms]) => {
    const shown = await show(file, ask('', id), true);
    expect([...shown.document.querySelectorAll('form')].map((form) => form.getAttribute('action'))).toEqual(forms);
    expect((await show(file, ask('', id))).document.querySelector('form')).toBeNull();
  });

  test('leads from a file that was replaced to the one in its place, and from a copy to what it is a copy of', async () => {
    expect(addresses(await show(file, ask('', 'f_old')))).toContain('/files/f_new');
    expect(addresses(await show(file, ask('', 'f_copy')))).toContain('/files/f_2');
  });

  test.for(['f_none', '', "' or 1=1", '../../etc/passwd', 'x'.repeat(100_000)])(
    'an unknown id is a kind 404 (%#)',
    async (id) => {
      await expect(show(file, ask('', id))).rejects.toThrow(
        new PageError(404, 'No file has this id. It may belong to another ledger: search for the file by its name.'),
      );
    },
  );

  test('names of files are text, wherever they are shown', async () => {
    const shown = await show(file, ask('', 'f_0'));
    expect(shown.document.querySelector('script')).toBeNull();
    expect(shown.words).toContain('[U+202E]');
  });
});

describe('the view of a file that settles', () => {
  test('says why it waits', async () => {
    const { words } = await show(settlingFile, ask(new URLSearchParams({ path: '/in/new & <b>.mp4' }).toString()));
    expect(words).toMatch(/Waits unchanged for 1 of 5 s/);
  });

  test('leads to the file once it has settled', async () => {
    expect(addresses(await show(settlingFile, ask('path=/in/clip+7.mp4')))).toEqual(['/files/f_7']);
  });

  test('is a kind 404 for any other path', async () => {
    await expect(show(settlingFile, ask('path=/in/none.mp4'))).rejects.toThrow(/No file is settling at this path/);
  });
});
