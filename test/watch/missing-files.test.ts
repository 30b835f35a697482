import { expect, test } from 'vitest';
import { recordingLogger } from '../pipeline/silent-logger.ts';
import { Inventory } from '../../src/watch/inventory.ts';
import { MissingFiles } from '../../src/watch/missing-files.ts';
import { NotNowError } from '../../src/watch/ports.ts';
import { FakeClock } from './fake-clock.ts';

const version = { size: 1, mtimeNs: '1', ctimeNs: '1', ino: '1', birthtimeNs: '1' };

function open() {
  const logger = recordingLogger();
  const inventory = new Inventory();
  const paths = Array.from({ length: 100 }, (_, n) => `${n}.mp4`);
  for (const path of paths) inventory.taken.set(path, version);
  const sink: { refuses: Error | null } = { refuses: null };
  const missing = new MissingFiles({
    folder: { path: '/nothing is here' },
    clock: new FakeClock(),
    logger,
    signal: new AbortController().signal,
    inventory,
    settler: {
      forget: (path) => inventory.taken.delete(path),
      hint: () => undefined,
    },
    believes: async () => true,
    scanSoon: () => undefined,
    sink: {
      gone: async () => {
        if (sink.refuses !== null) throw sink.refuses;
      },
    },
  });
  const said = () => logger.lines.filter(({ level }) => level !== 'debug').map(({ message }) => message);
  return { missing, paths, sink, inventory, said };
}

test('a hundred missing files that cannot be noted are one line, are kept, and are one line when it has passed', async () => {
  const { missing, paths, sink, inventory, said } = open();
  sink.refuses = new Error('the disk is full');
  for (let turn = 0; turn < 3; turn += 1) await missing.report(paths, true);
  expect(inventory.taken.size).toBe(100);
  expect(said()).toEqual([expect.stringContaining('only counted')]);
  sink.refuses = null;
  await missing.report(paths, true);
  expect(inventory.taken.size).toBe(0);
  expect(said().slice(1)).toEqual([expect.stringContaining('again')]);
});

test('one that only has to wait is no line', async () => {
  const { missing, paths, sink, said } = open();
  sink.refuses = new NotNowError('busy');
  await missing.report(paths, true);
  expect(said()).toEqual([]);
});
