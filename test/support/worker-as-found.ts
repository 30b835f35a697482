import { afterAll, vi } from 'vitest';

/**
 * Setup file: a file that leaves another timer or clock in its worker fails. Files share workers. After each file Vitest puts back what
 * was spied on, and where that was a faked timer, it puts back the fake, which never fires: a test of another file waited for ever.
 */
const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate', 'Date'] as const;
const found = names.map((name): unknown => globalThis[name]);

afterAll(() => {
  vi.restoreAllMocks();
  const replaced = names.filter((name, index) => globalThis[name] !== found[index]);
  if (replaced.length === 0) return;
  // The next files are not to blame.
  for (const [index, name] of names.entries()) Object.assign(globalThis, { [name]: found[index] });
  throw new Error(
    `this file leaves ${replaced.join(', ')} replaced: spy on no faked timer, and end with vi.useRealTimers()`,
  );
});
