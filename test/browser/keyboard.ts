import type { Locator, Page } from 'playwright-core';

const isFocused = (target: Locator): Promise<boolean> =>
  target.evaluate(
    (element: unknown) => element === (globalThis as { document?: { activeElement: unknown } }).document?.activeElement,
  );

/** Reaches an element with the tab key alone, at most 120 steps away, and presses a key there. */
export async function pressAt(page: Page, target: Locator, key: string): Promise<void> {
  for (let n = 0; n < 120 && !(await isFocused(target)); n += 1) await page.keyboard.press('Tab');
  if (!(await isFocused(target))) throw new Error('the tab key does not reach the element');
  await page.keyboard.press(key);
}
