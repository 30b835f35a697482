import type { FolderConfig } from '../../src/config/config.ts';
import type { Rule } from '../../src/routing/plan.ts';

/** A rule of a loaded configuration, which takes every file. */
export function someRule(other: Partial<Rule> = {}): Rule {
  return {
    key: 'folders[0].rules[0]',
    line: 1,
    match: '**',
    channel: 'ch_main',
    title: '{title}',
    description: null,
    tags: [],
    publish: [],
    ...other,
  };
}

/** A folder of a loaded configuration, which keeps its files. */
export function someFolderConfig(path: string, other: Partial<FolderConfig> = {}): FolderConfig {
  return {
    path,
    key: 'folders[0]',
    include: ['**/*.mp4'],
    exclude: [],
    settleMs: 20,
    doneMarker: null,
    watch: 'auto',
    rescanMs: 60_000,
    onDuplicate: 'skip',
    onChange: 'upload',
    existing: 'upload',
    afterReady: { kind: 'keep' },
    notify: { owners: {}, others: [] },
    beside: false,
    rules: [someRule()],
    ...other,
  };
}
