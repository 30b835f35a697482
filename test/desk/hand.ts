import type { Locator, Page } from 'playwright-core';
import { pressAt } from '../browser/keyboard.ts';

/** A user of the page. Counts presses; typing is none. */
export interface Hand {
  readonly tab: Page;
  press(target: Locator): Promise<void>;
  type(target: Locator, text: string): Promise<void>;
  presses(): number;
}

/** Reaches everything with the tab key, and presses Enter. */
export function keyboard(tab: Page): Hand {
  return counting(tab, {
    press: (target) => pressAt(tab, target, 'Enter'),
    type: async (target, text) => {
      await pressAt(tab, target, 'Control+a');
      await tab.keyboard.type(text);
    },
  });
}

/** Taps on a touch screen. */
export function finger(tab: Page): Hand {
  return counting(tab, { press: (target) => target.tap(), type: (target, text) => target.fill(text) });
}

/** Both kinds of hands, with what their browser looks like. */
export const hands = [
  ['the keyboard', keyboard, { viewport: { width: 1600, height: 1000 } }],
  ['touch on a phone', finger, { viewport: { width: 360, height: 740 }, hasTouch: true }],
] as const;

function counting(tab: Page, { press, type }: Pick<Hand, 'press' | 'type'>): Hand {
  let count = 0;
  return {
    tab,
    type,
    press: async (target) => {
      count += 1;
      await press(target);
    },
    presses: () => count,
  };
}
