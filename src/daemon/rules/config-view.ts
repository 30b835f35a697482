import { resolve } from 'node:path';
import type { Config, FolderConfig } from '../../config/config.ts';
import { withDefaults } from '../../config/settings.ts';
import { createRouter, folderOf } from '../../intake/folder-router.ts';
import type { Daemon } from '../daemon.ts';
import { ruleReport } from './rule-report.ts';
import type { RuleReport } from './rule-report.ts';

export type ConfigView = ReturnType<typeof configView>;
export type FolderView = ReturnType<typeof folderView>;

/**
 * Shows the configuration in use.
 *
 * @param shown range of folders to include, as for `slice`: there may be a thousand
 */
export function configView(config: Config, shown: { readonly from: number; readonly to: number }) {
  const { written, warnings } = config.source;
  return {
    file: config.file,
    warnings: warnings.map(({ line, column, key, message }) => `${line}:${column} ${key}: ${message}`),
    /** All settings except the folders'. */
    settings: withDefaults(written, '', {
      state_dir: config.stateDir,
      ledger: 'SQLite in state_dir',
      host_name: config.hostName,
    }),
    folders: config.folders.slice(shown.from, shown.to).map((folder) => folderView(folder, config)),
  };
}

function folderView({ path, key, rules }: FolderConfig, { source }: Config) {
  const isOwn = (prefix: string) => (each: { readonly key: string }) => each.key.startsWith(`${prefix}.`);
  return {
    path,
    settings: withDefaults(source.written.filter(isOwn(key)), key),
    rules: rules.map((rule) => ({
      ...rule,
      /** A warning about the rule, for example that it can never match. */
      warning: source.warnings.find(isOwn(rule.key))?.message ?? null,
    })),
  };
}

/** What the current rules would do with a path. The path itself is not accessed. */
export type TriedPath =
  | ({ readonly folder: string; readonly path: string } & RuleReport)
  /** Why the outcome cannot be determined. */
  | { readonly why: string };

/** @param given absolute, or relative to the watched folder if there is only one */
export async function tryPath(daemon: Daemon, given: string, now: number): Promise<TriedPath> {
  const { folders } = daemon.config();
  const [only, second] = folders;
  if (only === undefined) return { why: 'No folder is watched.' };
  if (second !== undefined && !given.startsWith('/'))
    return { why: `There are ${folders.length} folders: write the whole path, like ${only.path}/${given}.` };
  const absolute = resolve(only.path, given);
  const folder = folderOf(folders, absolute);
  if (folder === null) return { why: `${absolute} is not in a watched folder.` };
  const path = absolute.slice(folder.path.length + 1);
  const router = createRouter(folder, await daemon.ledger.movedBy(folder.path));
  return { folder: folder.path, path, ...(await ruleReport(router, path, now)) };
}
