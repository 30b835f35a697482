import { extname } from 'node:path';
import type { LedgerSnapshot } from '../../ledger/snapshot.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { stateOf } from '../../pipeline/file/facts.ts';
import type { FileView } from '../files/file-view.ts';
import type { NowFile, Picture } from './picture.ts';

/** Maximum number of files shown; any others are only counted. */
const mostShown = 12;

/** Files in line are not shown as work in progress; their stage counts them. */
const inLine: ReadonlySet<string> = new Set(['queued', 'awaiting upload']);

/** Returns files that a step is working on, then the first files on the service, each in order of arrival. Pure. */
export function underWay({ working, held }: Pick<LedgerSnapshot, 'working' | 'held'>): readonly Facts[] {
  const isHeld = new Set(held);
  const steps = working.filter(({ id }) => isHeld.has(id)).slice(0, mostShown);
  const others = working.filter((facts) => !isHeld.has(facts.id) && !inLine.has(stateOf(facts)));
  const shown = new Set([...steps, ...others.slice(0, mostShown - steps.length)]);
  return working.filter((facts) => shown.has(facts));
}

/** Builds the view of a file in progress. Pure. @param nextPollAt time of the next poll, epoch milliseconds */
export function nowFile(file: FileView, nextPollAt: number | null): NowFile {
  return {
    id: file.id,
    host: file.host,
    path: file.path,
    state: file.state,
    stage: file.stage,
    kind: kindOf(file),
    size: file.size,
    sent: file.sent,
    bytes_per_second: file.upload?.bytes_per_second ?? null,
    sent_at: file.upload?.done_at ?? null,
    ready_at: file.ready_at,
    next_look_at: file.state === 'processing' ? nextPollAt : file.state === 'retrying' ? file.not_before : null,
    why: file.why,
  };
}

const kinds: Readonly<Record<string, NowFile['kind']>> = {
  '.url': 'link',
  '.webloc': 'link',
  '.mp3': 'audio',
  '.wav': 'audio',
  '.flac': 'audio',
  '.m4a': 'audio',
  '.mp4': 'video',
  '.mov': 'video',
  '.mkv': 'video',
  '.mxf': 'video',
  '.ts': 'video',
  '.webm': 'video',
  '.avi': 'video',
  '.mpg': 'video',
  '.m4v': 'video',
};

function kindOf({ path, source_url: source }: FileView): NowFile['kind'] {
  return source === null ? (kinds[extname(path).toLowerCase()] ?? 'file') : 'link';
}

/** Returns the number of files in progress that are not shown. */
export function moreUnderWay(counts: Readonly<Record<string, number>>, shown: number): Picture['now']['more'] {
  const states = ['creating', 'uploading', 'processing', 'awaiting publish', 'retrying'];
  return Math.max(0, states.reduce((sum, state) => sum + (counts[state] ?? 0), 0) - shown);
}
