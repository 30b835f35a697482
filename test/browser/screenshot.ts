import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

/** Where the pictures go that people look at: `$SCREENSHOTS`, else a folder for temporary files. */
export const SCREENSHOT_FOLDER = process.env['SCREENSHOTS'] ?? join(tmpdir(), 'dropcast-screenshots');

/** @returns where `NAME.png` was written, over that of an earlier run */
export async function takeScreenshot(page: Page, name: string): Promise<string> {
  await mkdir(SCREENSHOT_FOLDER, { recursive: true });
  const path = join(SCREENSHOT_FOLDER, `${name}.png`);
  await page.screenshot({ path });
  return path;
}
