import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const sandboxFile = new URL('../../../packages/sandbox/src/sandbox.ts', import.meta.url);

test('a program that Node takes from the command line can make videos', async () => {
  const program = `
    import { startSandbox } from ${JSON.stringify(sandboxFile.href)};
    await using sandbox = await startSandbox({ processingMs: { min: 0, max: 0 } });
    console.log((await sandbox.make.video({ title: 'Made' })).status);`;
  const options = ['--conditions=source', '--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, options);
  expect(stdout).toBe('ready\n');
});
