import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { violationsOf } from '../../browser/axe.ts';
import { complaintsOf, openBrowser, type TestBrowser } from '../../browser/browser.ts';
import { play, playedToTheEnd, playedUntil, playerOf, type MediaElement } from '../../browser/player.ts';
import { needs } from '../../support/needs.ts';
import { startServer } from '../../support/server.ts';
import { takeScreenshot } from '../../browser/screenshot.ts';
import { admin } from '../admin/admin-side.ts';
import { readSample, runSandbox, until, type Json, type RunningSandbox } from '../running-sandbox.ts';

const CLIP_S = 4;

describe('the embed page in Chromium', needs('chromium'), () => {
  let service: RunningSandbox;
  let browser: TestBrowser;
  beforeAll(async () => {
    [service, browser] = await Promise.all([runSandbox({ requestsPerHour: 1e6 }), openBrowser()]);
  });
  afterEach(() => browser.closePages());
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await service.sandbox.close();
  });

  const address = (id: string) => new URL(`/embed/${id}`, service.sandbox.baseUrl).href;
  const figures = async (id: string): Promise<Json> =>
    (await service.call('GET', `/analytics/videos?video_id=${id}`)).body.data;
  /** Waits until the figures are what is expected. */
  const figuresReach = (id: string, isReached: (record: Json) => boolean) =>
    until(async () => {
      const record = await figures(id);
      return isReached(record) ? record : undefined;
    });

  test('a play raises views, viewers, watch time and completion; the bytes it reads do not count again', async () => {
    const { id } = await service.upload('clip.mp4', { title: 'A clip' });
    const page = await browser.newPage();
    await page.goto(address(id));
    expect(await figures(id)).toMatchObject({ views: 0 });
    await play(page, 4);
    await figuresReach(id, (record) => record.views === 1);
    await admin(service, 'POST /clock/advance', { by: '1m' }); // else 4 times as fast is not believed
    await playedToTheEnd(page);
    const record = await figuresReach(id, ({ completion_rate: rate }) => rate === 1);
    expect(record).toMatchObject({ views: 1, unique_viewers: 1 });
    expect(record.avg_watch_time_seconds).toBeGreaterThan(CLIP_S * 0.9);
    expect(record.avg_watch_time_seconds).toBeLessThanOrEqual(CLIP_S + 0.2);
    expect(complaintsOf(page)).toEqual([]);
    expect(service.sandbox.requests().some(({ path }) => path === `/cdn/videos/${id}.mp4`)).toBe(true);
    const overview = (await service.call('GET', '/analytics/overview?channel_id=ch_news')).body.data;
    expect(overview.top_videos).toContainEqual({ id, title: 'A clip', views: 1 });
  });

  test('a reload is another view of the same viewer, another browser another viewer', async () => {
    const { id } = await service.upload('clip.mp4');
    const ann = await browser.newPage();
    await ann.goto(address(id));
    await play(ann);
    await figuresReach(id, (record) => record.views === 1);
    await ann.reload();
    await play(ann);
    expect(await figuresReach(id, (record) => record.views === 2)).toMatchObject({ unique_viewers: 1 });
    const bob = await browser.newPage();
    await bob.goto(address(id));
    await play(bob);
    expect(await figuresReach(id, (record) => record.views === 3)).toMatchObject({ unique_viewers: 2 });
  });

  test('reports a play that stops before the service has answered its start', async () => {
    const { id } = await service.upload('clip.mp4');
    const page = await browser.newPage();
    const { promise: hasStopped, resolve: stopped } = Promise.withResolvers<void>();
    await page.route(/\/plays$/, async (route) => {
      await hasStopped;
      await route.continue();
    });
    await page.goto(address(id));
    await play(page);
    await playedUntil(page, 1);
    await playerOf(page).evaluate((video: MediaElement) => video.pause());
    stopped();
    await figuresReach(id, (record) => record.avg_watch_time_seconds > 0.5);
  });

  test('skipped parts count neither as watched nor as completed', async () => {
    const { id } = await service.upload('clip.mp4');
    const page = await browser.newPage();
    await page.goto(address(id));
    await play(page);
    await playedUntil(page, 0.5);
    const [last, leftAt] = await Promise.all([
      page.waitForResponse(
        (response) =>
          reportOf(id).test(response.url()) && (response.request().postDataJSON() as { ended: boolean }).ended,
      ),
      playerOf(page).evaluate((video: MediaElement) => {
        const at = video.currentTime;
        video.currentTime = 3.4;
        return at;
      }),
    ]);
    await last.finished();
    const record = await figures(id);
    expect(record.avg_watch_time_seconds).toBeGreaterThan(0.3);
    expect(record.avg_watch_time_seconds).toBeLessThan(leftAt + CLIP_S - 3.4 + 0.3);
    expect(record.completion_rate).toBe(0);
  });

  test('the last seconds are reported when the page is left in the middle', async () => {
    const { id } = await service.upload('clip.mp4');
    const page = await browser.newPage();
    await page.goto(address(id));
    await play(page);
    await playedUntil(page, 1.5);
    await page.goto('about:blank');
    const record = await figuresReach(id, (found) => found.avg_watch_time_seconds > 0.5);
    expect(record.avg_watch_time_seconds).toBeLessThan(CLIP_S);
  });

  test('loops add to the watch time of their play', async () => {
    await service.call('PATCH', '/channels/ch_main', { default_player_settings: { loop: true, muted: true } });
    const { id } = await service.upload('clip.mp4', { channel_id: 'ch_main' });
    const page = await browser.newPage();
    await page.goto(address(id));
    await play(page, 4);
    await figuresReach(id, (found) => found.views === 1);
    await admin(service, 'POST /clock/advance', { by: '1h' }); // else 4 times as fast is not believed
    await page.waitForRequest(reportOf(id), { timeout: 120_000 });
    const record = await figuresReach(id, (found) => found.avg_watch_time_seconds > CLIP_S);
    expect(record).toMatchObject({ views: 1, unique_viewers: 1, completion_rate: 1 });
  });

  test('3 a running player reports, and shows at once that its video was deleted', async () => {
    const { id } = await service.upload('lecture.mkv');
    const page = await browser.newPage();
    await page.goto(address(id));
    // However long a busy machine takes to delete the video, it still runs then.
    await playerOf(page).evaluate((video: MediaElement) => (video.loop = true));
    await play(page, 4);
    await figuresReach(id, (record) => record.views === 1);
    const [report] = await Promise.all([
      page.waitForRequest(reportOf(id), { timeout: 120_000 }),
      service.call('DELETE', `/videos/${id}`),
    ]);
    const { watched_seconds: watchedS, ended } = report.postDataJSON() as { watched_seconds: number; ended: boolean };
    expect(ended).toBe(false);
    // A play counts from 5 s on by the clock of the sandbox. On a busy machine the player has shown less.
    expect(watchedS).toBeGreaterThan(0);
    await page.getByRole('heading', { name: 'Video not found' }).waitFor();
  });

  test('3 a player that starts, again or for the first time, shows that its video was deleted', async () => {
    const { id } = await service.upload('clip.mp4');
    const [playing, waiting] = await Promise.all([browser.newPage(), browser.newPage()]);
    for (const page of [playing, waiting]) await page.goto(address(id));
    await play(playing);
    await playedUntil(playing, 0.5);
    await Promise.all([
      playing.waitForResponse(reportOf(id)), // else this report could be the one that finds the video gone
      playerOf(playing).evaluate((video: MediaElement) => video.pause()),
    ]);
    await service.call('DELETE', `/videos/${id}`);
    const [report] = await Promise.all([playing.waitForRequest(reportOf(id)), play(playing), play(waiting)]);
    expect(report.postDataJSON()).toMatchObject({ ended: false }); // it does not wait for the end
    for (const page of [playing, waiting]) {
      await page.getByRole('heading', { name: 'Video not found' }).waitFor();
      expect(await page.locator('video').count()).toBe(0);
    }
  });

  test('plays in a frame on another origin count', async () => {
    const { id } = await service.upload('clip.mp4');
    const blog = `<title>A blog</title><iframe src="${address(id)}" allow="autoplay"></iframe>`;
    await using host = await startServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(blog),
    );
    const page = await browser.newPage();
    await page.goto(`http://localhost:${host.port}/`); // its port makes it another origin
    await play(page.frameLocator('iframe'));
    await figuresReach(id, (record) => record.views === 1);
    expect(complaintsOf(page)).toEqual([]);
  });

  test('any title is plain text and opens nothing', async () => {
    const titles = {
      HTML: '<img src=x onerror=alert(1)><script>alert(2)</script>',
      quotes: `"' onplay=alert(1) autofocus onfocus=alert(2) x='"`,
      directions: 'a\u0001\u001b[2J\u202Egnp.\u202C \u05d0\u05d1',
      long: `${'W'.repeat(250)} ${'\u{1F600}'.repeat(124)}`,
    };
    const { id } = await service.upload('clip.mp4');
    const page = await browser.newPage();
    for (const [what, title] of Object.entries(titles)) {
      await service.call('PATCH', `/videos/${id}`, { title });
      await page.goto(address(id));
      await takeScreenshot(page, `embed-title-${what}`);
      const shown = (await page.locator('h1').textContent()) ?? '';
      expect(title.replaceAll(/\p{Cc}/gu, ' ').startsWith(shown.replace(/…$/, '')), what).toBe(true);
      expect(shown.length, what).toBeGreaterThan(10);
      expect(await page.locator('img, main script').count(), what).toBe(0);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), what).toBe(true);
      expect(complaintsOf(page), what).toEqual([]);
    }
  });

  test('without scripts it is a plain player with controls', async () => {
    const { id } = await service.upload('clip.mp4');
    await service.call('PATCH', '/channels/ch_news', { default_player_settings: { autoplay: true, muted: true } });
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(address(id));
    await service.call('PATCH', '/channels/ch_news', { default_player_settings: {} });
    expect(await page.locator('video[controls][playsinline][poster]').count()).toBe(1);
    await playedUntil(page, 0.5);
    expect(complaintsOf(page)).toEqual([]);
  });

  test('without controls, by the settings of the channel, a click and a key start and stop it', async () => {
    await service.call('PATCH', '/channels/ch_podcast', { default_player_settings: { controls: false } });
    const { id } = await service.upload('clip.mp4', { channel_id: 'ch_podcast' });
    const page = await browser.newPage();
    await page.goto(address(id));
    const isPaused = () => playerOf(page).evaluate((video: MediaElement) => video.paused && !video.ended);
    expect(await page.locator('video[controls]').count()).toBe(0);
    await playerOf(page).evaluate((video: MediaElement) => (video.muted = true));
    await playerOf(page).click();
    await until(async () => ((await isPaused()) ? undefined : true));
    await page.keyboard.press('Space');
    await until(async () => ((await isPaused()) ? true : undefined));
  });

  test('a file that browsers cannot play is offered for download', async () => {
    const { id } = await service.upload('broadcast.m2ts');
    const page = await browser.newPage();
    await page.goto(address(id));
    await page.getByRole('link', { name: 'Download it' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await takeScreenshot(page, 'embed-unplayable');
  });

  test('every state is free of violations that axe knows', async () => {
    const [clip, sound, failed] = await Promise.all(
      ['clip.mp4', 'interview.mp3', 'truncated.mp4'].map((sample) => service.upload(sample, { title: sample })),
    );
    const pending = await service.create();
    const page = await browser.newPage();
    for (const [name, id] of Object.entries({ clip, sound, failed, pending, gone: { id: 'vid_nobody' } })) {
      await page.goto(address(id.id));
      await takeScreenshot(page, `embed-${name}`);
      expect(await violationsOf(page), name).toEqual([]);
    }
  });

  test('a page that waits for its video becomes the player without a reload by the viewer', async () => {
    const { id, upload_url: uploadUrl } = await service.create();
    const page = await browser.newPage();
    await page.clock.install();
    await page.goto(address(id));
    await page.getByRole('heading', { name: 'Not ready yet' }).waitFor();
    await fetch(uploadUrl, { method: 'PUT', body: await readSample('clip.mp4') });
    await service.ended(id);
    await page.clock.runFor(5000); // after which it asks
    await playerOf(page).waitFor({ timeout: 120_000 });
  });
});

function reportOf(videoId: string): RegExp {
  return new RegExp(`/embed/${videoId}/plays/play_`);
}
