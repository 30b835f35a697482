import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Environment } from './environment.ts';
import { shellWord } from '../shell-word.ts';
import { error, warning, type Finding } from './problem.ts';
import type { SecretSource } from './secret-source.ts';

const OTHERS_WRITE = 0o002;
/** Only the owner of a file may remove or replace it, as in /tmp. */
const STICKY = 0o1000;

/** Whether anybody but its owner can change a configuration: its author decides where the key goes. */
export async function checkTrust({ configFile, mode, environment }: SecretSource): Promise<readonly Finding[]> {
  return [
    ...checkMode(configFile, mode),
    ...(await checkDirectory(dirname(configFile))),
    ...checkEnvironment(environment),
  ];
}

function checkMode(configFile: string, mode: number): Finding[] {
  if ((mode & OTHERS_WRITE) === 0) return [];
  const message = `every user can change this file, and so have the key sent anywhere (mode 0${mode.toString(8)}); run: chmod o-w ${shellWord(configFile)}`;
  return [error([], message)];
}

/** Only a warning: containers mount configuration maps in such directories, and still nobody can write them. */
async function checkDirectory(directory: string): Promise<Finding[]> {
  const mode = await stat(directory).then(
    (found) => found.mode,
    () => 0,
  );
  if ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return [];
  return [warning([], `every user can replace this file; run: chmod o-w ${shellWord(directory)}`)];
}

/** The program always checks certificates; whoever set this expects something else and should know. */
function checkEnvironment({ env }: Environment): Finding[] {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  const message =
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which would give the key to any server; unset it, and name your own certificate authority in NODE_EXTRA_CA_CERTS';
  return [error(['service'], message)];
}
