import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ledger } from '../../ledger/ledger.ts';
import { auditKinds, auditNote, comparedOf } from '../../pipeline/file/audit.ts';
import type { AuditFinding, AuditKind, AuditRun } from '../../pipeline/file/audit.ts';
import type { Facts } from '../../pipeline/file/facts.ts';
import { auditTitles, progressWords } from '../words/audit-words.ts';

/** Number of files named per group, unless all are asked for. */
const mostNamed = 20;
/** Number of rows read at once. */
const atOnce = 500;

export type AuditView = Awaited<ReturnType<typeof auditOf>>;
export type AuditGroup = AuditView['groups'][number];

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
  const found = auditKinds.filter((kind) => counts[kind] !== undefined);
  const groups = await Promise.all(
    found.map(async (kind) => ({
      kind: kind as AuditKind | 'unknown',
      title: auditTitles[kind],
      count: counts[kind] ?? 0,
      members: await membersOf(ledger, kind, isAll),
    })),
  );
  const words = run === null ? 'There was no audit yet.' : progressWords(run, trouble, Date.now());
  return { v: 1, audit: run && progressOf(run, trouble), words, groups: [...groups, ...unknownIn(run)] } as const;
}

function progressOf(run: AuditRun, trouble: string | null) {
  const { step, folder, since, by, files, examined, requests } = run;
  return {
    state: step === 'ended' || step === 'stopped' ? step : ('running' as const),
    folder,
    since,
    by,
    files,
    examined,
    requests,
    trouble,
    quick: run.isQuick,
    started_at: run.startedAt,
    ended_at: run.endedAt,
    bytes_read: run.bytesRead,
  };
}

async function membersOf(ledger: Pick<Ledger, 'rows' | 'findings'>, kind: AuditKind, isAll: boolean) {
  const members: ReturnType<typeof memberOf>[] = [];
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

/** `mtime_ns` and `ctime_ns`: the times that the file had when it was last compared with what was uploaded. */
function memberOf({ id, folder, path, videoId, version }: Facts, finding: AuditFinding | undefined) {
  const { size, mtimeNs, ctimeNs } = version;
  const note = finding?.kind === 'deletable' ? null : (finding?.note ?? null);
  const known = { id: id as string | null, name: `${folder}/${path}`, video_id: videoId, note };
  const times = { mtime_ns: mtimeNs as string | null, ctime_ns: ctimeNs as string | null };
  return { ...known, size: size as number | null, ...times };
}

/** Returns the videos that no file has. They are named by their titles. */
function unknownIn(run: AuditRun | null): readonly {
  readonly kind: 'unknown';
  readonly title: string;
  readonly count: number;
  readonly members: readonly ReturnType<typeof memberOf>[];
}[] {
  const { count, channels, first } = run?.unknown ?? { count: 0, channels: [], first: [] };
  if (count === 0) return [];
  const inChannels = channels.flatMap(({ channel, videos }) => (channel === null ? [] : [`${videos} in ${channel}`]));
  const title = [auditTitles.unknown, ...inChannels].join(', ');
  const members = first.map((video) => ({ id: null, name: video.title, video_id: video.id, note: video.status }));
  return [
    {
      kind: 'unknown',
      title,
      count,
      members: members.map((each) => ({ ...each, size: null, mtime_ns: null, ctime_ns: null })),
    },
  ];
}
