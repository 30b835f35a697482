import type { FrameLocator, Locator, Page } from 'playwright-core';

/** What the tests use of HTMLMediaElement; the types of the DOM are not loaded here. */
export interface MediaElement {
  muted: boolean;
  currentTime: number;
  playbackRate: number;
  readonly paused: boolean;
  readonly ended: boolean;
  play(): Promise<void>;
  pause(): void;
}

export function playerOf(where: Page | FrameLocator): Locator {
  return where.locator('video, audio');
}

/** Starts the player, muted: nobody has clicked, and browsers let only silent players start by themselves. It need not succeed. */
export async function play(where: Page | FrameLocator): Promise<void> {
  await playerOf(where).evaluate((media: MediaElement) => {
    media.muted = true;
    media.play().catch(() => undefined);
  });
}

/** Waits until the player has come to this second, or to its end. @throws after 20 s */
export async function playedUntil(where: Page | FrameLocator, second: number): Promise<void> {
  const isThere = (media: MediaElement, wanted: number) => media.ended || media.currentTime >= wanted;
  const giveUpAtMs = Date.now() + 20_000;
  while (!(await playerOf(where).evaluate(isThere, second))) {
    if (Date.now() > giveUpAtMs) throw new Error(`the player did not come to ${second} s within 20 s`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export async function playedToTheEnd(where: Page | FrameLocator): Promise<void> {
  await playedUntil(where, Infinity);
}
