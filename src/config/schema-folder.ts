import { z } from 'zod';
import { folderExpect, ruleExpect } from './schema-expect.ts';
import { includedExtensions } from './media-extensions.ts';
import { anyDuration, duration, identifier, number, parsed, path, text } from './schema-values.ts';
import { parsePercent, PERCENT_FORM } from './units.ts';

/** Default value of `include`. */
const DEFAULT_INCLUDE = `**/*.{${includedExtensions.join(',')}}`;

const globs = z.array(text);

const rule = z.strictObject({
  match: text.describe(
    'Glob for the path relative to the folder. * and ? match within one folder, ** matches any number of folders, {a,b} is one of several, {name} captures within one path segment. The first rule that matches wins.',
  ),
  channel: identifier.describe('Identifier of the channel for the video, like ch_news.'),
  title: text
    .prefault('{title}')
    .describe(
      'Template. Words: {title} {name} {ext} {path} {dir} {dirs} {date} {date:local} and every capture of match. {date} is the day of the file in UTC, {date:local} the day by the clock of this machine.',
    ),
  description: z
    .string()
    .optional()
    .describe('Template, with the same words as title. Without it, no description is sent.'),
  tags: z
    .array(text)
    .prefault([])
    .describe('Templates. A tag that is exactly "{dirs}" becomes one tag per sub-folder.'),
  publish: z
    .array(identifier)
    .prefault([])
    .describe('Identifiers of feeds to publish once the video is ready, like feed_news.'),
  priority: z
    .enum(['high', 'normal', 'low'])
    .prefault('normal')
    .describe('High-priority files go first. The others still get a share, so none waits forever.'),
  expect: ruleExpect,
});

const deleteLater = z
  .strictObject({
    // No timer can run that long, so the ledger is queried from time to time.
    after: anyDuration('How long after the file was done.', { min: '1s', max: '3650d' }).optional(),
    when_full: parsed(PERCENT_FORM, parsePercent, { examples: ['85%'], pattern: '^[1-9][0-9]?%$' })
      .optional()
      .describe('Once this much of the file system is in use, delete the oldest files first until less is in use.'),
  })
  .refine(({ after, when_full: whenFull }) => after !== undefined || whenFull !== undefined, {
    message: 'needs after, when_full or both; to delete at once, write after_ready: delete',
    when: ({ issues }) => issues.length === 0,
  });

/** Parses a share name. A share is a whole watched folder, so that a file has the same name on every host. */
function parseShareName(text: string): { ok: true; value: string } | { ok: false; message: string } {
  if (/^[A-Za-z\d][\w.-]{0,62}$/.test(text)) return { ok: true, value: text };
  const message = /[/:]/.test(text)
    ? 'a share is a watched folder, not a folder in one: watch the same directory on every host, and give it a name without / and :'
    : 'a name may have letters, digits, . _ and -, at most 63, and begins with a letter or digit';
  return { ok: false, message };
}

/** A watched folder and its rules. */
export const folder = z.strictObject({
  path: path.describe(
    'The folder to watch, with everything below it. A relative path starts at this file; ~ is your home.',
  ),
  share: parsed('a name in quotes', parseShareName, { examples: ['nas1'] })
    .optional()
    .describe(
      'Name of the folder in a fleet: the same on every host that watches this directory, whatever its path there. Each file is then accepted once, and any of these hosts uploads it.',
    ),
  include: globs
    .min(1, 'needs at least one pattern; remove include to accept the usual video and audio files')
    .prefault([DEFAULT_INCLUDE])
    .describe('Globs for the path relative to the folder; a file must match one of them.'),
  exclude: globs
    .prefault([])
    .describe(
      'Globs for files to ignore. Hidden, temporary and partial files, recycle bins and snapshots are always ignored.',
    ),
  settle: duration('5s', 'A file that has not changed for this long is complete.'),
  done_marker: text
    .prefault('off')
    .meta({ examples: ['off', '{name}.{ext}.done'] })
    .describe(
      'Name of a marker file that the sender creates next to each complete video, like "{name}.{ext}.done"; each video waits for its marker. off: none.',
    ),
  watch: z
    .enum(['auto', 'native', 'polling'])
    .prefault('auto')
    .describe(
      'How to detect changes: auto uses file system events and falls back to polling where they fail, as on network shares.',
    ),
  rescan: duration('60s', 'How often to scan the whole folder; the scan finds what events missed.', {
    min: '100ms',
  }),
  on_duplicate: z
    .enum(['skip', 'upload'])
    .prefault('skip')
    .describe('What to do with a file whose content was already uploaded: skip it, or upload it as another video.'),
  on_change: z
    .enum(['upload', 'ignore'])
    .prefault('upload')
    .describe('What to do with a known path that has new content: upload it as a new video, or ignore it.'),
  existing: z
    .enum(['upload', 'ignore', 'adopt'])
    .prefault('upload')
    .describe(
      'What to do with files that are already in the folder when dropcast first watches it: upload them, ignore them, or adopt them (dropcast adopt shows which of them the service already has).',
    ),
  after_ready: z
    .union([
      z.enum(['keep', 'delete']),
      z.strictObject({
        move: text.describe('Template for a directory inside the watched folder, like "done/{date}".'),
      }),
      z.strictObject({ delete: deleteLater.describe('Deletes the file later, at whichever of the two comes first.') }),
    ])
    .prefault('keep')
    .describe(
      'What to do with the local file once its video is ready: keep, delete, { delete: { after: 7d, when_full: 85% } }, or { move: "done/{date}" }.',
    ),
  uploads: number('Simultaneous uploads of this folder, 1 to 32. Without it, only uploads.concurrency limits them.', {
    min: 1,
    max: 32,
  }).optional(),
  expect: folderExpect,
  rules: z
    .array(rule)
    .min(1, 'needs at least one rule; match: "**" matches every file')
    .describe(
      'Which file goes where. The first rule that matches wins; a file that no rule matches is held, never dropped.',
    ),
});
