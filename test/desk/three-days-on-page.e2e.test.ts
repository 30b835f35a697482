import { beforeAll, describe, expect, test } from 'vitest';
import { complaintsOf, openBrowser } from '../browser/browser.ts';
import { needs } from '../support/needs.ts';
import { hands } from './hand.ts';
import { pageDeeds } from './page-deeds.ts';
import type { Report } from './play.ts';
import { threeDays } from './played.ts';
import { nameOf } from './step.ts';
import { steps } from './three-days.ts';

describe(
  'three days of a desk, whose daily jobs are done on the page, by keyboard and touch in turn',
  needs('chromium'),
  () => {
    let reports: readonly Report[] = [];
    /** The jobs in order, with the presses that each needed. */
    const done: (readonly [job: string, presses: number])[] = [];
    const wrong: string[] = [];

    beforeAll(async () => {
      await using browser = await openBrowser();
      const people = await Promise.all(
        hands.map(async ([, handAt, look]) => ({ handAt, tab: await browser.newPage(look) })),
      );
      reports = await threeDays(async ({ step, link }) => {
        const { job = '' } = steps[step] ?? {};
        const person = people[done.length % people.length];
        if (person === undefined) return;
        const { tab } = person;
        const hand = person.handAt(tab);
        try {
          await tab.goto(link);
          await tab.waitForURL('**/');
          await tab.goto(new URL(pageDeeds[job]?.address ?? '', tab.url()).href);
          await pageDeeds[job]?.does(hand);
          wrong.push(...complaintsOf(tab).map((each) => `${job}: ${each}`));
        } catch (error) {
          wrong.push(`${job}: ${String(error)}`);
        }
        done.push([job, hand.presses()]);
        // An open page would be told about every virtual second of the days.
        await tab.goto('about:blank');
      });
    });

    test.each(steps.map((step, index) => [nameOf(step), index] as const))('%s', (_step, index) => {
      expect(reports[index]?.missed).toEqual([]);
    });

    test('every job of the page was done there, with at most two presses, and the page complained of nothing', () => {
      expect(wrong).toEqual([]);
      expect(Object.fromEntries(done)).toEqual(
        Object.fromEntries(Object.entries(pageDeeds).map(([job, { presses }]) => [job, presses])),
      );
    });
  },
);
