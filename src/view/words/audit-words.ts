import type { AuditCost, AuditKind, AuditRun } from '../../pipeline/file/audit.ts';
import { clockTime, counted, size } from './text.ts';

const titles: Readonly<Record<AuditKind, string>> = {
  gone: 'Gone: the service no longer has their videos',
  unready: 'Not ready: their videos are on the service in another state',
  edited: 'Changed by hand on the service',
  doubled: 'Doubled: another video has, or may have, the same content',
  unanswered: 'The service refuses to answer about their videos',
  deletable: 'May be deleted here: the video is ready, and the local file has the content that was uploaded',
  changed: 'The local file is no longer what was uploaded',
  unread: 'The local file could not be compared',
  missing: 'The local file is gone; the video is there',
};

/** The kinds of findings, in the order in which they are shown. */
export const auditKinds = Object.keys(titles) as readonly AuditKind[];

/** The title of each group of an audit. */
export const auditTitles = { ...titles, unknown: 'Videos that no file has; other people may have uploaded them' };

export const howToDelete = 'dropcast audit --paths | xargs -0 -r rm --';

/** Describes how far an audit is. @param trouble the failed request that it waits for */
export function progressWords(run: AuditRun | null, trouble: string | null, now: number): string {
  if (run === null) return 'There was no audit yet.';
  const { step, by, startedAt, endedAt, files, examined, requests, bytesRead } = run;
  const done = `${examined} of ${counted(files, 'file')} examined`;
  const spent = `${counted(requests, 'request')}, ${size(bytesRead)} read`;
  if (endedAt !== null)
    return `Audit of ${clockTime(startedAt, now)}, ${step} at ${clockTime(endedAt, now)}: ${done}; ${spent}.`;
  const waits = trouble === null ? '' : ` It waits for the service: ${trouble.replace(/\.$/, '')}.`;
  const stage = step === 'list' ? 'reading the list of videos' : done;
  return `Audit by ${by}, running since ${clockTime(startedAt, now)}: ${stage}; ${spent}.${waits}`;
}

/** Describes what an audit costs. */
export function costWords({ files, videos, requests, bytes, hours }: AuditCost): string {
  const list =
    videos === null
      ? 'One request for each 100 videos in the list'
      : `About ${counted(requests.list, 'request')} for the list of ${counted(videos, 'video')}`;
  const each = requests.files === 0 ? 'one for each video missing from it' : `${requests.files} for single videos`;
  const read = bytes === 0 ? 'no local file is read' : `${size(bytes)} of local files are read`;
  const long = hours < 1 ? 'less than an hour' : `at least ${counted(Math.ceil(hours), 'hour')}`;
  return `${list}, and ${each}; ${counted(files, 'file')}, ${read}. Uploads go first: it takes ${long}.`;
}
