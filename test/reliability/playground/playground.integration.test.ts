import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from '../../browser/axe.ts';
import { complaintsOf, openBrowser } from '../../browser/browser.ts';
import type { TestBrowser } from '../../browser/browser.ts';
import { takeScreenshot } from '../../browser/screenshot.ts';
import { needs } from '../../support/needs.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import type { ScratchDirectory } from '../../support/scratch-directory.ts';
import { until } from '../../support/until.ts';
import { plants } from '../simulation/plants.ts';
import { playAll } from '../simulation/players.ts';
import { pageOf } from './page.ts';
import type { Recording } from './recorder.ts';

/** A short life with kills, refused connections and reboots. */
const seed = 52;

let scratch: ScratchDirectory;
let page: string;
let recording: Recording;

beforeAll(async () => {
  scratch = await scratchDirectory();
  page = scratch.file('deep', 'playground.html');
  const { stdout } = await playground('--seed', String(seed), '--out', page);
  expect(stdout).toBe(`${page}\n`);
  recording = recordingIn(await readFile(page, 'utf8'));
});
afterAll(() => scratch[Symbol.asyncDispose]());

test('every file of the ledger is on the page, and ends in the state that the ledger has', () => {
  const ends = recording.files.map(({ id, moves }) => [id, moves.at(-1)?.state] as const);
  expect(Object.keys(recording.ledger).length).toBeGreaterThan(0);
  expect(Object.fromEntries(ends)).toEqual(recording.ledger);
});

test('the lights of a life without a violation stay green', () => {
  expect(recording.lights.map(({ id }) => id)).toContain('D2');
  expect(recording.lights.filter(({ brokenAt }) => brokenAt !== null)).toEqual([]);
});

