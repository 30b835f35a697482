import { copyFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A file that the demo drops. */
export interface DemoFile {
  /** Absolute path. */
  readonly path: string;
  /** Display name: the short name of the folder, and the file's path in the folder. */
  readonly name: string;
}

const onShare: readonly (readonly [sample: string, to: string])[] = [
  ['camera.mov', 'news/street_interview.mov'],
  ['clip.mp4', 'news/opening.mp4'],
  ['clip.mp4', 'news/closing.mp4'],
  ['camera.mov', 'news/harbour.mov'],
  ['lecture.mkv', 'talks/lecture_01.mkv'],
  ['interview.mp3', 'talks/interview.mp3'],
];

/** Copies the samples to their folders and finally renames each, as an exporter does. All copies differ in content. */
export async function dropFiles(
  samples: string,
  share: string,
  members: readonly { readonly name: string; readonly folder: string }[],
): Promise<readonly DemoFile[]> {
  const wanted = [
    ...onShare.map(([sample, to]) => ({ sample, path: join(share, to), name: `nas1/${to}` })),
    ...members.map(({ name, folder }) => ({
      sample: 'phone-vertical.mp4',
      path: join(folder, `${name}_card.mp4`),
      name: `${name}/${name}_card.mp4`,
    })),
  ];
  for (const { sample, path } of wanted) await drop(join(samples, sample), path);
  return wanted.map(({ path, name }) => ({ path, name }));
}

async function drop(sample: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const hidden = join(dirname(path), `.${basename(path)}.part`);
  if (/\.(?:mp4|mov)$/.test(path)) await writeFile(hidden, Buffer.concat([await readFile(sample), note(path)]));
  else await copyFile(sample, hidden);
  await rename(hidden, path);
}

/** A `free` box, which MP4 players ignore. It makes copies of the same sample differ. */
function note(text: string): Buffer {
  const content = Buffer.from(text);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(head.length + content.length);
  head.write('free', 4, 'latin1');
  return Buffer.concat([head, content]);
}
