import type { PlannedChange, ReloadPlan } from '../../daemon/rules/plan-reload.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { shortPath } from '../output/file-table.ts';
import { tableOf } from '../output/table.ts';
import { counted } from '../output/format.ts';
import type { Shell } from '../shell.ts';

/** Formats the changes that a reload would make. */
export function planText({ folders, waiting, sent }: ReloadPlan, shell: Shell): string {
  const lines = folders.map(({ path, becomes }) => `${escapeControls(path)} ${folderWords[becomes]}.`);
  const head = [
    `A reload changes ${counted(waiting.files, 'file')} that have not been sent yet.`,
    ...(waiting.files > 0 ? [table(waiting.changes, shell)] : []),
    sent.files === 0
      ? 'The new rules do not change the metadata of files that have a video.'
      : `${counted(sent.files, 'file')} with a video would get different metadata under the new rules; a reload does not change them. ` +
        `Applying the rules to them costs ${counted(sent.requests, 'request')}.`,
    ...(sent.files > 0 ? [table(sent.changes, shell)] : []),
    ...(sent.left > 0 ? [`${counted(sent.left, 'older file')} not checked.`] : []),
    'Nothing was changed.',
  ];
  return `${[...lines, ...head].join('\n')}\n`;
}

const folderWords: Readonly<Record<ReloadPlan['folders'][number]['becomes'], string>> = {
  watched: 'would be watched',
  left: 'would no longer be watched; its files stay where they are',
  'watched anew': 'would be scanned again, because its settings change',
};

function table(changes: readonly PlannedChange[], shell: Shell): string {
  return tableOf(
    changes,
    [
      ['STATE', ({ state }) => state],
      ['FILE', ({ path }) => shortPath(path, shell), { cut: 'middle' }],
      ['NOW', ({ before, what }) => said(before, what), { cut: 'end' }],
      ['THEN', ({ after, what }) => said(after, what), { cut: 'end' }],
    ],
    shell,
  ).trimEnd();
}

/** Formats the fields that differ, or why the file is held. */
function said({ rule, channel, title, held }: PlannedChange['before'], what: readonly string[]): string {
  if (held !== null || rule === null) return `held: ${held ?? ''}`;
  const shown = { channel: `channel ${channel ?? ''}`, title: `title ${title ?? ''}` };
  const keys = what.includes('held') ? ['channel'] : what;
  const words = keys.map((key) => (key === 'channel' || key === 'title' ? shown[key] : key));
  return `${rule}: ${words.join(', ')}`;
}
