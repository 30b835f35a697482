import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { until } from '../support/until.ts';
import type { Box } from './box.ts';
import type { Ended } from './execute.ts';
import type { VideoService } from './video-service.ts';

/** What the checks of one machine share. */
export interface Scene {
  readonly box: Box;
  readonly service: VideoService;
  /** Path of the package inside. */
  readonly package: string;
  readonly suite: string;
}

/** Lines of the journal about the service that it wrote itself. */
export interface JournalEntry {
  /** A list of numbers where it has bytes that are no text. */
  readonly MESSAGE: string | readonly number[] | null;
  readonly PRIORITY: string;
  readonly SYSLOG_IDENTIFIER: string;
}

/** Writes the configuration of the service as an editor does: the mode of the file stays. */
export async function configure(box: Box, yaml: string, file = '/etc/dropcast/dropcast.yaml'): Promise<void> {
  await box.read(`cat > ${file} && chgrp dropcast ${file} && chmod 640 ${file}`, { input: yaml });
}

export async function giveKey(box: Box, key: string, file = '/etc/dropcast/api_key'): Promise<void> {
  // Through a pipe: standard input is a socket here, which nobody can open by its name.
  await box.read(`cat | install -m 600 /dev/stdin ${file}`, { input: `${key}\n` });
}

/**
 * A video that nobody sent before: a real one and a box of random bytes behind it that players skip (ISO/IEC 14496-12, `free`).
 *
 * @param megabytes of the random part
 * @returns its SHA-256
 */
export async function dropVideo(box: Box, path: string, megabytes = 0.001): Promise<string> {
  const noise = randomBytes(Math.round(megabytes * 1_000_000));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(noise.length + head.length);
  head.write('free', 4);
  const bytes = Buffer.concat([await clip, head, noise]);
  await box.read(`umask 0002; cat > ${quoted(path)}`, { input: bytes });
  return createHash('sha256').update(bytes).digest('hex');
}

const clip = readFile(new URL('../media/clip.mp4', import.meta.url));

export interface FileState {
  readonly state: string;
  readonly sent: number | null;
  readonly sha256: string | null;
  readonly video_id: string | null;
  readonly why: string | null;
}

/** What dropcast says about the file, or null as long as it knows none. */
export async function fileState(box: Box, path: string, args = ''): Promise<FileState | null> {
  return stateIn(await show(box, path, args));
}

function show(box: Box, path: string, args: string): Promise<Ended> {
  return box.run(`dropcast show --json ${args} -- ${quoted(path)}`);
}

function stateIn({ code, stdout }: Ended): FileState | null {
  return code === 0 ? (JSON.parse(stdout) as { file: FileState }).file : null;
}

/** Waits until the file is in the state, and returns what dropcast says about it. */
export async function reaches(box: Box, path: string, state: string, args = ''): Promise<FileState> {
  let seen: Ended | null = null;
  const isThere = async (): Promise<boolean> => {
    seen = await show(box, path, args);
    return stateIn(seen)?.state === state;
  };
  await until(`${path} is ${state}`, isThere).catch(async (error: unknown) => {
    throw new Error(`it is ${JSON.stringify(seen)}\n${await tail(box)}`, { cause: error });
  });
  return stateIn(seen as unknown as Ended) as FileState;
}

/** The file ends as one video, whose bytes are those of the file. */
export async function expectOneVideo(scene: Scene, path: string, sha256: string, args = ''): Promise<void> {
  const { video_id: id, sha256: said } = await reaches(scene.box, path, 'done', args);
  const title = (path.split('/').at(-1) ?? '').replace(/\.\w+$/, '').replaceAll(/[_.]/g, ' ');
  expect(await scene.service.videos(title)).toMatchObject([{ id, status: 'ready' }]);
  expect(said).toBe(sha256);
  expect(await scene.service.sha256(id ?? '')).toBe(sha256);
}

/** Properties of a unit as systemd shows them. */
export async function unitState(
  box: Box,
  unit: string,
  ...names: readonly string[]
): Promise<Readonly<Record<string, string>>> {
  const text = await box.read(`systemctl show ${unit} ${names.map((name) => `-p ${name}`).join(' ')}`);
  return Object.fromEntries(text.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
}

/** What the service itself wrote (systemd writes about it, too) since a moment that `journalMoment` named. */
export async function journal(box: Box, moment?: string, unit = 'dropcast.service'): Promise<readonly JournalEntry[]> {
  const since = moment === undefined ? '' : `--after-cursor ${quoted(moment)}`;
  const text = await box.read(`journalctl --sync; journalctl -u ${unit} -o json --no-pager ${since}`);
  const entries = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as JournalEntry]));
  return entries.filter(({ SYSLOG_IDENTIFIER }) => SYSLOG_IDENTIFIER !== 'systemd');
}

export async function journalMoment(box: Box): Promise<string> {
  return (await box.read('journalctl -n 0 --show-cursor')).replace(/^[^]*-- cursor: /, '');
}

export async function said(box: Box, moment: string, unit?: string): Promise<string> {
  return (await journal(box, moment, unit)).map(({ MESSAGE }) => String(MESSAGE)).join('\n');
}

/** What a person would look at when something is wrong. */
export async function tail(box: Box): Promise<string> {
  const { stdout } = await box.run(
    'systemctl status "dropcast*" --no-pager -n 0; journalctl -u "dropcast*" --no-pager -n 40 -o cat',
  );
  return stdout;
}

/** Lines for the unit while something is done. They are gone after a boot, too. */
export async function withDropIn(box: Box, lines: string, act: () => Promise<void>): Promise<void> {
  const folder = '/run/systemd/system/dropcast.service.d';
  await box.read(`mkdir -p ${folder} && cat > ${folder}/check.conf && systemctl daemon-reload`, { input: lines });
  try {
    await act();
  } finally {
    await box.run(`rm -f ${folder}/check.conf && systemctl daemon-reload`);
  }
}

/** For a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
