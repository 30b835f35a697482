import { expect, test } from 'vitest';
import type { Machine } from '../machine.ts';
import { addRepository, apt, installed, serveTree } from '../repository.ts';

/** Nothing is installed but the files that the release signed. */
export function checkSignatures(machine: () => Machine): void {
  test('a repository that another key signed is refused', async () => {
    const { box, tree } = machine();
    const url = await serveTree(box, tree);
    // Debian's own key, which every machine has, is another one.
    const theirs = await box.read('ls /usr/share/keyrings/debian-archive-keyring.* | head -n 1');
    await addRepository(box, url, theirs);
    const { code, stdout } = await apt(box, 'update');
    expect({ code, stdout }).toMatchObject({ code: 100 });
    expect(stdout).toMatch(/NO_PUBKEY|Missing key/);
    expect((await apt(box, 'install dropcast')).stdout).toContain('Unable to locate package dropcast');
  });

  test.each([
    [
      'a signed list of files',
      '/InRelease',
      /BADSIG|Bad signature|is not valid|isn't valid|Message has been manipulated/,
    ],
    ['a list of packages', '/binary-', /Hash Sum mismatch/],
  ])('%s that was altered on the way is refused', async (_, part, message) => {
    const { box, tree } = machine();
    await addRepository(box, await serveTree(box, tree, part));
    const { code, stdout } = await apt(box, 'update');
    expect({ code, stdout }).toMatchObject({ code: 100 });
    expect(stdout).toMatch(message);
    expect((await apt(box, 'install dropcast')).stdout).toContain('Unable to locate package dropcast');
  });

  test('a package that was altered on the way is refused', async () => {
    const { box, tree } = machine();
    await addRepository(box, await serveTree(box, tree, '.deb'));
    expect(await apt(box, 'update')).toMatchObject({ code: 0 });
    const { code, stdout } = await apt(box, 'install dropcast');
    expect({ code, stdout }).toMatchObject({ code: 100 });
    expect(stdout).toContain('Hash Sum mismatch');
    expect(await installed(box)).toBe('');
  });
}
