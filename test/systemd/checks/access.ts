import { expect, test } from 'vitest';
import { configure } from '../installed.ts';
import type { Scene } from '../installed.ts';
import { folders } from './folders.ts';
import { settings } from './settings.ts';

/** After the checks of folders, which make alice. */
export function checkAccess(scene: () => Scene): void {
  const as = (user: string, command: string): string => `runuser -u ${user} -- ${command} 2>&1`;
  const looks = ['dropcast top --once', 'dropcast ls', 'dropcast open'];
  const commands = ['dropcast retry --all', 'dropcast reload'];

  test('a member of the group may look and not steer; another user may do neither; root and the service both', async () => {
    const { box } = scene();
    await configure(box, settings(folders, 'after_ready: { move: done }, '));
    await box.read('useradd --groups dropcast colleague && useradd stranger');
    for (const look of looks) {
      for (const user of ['colleague', 'dropcast', 'root']) {
        const { code, stdout } = await box.run(as(user, look));
        expect({ user, look, code, stdout }).toMatchObject({ code: 0 });
      }
      expect((await box.run(as('stranger', look))).code).not.toBe(0);
    }
    for (const command of commands) {
      for (const user of ['colleague', 'stranger']) {
        const { code, stdout } = await box.run(as(user, command));
        expect({ user, command, code }).not.toMatchObject({ code: 0 });
        if (user === 'colleague') expect(stdout).toMatch(/permission denied for .*: only root/);
      }
    }
    expect((await box.run(as('root', 'dropcast reload'))).code).toBe(0);
  });

  test('without the token no one sees the status page, and users who may look get a link to it', async () => {
    const { box } = scene();
    const status = (path: string) => ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', path] as const;
    const { stdout: bare } = await box.outside(status('http://127.0.0.1:7878/status.json'));
    expect(bare).toBe('401');
    const link = (await box.read(as('colleague', 'dropcast open'))).split('\n')[0] ?? '';
    expect(link).toMatch(/^http:\/\/127\.0\.0\.1:7878\/open\?code=/);
    const { stdout } = await box.outside([
      'curl',
      '-s',
      '-c',
      '/dev/null',
      '-b',
      '',
      link,
      'http://127.0.0.1:7878/status.json',
    ]);
    expect(stdout).toContain('"v":1');
    expect((await box.outside(status(link))).stdout).toBe('401');
  });
}
