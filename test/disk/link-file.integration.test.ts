import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { writeLinkFile } from '../../src/disk/link-file.ts';
import { requireWatched } from '../../src/disk/held-directory.ts';
import { isSidecarName, sidecarNames } from '../../src/routing/sidecar.ts';
import { isLeftAlone } from '../../src/watch/left-alone-names.ts';
import { someFacts } from '../pipeline/some-facts.ts';
import { asNobody } from '../support/as-nobody.ts';
import { scratchDirectory } from '../support/scratch-directory.ts';

async function place() {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  await mkdir(scratch.file('news'));
  const facts = requireWatched(someFacts({ folder: scratch.path, path: 'news/clip.mp4' }), () => true);
  const moved = stack.move();
  return {
    scratch,
    name: scratch.file('news', 'clip.mp4.dropcast.json'),
    names: () => readdir(scratch.file('news')),
    write: (title: string) => writeLinkFile(facts, { title }),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

describe('a link file', () => {
  test('is next to its video, says who wrote it, and replaces only an earlier one', async () => {
    await using it = await place();
    expect(await it.write('one')).toBe('news/clip.mp4.dropcast.json');
    expect(JSON.parse(await readFile(it.name, 'utf8'))).toEqual({
      v: 1,
      written_by: 'dropcast',
      file: 'f_1',
      title: 'one',
    });
    await it.write('two');
    expect(JSON.parse(await readFile(it.name, 'utf8'))).toMatchObject({ title: 'two' });
    expect(await it.names()).toEqual(['clip.mp4.dropcast.json']);
  });

  const whole = '{"v":1,"written_by":"dropcast","file":"f_1","title":"one"}';
  test.each<[string, { readonly part?: string; readonly named?: string }]>([
    ['created a part', { part: '' }],
    ['wrote half of it', { part: whole.slice(0, 20) }],
    ['wrote all of it', { part: whole }],
    ['named it', { part: whole, named: whole }],
    ['removed the part', { named: whole }],
  ])('is one whole file, also if dropcast was killed when it %s', async (_, { part, named }) => {
    await using it = await place();
    if (part !== undefined) await writeFile(it.scratch.file('news', '.dropcast-f_1.link'), part);
    if (named !== undefined) await writeFile(it.name, named);
    await it.write('one');
    expect(await it.names()).toEqual(['clip.mp4.dropcast.json']);
    expect(JSON.parse(await readFile(it.name, 'utf8'))).toEqual(JSON.parse(whole));
  });

  test.each([
    ['a text', (path: string) => writeFile(path, 'mine')],
    ['JSON of another program', (path: string) => writeFile(path, '{"title":"mine"}')],
    ['JSON that is no object', (path: string) => writeFile(path, 'null')],
    ['a large file', (path: string) => writeFile(path, ' '.repeat(70_000) + '{"written_by":"dropcast"}')],
    [
      'a link to such a file',
      async (path: string) => {
        await writeFile(`${path}.other`, '{"written_by":"dropcast"}');
        await symlink(`${path}.other`, path);
      },
    ],
    ['a link to nothing', (path: string) => symlink('/nowhere/at/all', path)],
    ['a directory', (path: string) => mkdir(path)],
  ])('never replaces %s', async (_, make) => {
    await using it = await place();
    await make(it.name);
    const before = await it.names();
    await expect(it.write('one')).rejects.toThrow(/clip\.mp4\.dropcast\.json/);
    expect(await it.names()).toEqual(before);
  });

  test('is refused by a directory that is read-only, which keeps its files', async () => {
    await using it = await place();
    await chmod(it.scratch.path, 0o755);
    await chmod(it.scratch.file('news'), 0o555);
    await asNobody(() => expect(it.write('one')).rejects.toThrow(/EACCES/));
    expect(await it.names()).toEqual([]);
  });

  test('is never a video, nor a sidecar of one', () => {
    expect(isLeftAlone('clip.mp4.dropcast.json')).toBe(true);
    expect(isLeftAlone('CLIP.MP4.DROPCAST.JSON')).toBe(true);
    expect(isSidecarName('clip.mp4.dropcast.json')).toBe(false);
    for (const video of ['clip.mp4', 'clip.mp4.dropcast', 'clip.mp4.dropcast.mov'])
      expect(sidecarNames(video)).not.toContain('clip.mp4.dropcast.json');
  });
});
