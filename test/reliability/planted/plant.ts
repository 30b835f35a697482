import { link, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A small change of the built program: where the text is, and what stands there instead. White space in `anchor` matches any. */
export interface Edit {
  readonly anchor: string;
  readonly instead: string;
}

/**
 * Builds a copy of the program with some text replaced. Nothing in the product knows of it.
 *
 * @param program main file of the built program
 * @param folder that gets the copy; must not exist
 * @returns the main file of the copy
 * @throws when an anchor is not in the program exactly once: then the product has changed, and the edit has to follow it
 */
export async function plant(program: string, folder: string, edits: readonly Edit[]): Promise<string> {
  const dist = dirname(program);
  const copy = join(folder, 'dist');
  await mkdir(copy, { recursive: true });
  const names = await readdir(dist);
  const texts = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(dist, name), 'utf8')] as const)),
  );
  for (const edit of edits) {
    const [name, text] = edited(texts, edit);
    texts.set(name, text);
  }
  const original = new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(dist, name), 'utf8')] as const)),
  );
  for (const [name, text] of texts) {
    if (text === original.get(name)) await link(join(dist, name), join(copy, name));
    else await writeFile(join(copy, name), text);
  }
  const beside = await readdir(dirname(dist), { withFileTypes: true });
  for (const entry of beside.filter((one) => one.isFile()))
    await link(join(dirname(dist), entry.name), join(folder, entry.name));
  return join(copy, basename(program));
}

function edited(texts: ReadonlyMap<string, string>, { anchor, instead }: Edit): readonly [string, string] {
  const pattern = new RegExp(anchor.trim().split(/\s+/).map(escaped).join('\\s+'), 'g');
  const found = [...texts].flatMap(([name, text]) => [...text.matchAll(pattern)].map(() => name));
  const [name = '', ...others] = found;
  if (found.length !== 1)
    throw new Error(
      `the anchor of a planted bug is ${others.length === 0 ? 'not' : 'more than once'} in the program: ${anchor}`,
    );
  return [name, (texts.get(name) ?? '').replace(pattern, () => instead)];
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}
