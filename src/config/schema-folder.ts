import { z } from 'zod';
import type { People } from '../routing/plan.ts';
import { lintDoneMarker } from '../routing/done-marker.ts';
import { lintGlob, lintMoveTemplate } from '../routing/lint.ts';
import { DAYS_FORM, TIME_FORM, isTimeZone, parseDays, parseTimeOfDay } from './day-window.ts';
import { includedExtensions } from './media-extensions.ts';
import { type Parsed, refused } from './parsed.ts';
import { parseReadyBy, READY_BY_FORM } from './ready-by.ts';
import {
  anyDuration,
  count,
  duration,
  identifier,
  number,
  parseName,
  parsed,
  path,
  text,
  textThat,
} from './schema-values.ts';
import { parsePercent, PERCENT_FORM } from './units.ts';

/** Default value of `include`. */
const DEFAULT_INCLUDE = `**/*.{${includedExtensions.join(',')}}`;

const glob = textThat(lintGlob);

const timeOfDay = (shown: string) => parsed(TIME_FORM, parseTimeOfDay, { examples: [shown] });

const readyBy = parsed(READY_BY_FORM, parseReadyBy, { examples: ['18:30', '18:30 Europe/Berlin', '30m', 'off'] });

const expected = {
  by: timeOfDay('18:30').describe('Time of day by which the files must be there.'),
  from: timeOfDay('00:00')
    .prefault('00:00')
    .describe(
      'Files count for the day from this time on. A time that is not before by is one on the previous evening: from: "20:00" with by: "00:30".',
    ),
  days: parsed(DAYS_FORM, parseDays, { examples: ['daily', 'mon-fri', 'mon,wed,fri'] })
    .prefault('daily')
    .describe(`On which days: ${DAYS_FORM}.`),
  count: count(1, 'How many files, 1 to 10,000.', { min: 1, max: 10_000 }),
  zone: text
    .refine(isTimeZone, 'not a time zone; write it like Europe/Berlin')
    .optional()
    .describe('Time zone, like Europe/Berlin. Default: that of this machine.'),
  until: z
    .enum(['live', 'arrived'])
    .prefault('live')
    .describe(
      'What must have happened by then: live (published, as its rule says), or arrived (complete in the folder).',
    ),
  grace: duration('0s', 'How long to wait after that time before dropcast reports it.', { min: '0s', max: '12h' }),
};

const folderExpect = z
  .array(
    z.strictObject({
      match: glob.describe('Glob for the path relative to the folder, as in rules.'),
      ...expected,
    }),
  )
  .prefault([])
  .describe('Files that must be there by a time of day. Checking this costs no requests.');

const ruleExpect = z
  .array(z.strictObject(expected))
  .prefault([])
  .describe('The same as expect of the folder, for the files of this rule.');

const targetName = identifier.describe('Name of a target in notify.');

const people = (whose: string) =>
  z
    .union([
      z.array(targetName),
      z.strictObject({
        owners: z
          .record(text, targetName)
          .refine((owners) => Object.keys(owners).length > 0, 'needs at least one owner')
          .describe('Target by Unix owner of the file: a user name, or a number for a user without a name.'),
        others: z.array(targetName).prefault([]).describe('Targets for files of all other owners.'),
      }),
    ])
    .transform((given): People => ('owners' in given ? given : { owners: {}, others: given }))
    .describe(`Names of the notify targets that are notified when ${whose} are live or need a person; or by owner.`);

const rule = z
  .strictObject({
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
    ready_by: readyBy
      .exactOptional()
      .describe(
        'The same as ready_by of the folder, for the files of this rule; off: they need not be ready by any time.',
      ),
    expect: ruleExpect,
    notify: people('files of this rule')
      .exactOptional()
      .describe('The same as notify of the folder, which it replaces.'),
  })
  .transform(({ expect, description = null, ready_by: due, ...rule }) => ({
    rule: { ...rule, description },
    due,
    expect: expect.map((each) => ({ match: rule.match, ...each })),
  }));

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
function parseShareName(text: string): Parsed<string> {
  if (/[/:]/.test(text))
    return refused(
      'a share is a watched folder, not a folder in one: watch the same directory on every host, and give it a name without / and :',
    );
  return parseName(text);
}

