import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import { mountShare } from '../support/share.ts';

const root = join(import.meta.dirname, '../..');

test(
  'a command that has ended leaves with its exit code, also when a share never answers',
  needs('bindfs', 'mount'),
  async () => {
    await using scratch = await scratchDirectory();
    for (const name of ['behind', 'nas']) await mkdir(scratch.file(name));
    await using share = await mountShare(scratch.file('behind'), scratch.file('nas'));
    share.hang();
    const script = `
      import { stat } from 'node:fs/promises';
      import { leaveIfHung } from ${JSON.stringify(join(root, 'src/leave-hung.ts'))};
      stat(${JSON.stringify(scratch.file('nas/clip.mp4'))}).catch(() => undefined);
      process.exitCode = 1;
      leaveIfHung(() => Number(process.exitCode));`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(1);
  },
);
