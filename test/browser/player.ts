import { until } from '../support/until.ts';
import type { FrameLocator, Locator, Page } from 'playwright-core';

/** What the tests use of HTMLMediaElement; the types of the DOM are not loaded here. */
export interface MediaElement {
  muted: boolean;
  currentTime: number;
  playbackRate: number;
  loop: boolean;
  readonly paused: boolean;
  readonly ended: boolean;
  play(): Promise<void>;
  pause(): void;
}

export function playerOf(where: Page | FrameLocator): Locator {
  return where.locator('video, audio');
}

/**
 * Starts the player, muted: without a click, browsers start only silent players. It need not succeed.
 * @param rate how many times as fast as life. The service believes at most 2, counted by its clock (watch-rules.ts).
 */
export async function play(where: Page | FrameLocator, rate = 2): Promise<void> {
  await playerOf(where).evaluate((media: MediaElement, wanted: number) => {
    media.muted = true;
    media.playbackRate = wanted;
    media.play().catch(() => undefined);
  }, rate);
}

/** Waits until the player has reached this second, or its end. */
export async function playedUntil(where: Page | FrameLocator, second: number): Promise<void> {
  const isThere = (media: MediaElement, wanted: number) => media.ended || media.currentTime >= wanted;
  await until(`the player reached ${second} s`, () => playerOf(where).evaluate(isThere, second));
}

export async function playedToTheEnd(where: Page | FrameLocator): Promise<void> {
  await playedUntil(where, Infinity);
}
