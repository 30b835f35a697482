import { readFile } from 'node:fs/promises';
import type { InstalledService } from '../../config/installed-service.ts';
import { loadConfig } from '../../config/load.ts';
import { starterText } from '../../config/starter.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { collectAnswers, givenKey } from './answers.ts';
import type { AnswerFlags } from './answers.ts';
import type { FolderAnswer } from './check-folder.ts';
import type { NewFile } from './place-file.ts';
import { serviceGroup } from './make-folder.ts';
import type { Questions } from './questions.ts';
import { checkKey } from './service-answers.ts';

/** What a setup is going to write. */
export interface SetupFiles {
  /** In this order: the configuration needs the key. */
  readonly files: readonly NewFile[];
  /** To be made; null: the folders of a configuration that is there already are somebody else's work. */
  readonly folder: FolderAnswer | null;
}

/** What the package puts at the place of the configuration. */
const packagedExample = '/usr/lib/dropcast/dropcast.yaml';

/**
 * Answers become files. A configuration that somebody wrote is used as it is, unless answers are given: running setup again goes on with it.
 *
 * @throws {CommandError} for answers that are missing or cannot be used
 */
export async function planFiles(
  shell: Shell,
  flags: AnswerFlags,
  { service, questions }: { readonly service: InstalledService; readonly questions: Questions | null },
): Promise<SetupFiles> {
  const [present, example, key] = await Promise.all(
    [service.configFile, packagedExample, service.keyFile].map((path) => readFile(path, 'utf8').catch(() => '')),
  );
  const isOwn = present?.trim() !== '' && present !== example;
  const isAnswered = [flags.service, flags.folder, flags.channel, flags.title, flags.feed].some(
    (answer) => answer !== undefined,
  );
  if (isOwn && !isAnswered)
    return { files: await keyAlone(shell, flags, { service, questions, isThere: key?.trim() !== '' }), folder: null };
  const home = { file: service.configFile, stateDir: service.stateDir };
  const answers = await collectAnswers(shell, flags, { questions, home });
  const text = starterText({
    ...answers,
    apiKey: { tag: 'credential', argument: 'api_key' },
    folder: answers.folder.path,
    hasPage: service.instance === null,
  });
  const config = {
    path: service.configFile,
    text,
    mode: 0o640,
    gid: await serviceGroup(),
    replaceable: example ?? null,
  };
  return { files: [keyFile(service, answers.key.value), config], folder: answers.folder };
}

/** For a configuration that is there: its key is only asked for when there is none. A new one is checked before it replaces anything. */
async function keyAlone(
  shell: Shell,
  flags: AnswerFlags,
  world: { readonly service: InstalledService; readonly questions: Questions | null; readonly isThere: boolean },
): Promise<readonly NewFile[]> {
  const { service, questions, isThere } = world;
  const given = await givenKey(shell, flags);
  if (given === null && isThere) return [];
  if (given === null && questions === null)
    throw new CommandError(
      `there is no key in ${service.keyFile}; missing: --key-file FILE (or --key-env NAME)`,
      exitCodes.usage,
    );
  const key = given?.value ?? (await questions?.secret('API key:'))?.trim() ?? '';
  // A wrong configuration is reported in full by a later step.
  const { config } = await loadConfig(service.configFile, shell, 'without key');
  const checked = config === null ? null : await checkKey(config.service.baseUrl, key, shell.stopping);
  if (checked?.ok === false) throw new CommandError(checked.why, exitCodes.failed);
  return [keyFile(service, key)];
}

/** systemd passes it to the service; nobody else may read it. */
function keyFile(service: InstalledService, key: string): NewFile {
  return { path: service.keyFile, text: `${key}\n`, mode: 0o600, isSecret: true };
}
