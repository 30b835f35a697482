import { chmod, chown, lchown, mkdir, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { trustedWalk } from '../../src/systemd/trusted-walk.ts';
import { UnitError } from '../../src/systemd/unit-text.ts';
import { needs } from '../support/needs.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';
import type { ScratchDirectory } from '../support/scratch-directory.ts';

const ALICE = 4444;

let scratch: ScratchDirectory;
beforeEach(async () => {
  scratch = await scratchDirectory();
  await mkdir(scratch.file('target/deep'), { recursive: true });
});
afterEach(() => scratch[Symbol.asyncDispose]());

const end = async (path: string): Promise<string | undefined> => (await trustedWalk(path))?.at(-1)?.path;

/** A directory below another, with its owner and mode. */
async function directory(parent: string, { owner = 0, group = 0, mode = 0o755 }): Promise<string> {
  const path = join(parent, 'dir');
  await mkdir(path);
  await chown(path, owner, group);
  await chmod(path, mode);
  return path;
}

describe('a link is followed only where root alone can change it', needs('root'), () => {
  const parents = [
    { name: 'of root', parent: {}, isKept: true },
    { name: 'of root, writable for a group or by an access control list', parent: { mode: 0o775 }, isKept: false },
    { name: 'of root, writable for all', parent: { mode: 0o777 }, isKept: false },
    { name: 'of root, writable for all and sticky', parent: { mode: 0o1777 }, isKept: true },
    { name: 'of somebody else', parent: { owner: ALICE, mode: 0o700 }, isKept: false },
    { name: 'of another user, sticky', parent: { owner: ALICE, mode: 0o1777 }, isKept: false },
  ];
  const places = [
    { where: 'in a directory', below: 0 },
    { where: 'below a directory', below: 1 },
    { where: 'deep below a directory', below: 2 },
  ];
  const links = [
    { whose: 'of root', owner: 0 },
    { whose: 'of somebody else', owner: ALICE },
  ];
  const rows = parents.flatMap((parent) =>
    places.flatMap((place) => links.map((link) => ({ ...parent, ...place, ...link }))),
  );

  test.each(rows)('a link $whose $where $name', async ({ parent, below, owner, isKept }) => {
    let at = await directory(scratch.path, parent);
    for (let n = 0; n < below; n += 1) at = await directory(at, {});
    const link = join(at, 'link');
    await symlink(scratch.file('target'), link);
    await lchown(link, owner, 0);
    if (isKept && owner === 0) {
      expect(await end(`${link}/deep`)).toBe(scratch.file('target/deep'));
    } else {
      await expect(trustedWalk(`${link}/deep`)).rejects.toThrow(UnitError);
      await expect(trustedWalk(`${link}/missing`)).rejects.toThrow(JSON.stringify(link));
    }
  });

  test('one behind another that is kept counts separately', async () => {
    const closed = await directory(scratch.path, { owner: ALICE });
    await symlink('../target', join(closed, 'theirs'));
    await symlink('dir/theirs', scratch.file('ours'));
    await expect(trustedWalk(scratch.file('ours'))).rejects.toThrow(join(closed, 'theirs'));
  });
});

test.each(['target', '../target', './target/../target', 'x/../../target', 'missing', 'deep/deep'])(
  'a link to %j leads where the kernel goes',
  async (target) => {
    await mkdir(scratch.file('in/x/target'), { recursive: true });
    await mkdir(scratch.file('in/target/deep/deep'), { recursive: true });
    await symlink(target, scratch.file('in/link'));
    await symlink('target', scratch.file('in/deep'));
    const path = scratch.file('in/link');
    expect((await end(path)) ?? null).toBe(await realpath(path).catch(() => null));
  },
);

test('a ring of links leads nowhere', async () => {
  await symlink('two', scratch.file('one'));
  await symlink('one', scratch.file('two'));
  expect(await trustedWalk(scratch.file('one'))).toBeNull();
});

test('the path is shown from the root on, with owners and modes', async () => {
  const way = await trustedWalk(scratch.file('target/deep'));
  expect(way?.map(({ path }) => path).slice(-2)).toEqual([scratch.file('target'), scratch.file('target/deep')]);
  expect(way?.[0]?.path).toBe('/');
  expect(way?.every(({ stats }) => stats.isDirectory())).toBe(true);
});
