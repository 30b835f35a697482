import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isAsShown, stepsOf } from '../../e2e/page-steps.ts';
import type { Step } from '../../e2e/page-steps.ts';
import type { Box } from '../box.ts';
import { serviceUrl, startVideoService } from '../video-service.ts';
import { newerPackage } from './newer-package.ts';

const page = await readFile(new URL('../../../docs/install.md', import.meta.url), 'utf8');

const [install, ...others] = stepsOf(page);
/** So many steps later a file has been uploaded. */
const uploaded = others.findIndex(({ commands }) => commands.includes('cp clip.mp4')) + 2;

/** docs/install.md as it is written, on a machine of its own. */
export function checkGuide(box: () => Box, file: string): void {
  let key = '';

  test('docs/install.md: from nothing to an uploaded file', async ({ task }) => {
    await box().read(`cp ${file} /root/dropcast_0.1.0_amd64.deb && cp /mnt/media/clip.mp4 /root/`);
    const start = performance.now();
    await expectStep(box(), install, key);
    // The video service is the program of the package, so it has to wait for the first step.
    const service = await startVideoService(box());
    key = await service.key();
    for (const step of others.slice(0, uploaded)) await expectStep(box(), step, key);
    task.meta.figure = `${Math.round((performance.now() - start) / 1000)} s`;
    expect(await service.videos('clip')).toMatchObject([{ status: 'ready' }]);
  });

  test('docs/install.md: all other commands, up to the removal', async () => {
    await box().read(newerPackage(file, '0.2.0', '/root/dropcast_0.2.0_amd64.deb'), { timeoutMs: 300_000 });
    for (const step of others.slice(uploaded)) await expectStep(box(), step, key);
    expect((await box().run('ls -d /etc/dropcast /var/lib/dropcast* /etc/systemd/system/dropcast*')).stdout).toBe('');
  });
}

/** Types the step as a person does: the key where one is asked for, else yes. It prints what the page shows. */
async function expectStep(box: Box, step: Step | undefined, key: string): Promise<void> {
  const { line, commands, shown } = step ?? { line: 0, commands: 'false\n', shown: undefined };
  const typed = commands.replaceAll('https://video.example.com/v1', serviceUrl);
  const input = /\/dev\/stdin|--key-file -/.test(commands) ? `${key}\n` : 'y\n';
  const { code, stdout, stderr } = await box.run(`cd /root; cat | { set -e; ${typed}}`, { input });
  expect({ code, stdout, stderr }, `docs/install.md:${line}`).toMatchObject({ code: 0 });
  // What a step without a shown answer says is of no matter here; `console` is what is not run.
  const lines = stdout.replaceAll('\r', '\n');
  if (shown?.language === 'text')
    expect(isAsShown(lines, shown), `docs/install.md:${line} printed\n${stdout}`).toBe(true);
}
