import { afterAll, aroundEach, expect, vi } from 'vitest';
import { asWorkOfFile, beginFile, takeStrays } from './timers-of-files.ts';

/**
 * Setup file: a file that leaves another timer or clock in its worker fails. Files share workers. After each file Vitest puts back what
 * was spied on, and where that was a faked timer, it puts back the fake, which never fires: a test of another file waited for ever.
 * So did one that let fake hours pass, for work of another file that went on each second.
 */
const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'Date'] as const;
const found = names.map((name): unknown => globalThis[name]);
beginFile(expect.getState().testPath ?? '');

aroundEach(asWorkOfFile);

afterAll(() => {
  vi.restoreAllMocks();
  const replaced = names.filter((name, index) => globalThis[name] !== found[index]);
  // The next files are not to blame.
  for (const [index, name] of names.entries()) Object.assign(globalThis, { [name]: found[index] });
  const strays = takeStrays();
  if (replaced.length > 0)
    throw new Error(
      `this file leaves ${replaced.join(', ')} replaced: spy on no faked timer, and end with vi.useRealTimers()`,
    );
  if (strays.length > 0)
    throw new Error(
      `an earlier file of this worker left work behind; stop it there, as with onTestFinished: ${strays.join('\n')}`,
    );
});
