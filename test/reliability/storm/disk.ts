import {
  appendFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** Where files of the storm are dropped, below the outer folder. `inner` is a watched folder of its own, which puts files away. */
export const places = ['.', 'a', 'a/b', 'ends in \u{65}\u{301}', 'inner', 'inner/c'] as const;
/** The second and third are one name in two Unicode forms: two files for the kernel. */
const names = ['one.mpg', '\u{e9}.mpg', '\u{65}\u{301}.mpg', 'two.mov', 'one.yaml', 'left-out.txt', 'growing.mpg.part'];

/** A number from 0 up to `limit`, which is left out. */
export type Pick = (limit: number) => number;

/** Something that people and programs do to the files of a folder; what cannot be done at this moment is left undone. */
export function meddle(root: string, pick: Pick): void {
  const of = <T>(all: readonly T[]): T => all[pick(all.length)] as T;
  const path = (): string => join(root, of(places), `${pick(4)}${of(names)}`);
  const deeds: readonly (() => void)[] = [
    ...Array.from({ length: 5 }, () => () => drop(path(), pick)),
    () => appendFileSync(path(), 'more'),
    () => renameSync(path(), path()),
    () => renameSync(path(), path()),
    () => rmSync(path()),
    () => linkSync(path(), path()),
    () => symlinkSync('/elsewhere', path()),
    () => symlinkSync(root, join(root, of(places), `link-${pick(2)}`)),
    () => renameSync(join(root, 'a/b'), join(root, of(['a/moved', 'inner/moved']))),
    () => renameSync(join(root, of(['a/moved', 'inner/moved'])), join(root, 'a/b')),
    () => rmSync(join(root, of(['a/moved', 'inner/c'])), { recursive: true }),
  ];
  try {
    of(deeds)();
  } catch {
    // Not there, or there already.
  }
}

function drop(path: string, pick: Pick): void {
  mkdirSync(dirname(path), { recursive: true });
  // One in eight has the content of others.
  writeFileSync(path, path.endsWith('.yaml') ? 'title: Storm' : String(pick(8) === 0 ? 0 : pick(1e9)));
}

/** What a folder consists of, by a look at the disk alone. */
export interface Contents {
  readonly seen: number;
  readonly media: number;
  readonly sidecars: number;
  readonly ignored: number;
  readonly refused: number;
}

/** @param others directories directly in the folder that are watched by themselves */
export function contentsOf(folder: string, others: readonly string[]): Contents {
  const count = { media: 0, sidecars: 0, ignored: 0, refused: 0 };
  const walk = (directory: string): void => {
    for (const entry of readdirSync(join(folder, directory), { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (path === '.dropcast' || path === '.dropcast-probe' || others.includes(path)) continue;
      if (entry.name.startsWith('.') || entry.name.endsWith('.part') || path === 'done') count.ignored += 1;
      else if (entry.isDirectory()) walk(path);
      else if (!entry.isFile()) count.refused += 1;
      else if (/\.(mpg|mov)$/u.test(path)) count.media += 1;
      else if (path.endsWith('.yaml')) count.sidecars += 1;
      else count.ignored += 1;
    }
  };
  walk('.');
  return { seen: count.media + count.sidecars + count.ignored + count.refused, ...count };
}
