import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ledger } from '../../ledger/ledger.ts';
import { auditNote, comparedOf } from '../../pipeline/file/audit.ts';
import type { AuditFinding, AuditKind, AuditRun } from '../../pipeline/file/audit.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { auditKinds, auditTitles, progressWords } from '../words/audit-words.ts';

/** Number of files named per group, unless all are asked for. */
const mostNamed = 20;
/** Number of rows read at once. */
const atOnce = 500;

export type AuditView = Awaited<ReturnType<typeof auditOf>>;

/** What an audit found of one kind. */
export interface AuditGroup {
  readonly kind: AuditKind | 'unknown';
  readonly title: string;
  readonly count: number;
  readonly members: readonly AuditMember[];
}

/** A file, or a video that no file has, which is named by its title. */
interface AuditMember {
  readonly id: string | null;
  readonly name: string;
  readonly video_id: string | null;
  readonly note: string | null;
  readonly size: number | null;
  /** The times that the file had when it was last compared with what was uploaded. */
  readonly mtime_ns: string | null;
  readonly ctime_ns: string | null;
}

/**
 * Shows the last audit, or the running one. Groups without members are left out.
 *
 * @param trouble why a running audit waits for the service
 * @param isAll names every file
 */
export async function auditOf(
  ledger: Pick<Ledger, 'note' | 'rows' | 'countFindings' | 'findings'>,
  trouble: string | null,
  isAll = false,
) {
  const run = (await ledger.note(auditNote)) as AuditRun | null;
  const counts = await ledger.countFindings();
  const groups = auditKinds.map(async (kind): Promise<AuditGroup> => {
    const count = counts[kind] ?? 0;
    return { kind, title: auditTitles[kind], count, members: count === 0 ? [] : await membersOf(ledger, kind, isAll) };
  });
  const all = [...(await Promise.all(groups)), unknownIn(run)].filter(({ count }) => count > 0);
  return { v: 1, audit: run && progressOf(run, trouble), words: progressWords(run, trouble, Date.now()), groups: all };
}

function progressOf(run: AuditRun, trouble: string | null) {
  const { step, folder, since, by, files, examined, requests, isQuick, startedAt, endedAt, bytesRead } = run;
  const state = step === 'ended' || step === 'stopped' ? step : ('running' as const);
  const times = { started_at: startedAt, ended_at: endedAt };
  return {
    state,
    folder,
    since,
    by,
    files,
    examined,
    requests,
    trouble,
    quick: isQuick,
    ...times,
    bytes_read: bytesRead,
  };
}

async function membersOf(ledger: Pick<Ledger, 'rows' | 'findings'>, kind: AuditKind, isAll: boolean) {
  const members: AuditMember[] = [];
  for (let after = ''; ;) {
    const found = await ledger.findings(kind, isAll ? atOnce : mostNamed, after);
    const ids = found.map(({ fileId }) => fileId);
    const rows = ids.length === 0 ? [] : await ledger.rows({ group: 'any', where: { ids } });
    const notes = new Map(found.map((finding) => [finding.fileId, finding]));
    // Findings about a file that has changed since no longer hold.
    const stands = (facts: Facts): boolean =>
      kind !== 'deletable' || (facts.disposal !== 'deleted' && notes.get(facts.id)?.note === comparedOf(facts));
    const standing = rows.filter((facts) => facts.end === 'done' && stands(facts));
    members.push(...standing.map((facts) => memberOf(facts, notes.get(facts.id))));
    if (!isAll || found.length < atOnce) return members;
    after = ids.at(-1) ?? '';
    await nextTurn();
  }
}

function memberOf({ id, folder, path, videoId, version }: Facts, finding: AuditFinding | undefined): AuditMember {
  const { size, mtimeNs, ctimeNs } = version;
  const note = finding?.kind === 'deletable' ? null : (finding?.note ?? null);
  const name = `${folder}/${path}`;
  return { id, name, video_id: videoId, note, size, mtime_ns: mtimeNs, ctime_ns: ctimeNs };
}

/** Returns the videos that no file has. */
function unknownIn(run: AuditRun | null): AuditGroup {
  const { count, channels, first } = run?.unknown ?? { count: 0, channels: [], first: [] };
  const inChannels = channels.flatMap(({ channel, videos }) => (channel === null ? [] : [`${videos} in ${channel}`]));
  const members = first.map(({ id, title, status }): AuditMember => {
    return { id: null, name: title, video_id: id, note: status, size: null, mtime_ns: null, ctime_ns: null };
  });
  return { kind: 'unknown', title: [auditTitles.unknown, ...inChannels].join(', '), count, members };
}
