import { join } from 'node:path';
import { secretsIn } from '../../../config/secret.ts';
import { parseConfigDocument } from '../../../config/document.ts';
import { readRegularFile } from '../../../config/file-access.ts';
import { installedService } from '../../../config/installed-service.ts';
import { maskedText } from '../../../config/masked-text.ts';
import { resolvePath } from '../../../config/paths.ts';
import { TaggedValue } from '../../../config/raw-tree.ts';
import type { Patient } from '../patient.ts';

/**
 * Collects every value that must not appear in a report: secrets in the configuration (even an invalid one), the
 * targets of its tags, and the tokens of the status page and the metrics.
 *
 * @param text of the configuration; empty if it cannot be read
 */
export async function knownSecrets(patient: Patient, text: string): Promise<readonly string[]> {
  const { config, reach } = patient;
  const tokens =
    reach === null ? [] : ['page-token', 'metrics-token'].map((name) => valueIn(join(reach.stateDir, name)));
  const named = tagsIn(parseConfigDocument(text).value).map((tag) => behind(tag, patient));
  const found = (await Promise.all([...tokens, ...named])).flat();
  return [...found, ...secretsIn(config).map((each) => each.reveal()), ...maskedText(text).secrets]
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function tagsIn(part: unknown): readonly TaggedValue[] {
  if (part instanceof TaggedValue) return [part];
  return typeof part === 'object' && part !== null ? Object.values(part).flatMap(tagsIn) : [];
}

async function behind({ tag, argument }: TaggedValue, patient: Patient): Promise<readonly string[]> {
  const { shell, checked, service } = patient;
  if (tag === 'env') return [shell.env[argument] ?? '', await fromDaemon(argument, patient)];
  if (tag === 'file') return valueIn(resolvePath(argument, checked?.file ?? '/-', shell));
  const directory = shell.env['CREDENTIALS_DIRECTORY'] ?? '/run/secrets';
  const { keyFile } = service ?? installedService(null);
  return (await Promise.all([keyFile, join(directory, argument)].map(valueIn))).flat();
}

/** A variable's value in the daemon, whose unit may have environment files of its own. */
async function fromDaemon(name: string, { status }: Patient): Promise<string> {
  if (status === null) return '';
  const [environment = ''] = await valueIn(`/proc/${status.daemon.pid}/environ`, 256 * 1024);
  const line = environment.split('\0').find((each) => each.startsWith(`${name}=`));
  return line?.slice(name.length + 1) ?? '';
}

async function valueIn(path: string, mostBytes = 8 * 1024): Promise<readonly string[]> {
  const read = await readRegularFile(path, mostBytes);
  return read.ok ? [read.bytes.toString('utf8')] : [];
}
