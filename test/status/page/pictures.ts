import { writeFile } from 'node:fs/promises';
import type { Daemon } from '../../../src/daemon/daemon.ts';
import { openBrowser } from '../../browser/browser.ts';
import { busyPicture, noon } from '../../view/picture/some-picture.ts';
import { idleDaemon } from './idle-daemon.ts';
import { servedPage } from './served-page.ts';

// node --conditions=source test/status/page/pictures.ts
//
// Takes the pictures of docs/page.md: the page of today, with the busy day of the tests.

const pictures = [
  { file: 'page-overview.png', viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  { file: 'page-phone.png', viewport: { width: 360, height: 1100 }, colorScheme: 'dark' },
] as const;

const daemon: Daemon = idleDaemon(busyPicture());
Date.now = () => noon;
await using page = await servedPage({ daemon });
await using browser = await openBrowser();
for (const { file, ...look } of pictures) {
  const tab = await browser.newPage({ ...look, reducedMotion: 'reduce' });
  await tab.goto(page.link('change'));
  await tab.waitForURL('**/');
  const picture = await tab.screenshot();
  await writeFile(new URL(`../../../docs/${file}`, import.meta.url), picture);
  console.log(`docs/${file}: ${Math.round(picture.length / 1000)} kB`);
}
