import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ConfigPaths } from '../../../config/paths.ts';
import { grantCommand, SERVICE_USER, userOfProcess } from '../../../read-permission.ts';
import type { Credentials } from '../../../systemd/folder-access.ts';
import { shellWord } from '../../../shell-word.ts';
import { asUser } from '../../systemd/probe-access.ts';
import { readMachine } from '../../systemd/unit-needs.ts';
import { hungFix, needsSudo, problem, SkippedError, warning } from '../finding.ts';
import type { Check, Finding } from '../finding.ts';
import type { Patient } from '../patient.ts';

/**
 * Tests, as the service's user, what the service needs to do: list a folder, open its files, and move and delete one if
 * that is configured.
 */
export const access: Check = {
  name: 'access to the folders',
  run: async (patient) => {
    const { checked } = patient;
    if (checked?.paths == null) throw new SkippedError('no configuration says which folders');
    const who = await userOf(patient);
    const as = who === null ? null : { ...who, name: SERVICE_USER };
    const found = await Promise.all(checked.paths.folders.map(async (folder) => probe(folder, as, patient)));
    return found.flat();
  },
};

/**
 * Turns the result of a probe into findings.
 *
 * @param code exit code of the script below, or of setpriv(1), which exits with 127 when it cannot switch to the user
 * @param said output of the script: the file or directory that cannot be opened
 */
export function accessVerdict(path: string, code: number, said: string, who: string): readonly Finding[] {
  if (code === 0) return [];
  const refused = refusals[code];
  if (refused === undefined) {
    const what = `could not test whether ${who} may use ${path} (setpriv: exit ${code})`;
    return [warning(what, 'files may wait there unseen')];
  }
  return [problem(`${who} cannot ${refused.what} ${path}${said === '' ? '' : `: ${said}`}`, refused.why)];
}

/** The meaning of each exit code of the script. With a kind, the script prints the path of what is closed. */
const refusals: Readonly<Record<number, { what: string; why: string; kind?: 'file' | 'directory' }>> = {
  11: { what: 'enter', why: 'none of its files is uploaded' },
  12: { what: 'list', why: 'none of its files is found' },
  13: { what: 'read a file in', why: 'it is not uploaded', kind: 'file' },
  14: { what: 'create files in', why: 'after_ready cannot be done' },
  15: { what: 'rename files in', why: 'after_ready cannot move them' },
  16: { what: 'delete files in', why: 'after_ready cannot remove them' },
  18: { what: 'open a directory in', why: 'nothing in it is found', kind: 'directory' },
};

/** Probe script, run as one process per folder so that an unresponsive share hangs that process and not the doctor. */
const script = `cd -- "$1" 2>/dev/null || exit 11
ls -A . >/dev/null 2>&1 || exit 12
closed=$(find . -maxdepth 3 ! -name . -name '.*' -prune -o -type d '(' ! -readable -o ! -executable ')' -print -quit 2>/dev/null)
[ -z "$closed" ] || { printf %s "$closed"; exit 18; }
closed=$(find . -maxdepth 3 -type f ! -name '.*' ! -readable -print -quit 2>/dev/null)
[ -z "$closed" ] || { printf %s "$closed"; exit 13; }
[ "$2" = written ] || exit 0
probe=.dropcast-doctor.$$
trap 'rm -f "$probe" "$probe.moved"; exit 17' HUP INT TERM
: 2>/dev/null > "$probe" || exit 14
mv "$probe" "$probe.moved" 2>/dev/null || { rm -f "$probe"; exit 15; }
rm "$probe.moved" 2>/dev/null || exit 16`;

const timeoutMs = 10_000;

/** @param who the user to test as; null for the current user */
export async function probe(
  { path, afterReady, beside }: Pick<ConfigPaths['folders'][number], 'path' | 'afterReady' | 'beside'>,
  who: (Credentials & { readonly name: string }) | null,
  { service }: Pick<Patient, 'service'>,
): Promise<readonly Finding[]> {
  const use = afterReady.kind === 'keep' && beside !== true ? 'read' : 'written';
  const shell = ['/bin/sh', '-c', script, 'sh', path, use];
  const command = who === null ? shell : asUser(who, shell);
  const name = who === null ? 'you' : `the service (user ${who.name})`;
  const [program = '', ...args] = command;
  const { code, said } = await run(program, args);
  if (code === null) return [problem(`${path} does not respond`, 'its files are not uploaded', hungFix)];
  const findings = accessVerdict(path, code, said, name);
  const kind = refusals[code]?.kind;
  const user = who?.name ?? userOfProcess();
  const fix = kind === undefined ? fixFor(path, service) : grantCommand(join(path, said), kind, user);
  return findings.map((finding) => ({ ...finding, fix }));
}

export function fixFor(path: string, service: Patient['service']): string {
  if (service === null) return `ls -ld ${shellWord(path)}`;
  return `${service.setupCommand}    # asks, then grants the missing access`;
}

/** @returns a null code if the program timed out */
async function run(program: string, args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const child = promisify(execFile)(program, [...args], { timeout: timeoutMs, cwd: '/' });
  try {
    return { code: 0, said: (await child).stdout };
  } catch (error) {
    const { code, killed, stdout = '' } = error as { code?: unknown; killed?: boolean; stdout?: string };
    if (killed === true) return { code: null, said: stdout };
    // 127 is a shell's exit code for a program that cannot be started.
    return { code: typeof code === 'number' ? code : 127, said: stdout };
  }
}

/** The service's user with the groups added by its drop-in; null if the daemon runs as the current user. */
async function userOf({ service, isRoot, isOutsider }: Patient): Promise<Credentials | null> {
  if (service === null || !(isRoot || isOutsider)) return null;
  if (!isRoot) throw new SkippedError(`this needs root: ${needsSudo}`);
  const machine = await readMachine(true);
  if (machine.user === null) throw new SkippedError(`there is no user ${SERVICE_USER} on this machine`);
  const dropIn = await readFile(service.dropInFile, 'utf8').catch(() => '');
  return { uid: machine.user.uid, gids: new Set([...machine.user.gids, ...joined(dropIn, machine.group)]) };
}

/**
 * IDs of the groups in `SupplementaryGroups=` lines.
 *
 * @param table text of group(5)
 */
export function joined(dropIn: string, table: string): readonly number[] {
  const names = dropIn.split('\n').flatMap((line) => /^SupplementaryGroups=(.*)$/.exec(line)?.[1]?.split(' ') ?? []);
  const ids = new Map(table.split('\n').map((line) => [line.split(':')[0], Number(line.split(':')[2])]));
  return names.flatMap((name) => ids.get(name) ?? (/^\d+$/.test(name) ? [Number(name)] : []));
}
