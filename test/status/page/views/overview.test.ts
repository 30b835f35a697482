import { expect, test } from 'vitest';
import type { LivePicture } from '../../../../src/view/picture/picture.ts';
import { overview } from '../../../../src/status/page/views/overview.ts';
import type { PageWorld } from '../../../../src/status/page/world.ts';
import { busyPicture, noon, someNowFile, somePicture } from '../../../view/picture/some-picture.ts';
import { hostView } from '../../../../src/view/hosts/host-view.ts';
import type { Host } from '../../../../src/view/hosts/fleet-view.ts';
import { someHost } from '../../../fleet/fake-fleet.ts';
import { idleDaemon } from '../idle-daemon.ts';

async function shown(picture: LivePicture, mayChange = true): Promise<string> {
  const world = {
    daemon: idleDaemon(picture),
    picture: async () => picture,
    now: noon,
    mayChange,
  } as unknown as PageWorld;
  return (await (await overview(world)).body).toString();
}

const text = (page: string): string =>
  page
    .replaceAll(/<title>.*?<\/title>/gs, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

test('the sentence comes first and is the only announcement to screen readers', async () => {
  const page = await shown(busyPicture());
  expect(page.match(/role="status"/g)).toHaveLength(1);
  expect(page.indexOf('role="status"')).toBeLessThan(page.indexOf('class="stages"'));
  expect(text(page)).toContain(
    'Uploading 2, 13 waiting, 4 on the service; 1 folder is frozen; 1 expected delivery is missing or late; 63 need you.',
  );
});

test('each stage leads to its files, and the slowest says so in a word', async () => {
  const page = await shown(busyPicture());
  for (const stage of ['settling', 'queued', 'uploading', 'processing', 'publishing', 'done'])
    expect(page).toContain(`href="/files?state=${stage}"`);
  expect(page.match(/class="stage slow"/g)).toHaveLength(1);
  expect(text(page)).toMatch(/uploading 4 .*slowest/);
  expect(text(page)).toContain('queued 12 oldest 14 min');
});

test('60 files of one cause are one line with what to do, and lead to all of them', async () => {
  const words = text(await shown(busyPicture()));
  expect(words).toContain('60 .mkv files could not be processed by the service');
  expect(words).toContain('Check one of them');
  expect(words).toMatch(/And 5 files for 2 other reasons/);
  const page = await shown(busyPicture());
  expect(page).toContain('href="/files?state=needs-you&amp;cause=processing_failed"');
  expect(page).toContain('href="/files/many?do=retry&amp;which=all&amp;state=needs-you&amp;cause=processing_failed"');
  // What no rule takes cannot be retried.
  expect(page).not.toMatch(/do=retry[^"]*cause=no_rule/);
});

test('a reader who may change nothing is offered nothing', async () => {
  expect(await shown(busyPicture(), false)).not.toContain('/files/many');
});

test('a file says how far it is, when it is ready, and when it is looked at', async () => {
  const words = text(await shown(busyPicture()));
  expect(words).toContain('uploading 62 %');
  expect(words).toContain('4.1 GB of 6.6 GB, 38 MB/s');
  expect(words).toContain('ready at 12:32');
  expect(words).toContain('next check in 40 s');
  expect(words).toContain('next try in 3 min ; the service answered 503'.replace(' ;', ';'));
});

test('budget, feeds, day, pauses and frozen folders are said in words', async () => {
  const words = text(await shown(busyPicture()));
  expect(words).toMatch(/412 of 1,000 used in the last hour; others use about 120\./);
  expect(words).toContain('15 free again at 12:14');
  expect(words).toMatch(/feed_news .*3 newer files, by 12:11/);
  expect(words).toMatch(/feed_sport not yet failed the service has no feed feed_sport/);
  expect(words).toMatch(/214 files live, 1.2 TB; 12 files failed or held/);
  expect(words).toMatch(/waits \/mnt\/nas : nothing is mounted/);
  expect(words).toMatch(/waits \/srv\/late : paused by anna/);
});

test('what is expected and missing, and a notification target that takes nothing, are said with their times', async () => {
  const words = text(await shown(busyPicture()));
  expect(words).toMatch(/missing evening\/\*\.mp4 in \/srv\/in : 1 of 2 files missing since 11:30/);
  expect(words).toMatch(
    /not notified webhook &quot;ops&quot; has accepted nothing since 11:50: answered 503; 3 messages wait\./,
  );
});

test('files that wait for a retry are counted in the stage that they will resume', async () => {
  const page = await shown(busyPicture());
  expect(text(page)).toMatch(/uploading 4 .*done 214 in 24 h/);
  expect(text(page)).toContain('2 of them wait for a retry, the next at 12:13');
});

test('before the first file there are no empty panels, and it says what to do next', async () => {
  const page = await shown(somePicture());
  expect(text(page)).toContain('Copy a video into a watched folder');
  for (const panel of ['needs-you', 'now', 'day', 'feeds', 'trouble', 'retrying', 'expected', 'limit', 'notes'])
    expect(page).not.toContain(`data-key="${panel}"`);
});

test('names cannot become markup, turn the text around or leave their link', async () => {
  const path = '/in/<img src=x onerror=alert(1)>"\u202Egpj.mp4';
  const page = await shown(somePicture({ now: { files: [someNowFile({ id: '"><b>', path })], more: 0 } }));
  expect(page).not.toMatch(/<img|<b>|\u202E/);
});

test.each([0, 1, 999, 1_000, 5_000])('the gauge stays in its frame with %i requests of 1,000', async (used) => {
  const budget = { used, limit: 1_000, others: 900, blocked_until: null, reported: null, total: 0, frees: [] };
  const page = await shown(somePicture({ budget }));
  const widths = [...page.matchAll(/class="(?:own|others)" width="([\d.]+)"/g)].map(([, width]) => Number(width));
  expect(widths).toHaveLength(2);
  for (const width of widths) expect(width).toBeLessThanOrEqual(100);
});

test('a limit that the service reports is shown with its reset', async () => {
  const reported = { left: 1_200, until: noon + 60_000 };
  const budget = { used: 4, limit: 9_000, others: 0, blocked_until: null, reported, total: 0, frees: [] };
  expect(text(await shown(somePicture({ budget })))).toMatch(/The service allows 1.200 more until/);
});

test('the hosts of a fleet have a panel; a single host has none unless it is drained', async () => {
  const panel = async (...hosts: readonly Host[]) => {
    const views = hosts.map((host) => hostView({ ...host, heardAt: noon }, 'a'));
    return text(await shown(somePicture({ fleet: { away_since: null, away: null, hosts: views } })));
  };
  const draining = { since: noon - 60_000, by: 'ana' };
  const fleet = await panel(someHost('a'), someHost('b<script>', { draining, version: '0.4.0' }));
  expect(fleet).toContain('Hosts');
  expect(fleet).toContain('b&lt;script&gt;');
  expect(fleet).toContain('drained by ana since 12:09: nothing runs here');
  expect(await panel(someHost('a.example.com'), someHost('b'))).toMatch(/a\s*\.example\.com/);
  expect(fleet).toContain('The hosts run different versions: 0.3.0 (a), 0.4.0');
  expect(await panel(someHost('a'))).not.toContain('Hosts');
  expect(await panel(someHost('a', { draining }))).toContain('drained by ana');
  expect(text(await shown(somePicture()))).not.toContain('Hosts');
});
