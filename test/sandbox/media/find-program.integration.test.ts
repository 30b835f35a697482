import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram } from '../../../packages/sandbox/src/media/ffmpeg.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';

test('a program is found in the first folder of the PATH where it can be run', async () => {
  await using first = await scratchDirectory();
  await using second = await scratchDirectory();
  await writeFile(join(first.path, 'tool'), 'no program', { mode: 0o600 });
  await writeFile(join(second.path, 'tool'), '#!/bin/sh\n', { mode: 0o700 });
  const path = ['', '/nowhere', first.path, second.path].join(delimiter);
  expect(findProgram('tool', path)).toBe(join(second.path, 'tool'));
  expect(findProgram('tool', first.path)).toBeNull();
  expect(findProgram('tool', '')).toBeNull();
});
