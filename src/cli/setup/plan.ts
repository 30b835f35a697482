import type { FolderAnswer } from './check-folder.ts';
import { effectOf } from './place-file.ts';
import type { NewFile } from './place-file.ts';

/** Lists the files and folders that setup would create. Changes nothing. */
export async function planLines(
  folder: FolderAnswer | null,
  files: readonly NewFile[],
  { isForced }: { readonly isForced: boolean },
): Promise<readonly string[]> {
  const lines = await Promise.all(files.map((file) => lineOf(file, isForced)));
  return [
    ...(folder === null
      ? []
      : [`Folder: ${folder.isThere ? `${folder.path} is there` : `would create ${folder.path}`}`]),
    ...lines.flat(),
  ];
}

async function lineOf(file: NewFile, isForced: boolean): Promise<readonly string[]> {
  const name = file.isSecret === true ? 'Key' : 'Configuration';
  const effect = await effectOf(file);
  if (effect.is === 'nothing') return [`${name}: ${file.path} stays as it is`];
  if (effect.is === 'new') return [`${name}: would write ${file.path}`];
  const how = isForced
    ? file.isSecret === true
      ? ''
      : ', and keep the earlier one next to it'
    : ', but only with --force';
  return [`${name}: would replace ${file.path}${how}`, ...effect.difference.map((line) => `  ${line}`)];
}
