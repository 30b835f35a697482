import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { error, warning, type Finding } from './finding.ts';
import type { Surroundings } from './surroundings.ts';

const OTHERS_WRITE = 0o002;
/** Only the owner of a file may take it away or put another in its place, as in /tmp. */
const STICKY = 0o1000;

/** Whether anybody but its owner may have had a hand in a configuration: who writes it decides where the key goes. */
export async function checkTrust(
  configFile: string,
  { mode, around }: { readonly mode: number; readonly around: Surroundings },
): Promise<readonly Finding[]> {
  return [...checkMode(mode), ...(await checkDirectory(dirname(configFile))), ...checkEnvironment(around)];
}

function checkMode(mode: number): Finding[] {
  if ((mode & OTHERS_WRITE) === 0) return [];
  return [
    error(
      [],
      `every user can write this file, and so say where the key goes (mode 0${mode.toString(8)}); chmod o-w it`,
    ),
  ];
}

/** A warning: mounted configuration maps of containers are in such directories, and cannot be written all the same. */
async function checkDirectory(directory: string): Promise<Finding[]> {
  const mode = await stat(directory).then(
    (found) => found.mode,
    () => 0,
  );
  if ((mode & OTHERS_WRITE) === 0 || (mode & STICKY) !== 0) return [];
  return [warning([], `every user can put another file in its place; chmod o-w ${directory}`)];
}

/** The program checks certificates whatever this says; whoever set it expects something else, and gets to know it. */
function checkEnvironment({ env }: Surroundings): Finding[] {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0') return [];
  const message =
    'NODE_TLS_REJECT_UNAUTHORIZED=0 is set, which asks for the key to be given to anybody: unset it; NODE_EXTRA_CA_CERTS names a certificate to trust';
  return [error(['service'], message)];
}