test('kills and faults of the network are on the page, and the host follows', () => {
  const faults = recording.events.filter(({ kind }) => kind === 'fault').map(({ text }) => text);
  expect(faults).toContainEqual(expect.stringMatching(/^killed (?:before|after) /));
  expect(faults).toContainEqual(expect.stringMatching(/: (?:GET|POST|PUT) \//));
  expect(new Set(recording.hosts[0]?.moves.map(({ state }) => state))).toEqual(
    new Set(['starting', 'running', 'killed', 'stopped']),
  );
});

test('a recorded life is the same as one that is not recorded', async () => {
  const { reports } = await playAll({ seeds: [seed], jobs: 1, isLogged: false, isRecorded: true, twiceEvery: 1 });
  expect(reports.map(({ isSame }) => isSame)).toEqual([true]);
});

test('a planted bug turns its light red, with the reason, before the end', async () => {
  const broken = await planted('sends again without asking');
  const light = broken.lights.find(({ id }) => id === 'D2');
  expect(light?.found).toMatch(/was sent again without a question/);
  expect(light?.brokenAt).toBeGreaterThan(0);
  expect(light?.brokenAt).toBeLessThan(broken.endsAt);
});

test.each([
  [['--seed', 'x'], '--seed x: use a whole number from 0 to 4294967295'],
  [['--seed', '-1'], '--seed'],
  [['--seed', '4294967296'], '--seed 4294967296: use a whole number from 0 to 4294967295'],
  [['--plant', 'none'], 'there is no plant none'],
  [['--unknown'], '--unknown'],
])('%j is a mistake with exit code 2', async (args, message) => {
  const failed = expect.objectContaining({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  await expect(playground(...args)).rejects.toEqual(failed);
});

test('--help names every option', async () => {
  const { stdout } = await playground('--help');
  for (const option of ['--seed', '--fleet', '--plant', '--out']) expect(stdout).toContain(option);
});

describe('in Chromium', needs('chromium'), () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser[Symbol.asyncDispose]());

  test.each(['light', 'dark'] as const)('the page plays to the end from a file, in %s', async (colorScheme) => {
    const tab = await browser.newPage({ colorScheme, viewport: { width: 360, height: 740 } });
    await tab.goto(pathToFileURL(page).href);
    expect(await violationsOf(tab)).toEqual([]);
    await playToEnd(tab);
    for (const { name, moves } of recording.files) {
      const lane = tab.getByRole('list', { name: String(moves.at(-1)?.state), exact: true });
      expect(await lane.getByRole('listitem').allTextContents()).toContainEqual(expect.stringContaining(name));
    }
    expect(await tab.getByRole('status').textContent()).toBe('All invariants hold');
    expect(await violationsOf(tab)).toEqual([]);
    expect(await tab.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await takeScreenshot(tab, `playground-${colorScheme}`);
    expect(complaintsOf(tab)).toEqual([]);
  });

  test.each([
    ['reduce', false],
    ['no-preference', true],
  ] as const)('with the preference %s for motion, files are animated: %s', async (reducedMotion, isAnimated) => {
    const tab = await browser.newPage({ reducedMotion });
    await tab.goto(pathToFileURL(page).href);
    await tab.evaluate('Element.prototype.animate = () => (window.isAnimated = true)');
    await playToEnd(tab);
    expect(await tab.evaluate('window.isAnimated ?? false')).toBe(isAnimated);
  });

  test('keys play, pause and move through time', async () => {
    const tab = await browser.newPage();
    await tab.goto(pathToFileURL(page).href);
    const clock = () => tab.getByLabel('Simulated time').textContent();
    await tab.keyboard.press('ArrowRight');
    expect(await clock()).toBe('00:00:01.0');
    await tab.keyboard.press('Shift+ArrowRight');
    const next = recording.events.find(({ kind, at }) => kind === 'fault' && at > 1_000);
    expect(await clock()).toBe(new Date(next?.at ?? NaN).toISOString().slice(11, 21));
    expect(await tab.locator('#strike').textContent()).toBe(next?.text);
    await tab.keyboard.press('Space');
    await tab.getByRole('button', { name: 'Pause' }).waitFor();
    await tab.keyboard.press('Space');
    await tab.getByRole('button', { name: 'Play' }).waitFor();
    await tab.getByLabel('Time', { exact: true }).fill('0');
    expect(await clock()).toBe('00:00:00.0');
    expect(complaintsOf(tab)).toEqual([]);
  });

  test('names are text, whatever they contain, and a broken light says why', async () => {
    const hostile = '</script><img src=x onerror="alert(1)"><!--<script>';
    const files = [{ id: 'f', name: hostile, moves: [{ at: 0, state: 'done', why: hostile }] }];
    const events = [{ at: 0, kind: 'fault' as const, text: hostile }];
    const lights = [{ id: 'D1', says: '', brokenAt: 0, found: hostile }];
    const file = await scratch.write('hostile.html', pageOf({ ...recording, states: ['done'], files, events, lights }));
    const tab = await browser.newPage();
    await tab.goto(pathToFileURL(file).href);
    expect(await tab.locator('#lanes li').textContent()).toBe(`${hostile}: ${hostile}`);
    expect(await tab.locator('#lights li').textContent()).toBe(`Broken: D1: ${hostile}`);
    expect(await tab.locator('#strike').textContent()).toBe(hostile);
    expect(await tab.locator('img').count()).toBe(0);
    expect(complaintsOf(tab)).toEqual([]);
  });
});

function playground(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(process.execPath, [join(import.meta.dirname, 'playground.ts'), ...args]);
}

async function playToEnd(tab: Page): Promise<void> {
  await tab.getByLabel('Speed').selectOption('256');
  await tab.getByRole('button', { name: 'Play' }).click();
  const time = tab.getByLabel('Time', { exact: true });
  await until('the page is at its end', async () => Number(await time.inputValue()) > recording.endsAt - 1);
  await tab.getByRole('button', { name: 'Play' }).waitFor();
}

function recordingIn(html: string): Recording {
  const [, data = ''] = /<script type="application\/json" id="recording">(.*)<\/script>/.exec(html) ?? [];
  return JSON.parse(data) as Recording;
}

/** The first life that shows the bug. A change of the product gives its noted seeds other lives. */
async function planted(name: string): Promise<Recording> {
  const { changes, breaks, seen = [] } = plants.find((plant) => plant.name === name) ?? { changes: [] };
  const seeds = [...new Set([...seen, ...Array.from({ length: 500 }, (_, n) => n + 1)])];
  const one = { seeds, changes, jobs: 1, isLogged: false, isRecorded: true, twiceEvery: Infinity };
  let found: Recording | null = null;
  await playAll({
    ...one,
    until: ({ violations, recording }) => {
      if (violations.some(({ invariant }) => invariant === breaks)) found = recording;
      return found !== null;
    },
  });
  if (found === null) throw new Error(`no life shows ${name}`);
  return found;
}
