import { readFile } from 'node:fs/promises';
import { parseConfigDocument } from '../../config/document.ts';
import type { InstalledService } from '../../config/installed-service.ts';
import { loadConfig } from '../../config/load.ts';
import { property, TaggedValue } from '../../config/raw-tree.ts';
import { starterText } from '../../config/starter.ts';
import { readMachine } from '../systemd/unit-needs.ts';
import { openFor } from '../systemd/probe-access.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';
import { collectAnswers } from './answers.ts';
import type { AnswerFlags } from './answers.ts';
import type { FolderAnswer } from './check-folder.ts';
import { givenKey } from './given-key.ts';
import { textOf } from './place-file.ts';
import type { NewFile } from './place-file.ts';
import { serviceGroup } from './make-folder.ts';
import type { Questions } from './questions.ts';
import { checkKey } from './service-answers.ts';

/** The files and the folder that setup will create. */
export interface SetupFiles {
  /** Files in the order to write them: the key first, because the configuration needs it. */
  readonly files: readonly NewFile[];
  /** The folder to create; null if an existing configuration names folders that the operator manages. */
  readonly folder: FolderAnswer | null;
}

/** The example configuration that the package installs. */
const packagedExample = '/usr/lib/dropcast/dropcast.yaml';

interface SetupContext {
  readonly service: InstalledService;
  readonly questions: Questions | null;
  /** Receives each answer except the key, as flags. */
  noted(answer: AnswerFlags): void;
}

/**
 * Turns answers into files. An existing configuration is kept unchanged unless answers are given, so that setup can be
 * run again.
 *
 * @throws {CommandError} for answers that are missing or invalid
 */
export async function planFiles(shell: Shell, flags: AnswerFlags, place: SetupContext): Promise<SetupFiles> {
  const { service } = place;
  const [present, example, key] = await Promise.all([
    textOf(service.configFile).then((text) => text ?? ''),
    readFile(packagedExample, 'utf8').catch(() => ''),
    textOf(service.keyFile).then((text) => text ?? ''),
  ]);
  const isOwn = present.trim() !== '' && present !== example;
  const isAnswered = [flags.service, flags.folder, flags.channel, flags.title, flags.feed].some(
    (answer) => answer !== undefined,
  );
  if (isOwn && !isAnswered) return { files: await keyAlone(shell, flags, { ...place, present, key }), folder: null };
  const answers = await collectAnswers(shell, flags, {
    ...place,
    home: { file: service.configFile, stateDir: service.stateDir, isOpenToService },
    ...(key.trim() !== '' && { earlierKey: key.trim() }),
  });
  const text = starterText({
    ...answers,
    apiKey: { tag: 'credential', argument: 'api_key' },
    folder: answers.folder.path,
    hasPage: service.instance === null,
  });
  const config = { path: service.configFile, text, mode: 0o640, gid: await serviceGroup(), replaceable: example };
  return { files: [keyFile(service, answers.key.value), config], folder: answers.folder };
}

async function isOpenToService(path: string): Promise<boolean> {
  const { user } = await readMachine(true);
  return user !== null && (await openFor(user, path)) === true;
}

/**
 * The key file for an existing configuration. Asks for the key only if there is none. A new key is checked before it
 * replaces anything.
 */
async function keyAlone(
  shell: Shell,
  flags: AnswerFlags,
  { service, questions, present, key: earlier }: SetupContext & { readonly present: string; readonly key: string },
): Promise<readonly NewFile[]> {
  const isGiven = flags.keyFile !== undefined || flags.keyEnv !== undefined;
  if (!readsCredential(present)) {
    if (!isGiven) return [];
    const message = `${service.configFile} does not read its key from ${service.keyFile}: put the new key where service.api_key names it`;
    throw new CommandError(message, exitCodes.usage);
  }
  if (!isGiven && earlier.trim() !== '') return [];
  if (!isGiven && questions === null)
    throw new CommandError(
      `there is no key in ${service.keyFile}; missing: --key-file FILE (or --key-env NAME)`,
      exitCodes.usage,
    );
  const given = await givenKey(shell, flags);
  const key = given?.value ?? (await questions?.secret('API key:'))?.trim() ?? '';
  // If the configuration is invalid, a later step reports all its problems.
  const { config } = await loadConfig(service.configFile, shell, 'without key');
  const checked = config === null ? null : await checkKey(config.service.baseUrl, key, shell.stopping);
  if (checked?.ok === false) throw new CommandError(checked.why);
  return [keyFile(service, key)];
}

/**
 * Whether a configuration, as far as it can be parsed, gets its key from systemd rather than from its own file or
 * variable.
 */
function readsCredential(text: string): boolean {
  const { value } = parseConfigDocument(text);
  const apiKey = property(property(value, 'service'), 'api_key');
  return value === undefined || apiKey === undefined || (apiKey instanceof TaggedValue && apiKey.tag === 'credential');
}

/** The key file, readable only by root. systemd passes the key to the service. */
function keyFile(service: InstalledService, key: string): NewFile {
  return { path: service.keyFile, text: `${key}\n`, mode: 0o600, isSecret: true };
}
