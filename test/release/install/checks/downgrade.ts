import { expect, test } from 'vitest';
import { dropVideo, reaches, unitState } from '../../../systemd/installed.ts';
import type { Machine } from '../machine.ts';
import { next } from '../release-tree.ts';
import { addRepository, apt, installed, serveTree } from '../repository.ts';
import { inbox } from './newcomer.ts';

const refusal =
  /^dropcast: a newer version uses \/var\/lib\/dropcast\S*\/ledger\.db \(schema 2\), and this one knows only schema 1: keep the newer version, or install it again$/m;

/** Back over a step of the schema. */
export function checkDowngrade(machine: () => Machine): void {
  test('an older version is refused in a sentence, and the newer one stays installed and running', async () => {
    const { box, tree } = machine();
    const before = await unitState(box, 'dropcast', 'MainPID', 'ActiveState');
    await addRepository(box, await serveTree(box, tree));
    await apt(box, 'update');
    const { code, stdout } = await apt(box, 'install --allow-downgrades dropcast=0.1.0');
    expect({ code, stdout }).toMatchObject({ code: 100, stdout: expect.stringMatching(refusal) as string });
    expect(await installed(box)).toBe(`${next} ii `);
    expect(await box.read('dropcast --version')).toBe(next);
    expect(await unitState(box, 'dropcast', 'MainPID', 'ActiveState')).toEqual(before);
    expect(await box.run('dpkg --audit')).toMatchObject({ stdout: '' });
    await dropVideo(box, `${inbox}/after_the_refusal.mp4`);
    await reaches(box, `${inbox}/after_the_refusal.mp4`, 'done');
  });

  test('an older version is refused after a removal too, and the newer one resumes', async () => {
    const { box, tree } = machine();
    await addRepository(box, await serveTree(box, tree));
    await apt(box, 'update');
    expect(await apt(box, 'remove dropcast')).toMatchObject({ code: 0 });
    const refused = await apt(box, 'install dropcast=0.1.0');
    expect(refused).toMatchObject({ code: 100, stdout: expect.stringMatching(refusal) as string });
    expect(await installed(box)).not.toMatch(/ii /);
    expect((await box.run('ls /usr/bin/dropcast')).code).not.toBe(0);
    expect(await apt(box, 'install dropcast')).toMatchObject({ code: 0 });
    await box.read('dropcast setup --yes');
    expect(await reaches(box, `${inbox}/after_the_refusal.mp4`, 'done')).toMatchObject({ state: 'done' });
    await dropVideo(box, `${inbox}/after_the_removal.mp4`);
    await reaches(box, `${inbox}/after_the_removal.mp4`, 'done');
  });
}