const afterReady = z
  .union([
    z.enum(['keep', 'delete']),
    z.strictObject({
      move: textThat(lintMoveTemplate).describe(
        'Template for a directory inside the watched folder, like "done/{date}".',
      ),
    }),
    z.strictObject({ delete: deleteLater.describe('Deletes the file later, at whichever of the two comes first.') }),
  ])
  .transform((value): AfterReady => {
    if (typeof value === 'string') return { kind: value };
    if ('move' in value) return { kind: 'move', to: value.move };
    const { after: afterMs = null, when_full: whenFull = null } = value.delete;
    return { kind: 'delete', later: { afterMs, whenFull } };
  });

/** What to do with the local file once its video is ready. `move` has a template for a directory inside the folder. */
export type AfterReady =
  | { readonly kind: 'keep' }
  | { readonly kind: 'delete'; readonly later?: DeleteLater }
  | { readonly kind: 'move'; readonly to: string };

/** When to delete a file that is not deleted immediately: as soon as either condition is met. At least one is set. */
interface DeleteLater {
  /** Milliseconds after the file is done. */
  readonly afterMs: number | null;
  /** Percentage of the file system in use at which to delete, 1–99. */
  readonly whenFull: number | null;
}

/** A watched folder and its rules. */
export const folder = z
  .strictObject({
    path: path.describe(
      'The folder to watch, with everything below it. A relative path starts at this file; ~ is your home.',
    ),
    share: parsed('a name in quotes', parseShareName, { examples: ['nas1'] })
      .exactOptional()
      .describe(
        'Name of the folder in a fleet: the same on every host that watches this directory, whatever its path there. Each file is then accepted once, and any of these hosts uploads it.',
      ),
    include: z
      .array(glob)
      .min(1, 'needs at least one pattern; remove include to accept the usual video and audio files')
      .prefault([DEFAULT_INCLUDE])
      .describe('Globs for the path relative to the folder; a file must match one of them.'),
    exclude: z
      .array(glob)
      .prefault([])
      .describe(
        'Globs for files to ignore. Hidden, temporary and partial files, recycle bins and snapshots are always ignored.',
      ),
    settle: duration('5s', 'A file that has not changed for this long is complete.'),
    done_marker: textThat((marker) => (marker === 'off' ? null : lintDoneMarker(marker)))
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
    after_ready: afterReady
      .prefault('keep')
      .describe(
        'What to do with the local file once its video is ready: keep, delete, { delete: { after: 7d, when_full: 85% } }, or { move: "done/{date}" }.',
      ),
    uploads: number('Simultaneous uploads of this folder, 1 to 32. Without it, only uploads.concurrency limits them.', {
      min: 1,
      max: 32,
    }).exactOptional(),
    ready_by: readyBy
      .prefault('off')
      .describe(
        'When each file must be ready on the service: a time of day (the next one after it arrived), or a duration after it arrived. The earliest deadline goes first, and dropcast reports a file as soon as it is certain to be late. off: at no particular time.',
      ),
    beside: z
      .boolean()
      .prefault(false)
      .describe(
        'Whether each finished video gets a file next to it that says where it is watched: clip.mp4.dropcast.json for clip.mp4.',
      ),
    expect: folderExpect,
    notify: people('its files').prefault([]),
    rules: z
      .array(rule)
      .min(1, 'needs at least one rule; match: "**" matches every file')
      .describe(
        'Which file goes where. The first rule that matches wins; a file that no rule matches is held, never dropped.',
      ),
  })
  .transform(
    ({ settle, done_marker, rescan, on_duplicate, on_change, after_ready, ready_by, expect, rules, ...folder }) => ({
      ...folder,
      settleMs: settle,
      doneMarker: done_marker === 'off' ? null : done_marker,
      rescanMs: rescan,
      onDuplicate: on_duplicate,
      onChange: on_change,
      afterReady: after_ready,
      expect: [...expect, ...rules.flatMap((each) => each.expect)].map(({ zone = null, grace, ...expectation }) => ({
        ...expectation,
        zone,
        graceMs: grace,
      })),
      rules: rules.map(({ rule, due = ready_by }) => ({ ...rule, ...(due !== null && { readyBy: due }) })),
    }),
  );
