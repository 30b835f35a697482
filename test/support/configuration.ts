import { writeFile } from 'node:fs/promises';
import { Scalar, stringify } from 'yaml';
import type { z } from 'zod';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { configSchema } from '../../src/config/schema.ts';
import type { ScratchDirectory } from './scratch-directory.ts';

type Written = z.input<typeof configSchema>;

export type FolderSettings = Partial<Written['folders'][number]>;

/** Keys and values of a configuration, as an operator writes them. Relative paths start at its file. */
export interface Settings extends Omit<Partial<Written>, 'service' | 'folders'> {
  readonly service?: Partial<Written['service']>;
  readonly folders?: readonly FolderSettings[];
}

/** Text of a configuration: `inbox` goes to `ch_main` of a service that nobody runs, at short intervals, without a status page. */
export function configText({ service, folders = [{}], poll, status, ...others }: Settings = {}): string {
  const usual = { path: 'inbox', settle: '100ms', rules: [{ match: '**', channel: 'ch_main' }] };
  const tree = {
    service: { base_url: 'http://127.0.0.1:9/v1', api_key: tagged('!env', 'KEY'), ...service },
    state_dir: 'state',
    poll: { interval: '100ms', ...poll },
    folders: folders.map((folder) => ({ ...usual, ...folder })),
    status: { listen: 'off', ...status },
    ...others,
  };
  return stringify(tree, { aliasDuplicateObjects: false });
}

/** Where a secret is: `!env NAME`, `!file PATH`, `!credential NAME`. */
export function tagged(tag: '!env' | '!file' | '!credential', name: string): Scalar {
  return Object.assign(new Scalar(name), { tag });
}

/** Writes a configuration that only its owner can read. @returns its path */
export async function writeConfig(
  scratch: Pick<ScratchDirectory, 'file'>,
  settings: Settings = {},
  name = 'dropcast.yaml',
): Promise<string> {
  const file = scratch.file(name);
  await writeFile(file, configText(settings), { mode: 0o600 });
  return file;
}

/** Writes a configuration and loads it. `!env KEY` finds a key. */
export async function loadedConfig(
  scratch: Pick<ScratchDirectory, 'file' | 'path'>,
  settings: Settings = {},
  name = 'dropcast.yaml',
): Promise<Config> {
  const environment = { cwd: scratch.path, env: { KEY: 'key_0123456789' }, home: scratch.path };
  const { config, problems } = await loadConfig(await writeConfig(scratch, settings, name), environment);
  if (config === null) throw new Error(`the configuration is wrong: ${JSON.stringify(problems)}`);
  return config;
}
