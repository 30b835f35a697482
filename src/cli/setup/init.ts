import { mkdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { defaultStateDir } from '../../config/paths.ts';
import { serviceOf } from '../../config/installed-service.ts';
import { starterText } from '../../config/starter.ts';
import { shellWord } from '../../shell-word.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { collectAnswers } from './answers.ts';
import type { AnswerFlags, Answers } from './answers.ts';
import { beforeWriting, commandWith } from './resume-command.ts';
import { placeFile, planLines, requireReplaceable } from './place-file.ts';
import type { NewFile } from './place-file.ts';
import { questionsOf } from './questions.ts';

export interface InitOptions extends AnswerFlags {
  readonly config?: string;
  readonly force?: boolean;
  readonly plan?: boolean;
}

/**
 * `dropcast init`: asks for the values of a first configuration, then writes it and the key. Nothing is written before
 * the last answer.
 */
export async function init(shell: Shell, options: InitOptions): Promise<void> {
  const file = resolve(shell.cwd, options.config ?? 'dropcast.yaml');
  if (serviceOf(file) !== null)
    throw new CommandError(`${file} is for the installed service: run \`sudo dropcast setup\``, exitCodes.usage);
  const home = { file, stateDir: defaultStateDir(file, shell) };
  let given: InitOptions = options;
  const noted = (answer: AnswerFlags): void => void (given = { ...given, ...answer });
  const ask = () => collectAnswers(shell, options, { questions: questionsOf(shell), home, noted });
  const answers = await beforeWriting(ask, () => commandWith('dropcast init', given));
  const files = filesOf(file, answers);
  if (options.plan === true) {
    const lines = await planLines(answers.folder, files, { isForced: options.force === true });
    return void shell.stdout.write(`${lines.join('\n')}\n`);
  }
  for (const each of files) await requireReplaceable(each, options.force === true);
  if (!answers.folder.isThere) {
    await mkdir(answers.folder.path, { recursive: true });
    shell.stdout.write(`Folder: created ${answers.folder.path}\n`);
  }
  for (const each of files)
    shell.stdout.write(`${each.isSecret === true ? 'Key' : 'Configuration'}: ${await placeFile(each)}\n`);
  shell.stdout.write(`\nNext: ${nextCommand(shell, file)}\n`);
}

/** The files to write. The key comes first, because a configuration that names a missing file would be invalid. */
function filesOf(file: string, { baseUrl, key, folder, channel, title, feeds }: Answers): readonly NewFile[] {
  const keyFile = join(dirname(file), 'dropcast.key');
  const apiKey =
    key.from === null
      ? ({ tag: 'file', argument: 'dropcast.key' } as const)
      : 'env' in key.from
        ? ({ tag: 'env', argument: key.from.env } as const)
        : ({ tag: 'file', argument: key.from.file } as const);
  const text = starterText({ baseUrl, apiKey, folder: folder.path, channel, title, feeds, hasPage: true });
  return [
    ...(key.from === null ? [{ path: keyFile, text: `${key.value}\n`, mode: 0o600, isSecret: true }] : []),
    { path: file, text, mode: 0o600 },
  ];
}

function nextCommand({ cwd }: Shell, file: string): string {
  const isFound = file === join(cwd, 'dropcast.yaml');
  return isFound ? 'dropcast run' : `dropcast run --config ${shellWord(relative(cwd, file))}`;
}
