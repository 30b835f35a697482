import { expect, test } from 'vitest';
import { findChromium } from './browser.ts';

const NOWHERE = ['/no/such/chromium'];

test('the named Chromium is taken, else the first that is there', () => {
  expect(findChromium({ CHROMIUM: '/opt/chromium' }, NOWHERE)).toBe('/opt/chromium');
  expect(findChromium({}, [...NOWHERE, process.execPath])).toBe(process.execPath);
});

test('without one the tests are skipped, but fail in continuous integration', () => {
  expect(findChromium({}, NOWHERE)).toBeUndefined();
  expect(() => findChromium({ CI: 'true' }, NOWHERE)).toThrow('no Chromium at /no/such/chromium; set $CHROMIUM');
});
