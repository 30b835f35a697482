import { createHash } from 'node:crypto';
import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { createVideoHost } from '../../../src/host/video-host.ts';
import { openLedger } from '../../../src/ledger/ledger.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { auditNote } from '../../../src/pipeline/file/audit.ts';
import type { AuditKind, AuditRun, AuditWanted } from '../../../src/pipeline/file/audit.ts';
import type { Facts } from '../../../src/pipeline/file/facts.ts';
import { versionOf } from '../../../src/pipeline/file/file-version.ts';
import { markerOf } from '../../../src/pipeline/file/marker.ts';
import type { VideoLibrary } from '../../../src/pipeline/file/ports.ts';
import { createAudit, newAudit } from '../../../src/pipeline/rounds/audit.ts';
import type { AuditWorld } from '../../../src/pipeline/rounds/audit.ts';
import { auditOf } from '../../../src/view/audit/audit-view.ts';
import { openDaemonClient } from '../../client/daemon-client.ts';
import { filesOfQuietFolders } from '../../disk/quiet-folder.ts';
import { admin } from '../../sandbox/admin/admin-side.ts';
import { runSandbox } from '../../sandbox/running-sandbox.ts';
import type { RunningSandbox } from '../../sandbox/running-sandbox.ts';
import type { SandboxOptions } from '../../../packages/sandbox/src/options.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { ready, someFacts, somePlan } from '../some-facts.ts';

export const everything: AuditWanted = { folder: null, since: null, isQuick: false };
export const quick: AuditWanted = { ...everything, isQuick: true };

/** A service, a folder and a ledger with files that are done. */
export async function auditedWorld(options: SandboxOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const service = stack.use(await runSandbox(options));
  const scratch = stack.use(await scratchDirectory());
  await mkdir(scratch.file('inbox'));
  const ledger = stack.use(await openLedger(scratch.file('state')));
  const opened = stack.use(openDaemonClient(service.sandbox.baseUrl, { apiKey: service.sandbox.apiKey }));
  const library: VideoLibrary = createVideoHost({
    client: () => opened.client,
    sourceOf: () => Promise.reject(new Error('an audit sends nothing')),
    failureOfFile: () => null,
    stallTimeoutMs: () => 1_000,
    howToRenewKey: () => '',
    sendOptions: () => ({ headers: {} }),
    honoursIdempotencyKey: () => false,
  } as never);
  await admin(service, 'POST /channels', { id: 'ch_rivals', name: 'Rivals' });
  const parts = stack.move();

  /** A finished file with its video, which is ready. */
  const done = async (
    id: string,
    other: Partial<Facts> & { readonly made?: object; readonly isMarked?: boolean } = {},
  ): Promise<Facts> => {
    const { made, isMarked = false, ...facts } = other;
    const path = `${id}.mp4`;
    const body = Buffer.from(`content of ${id}`);
    await writeFile(scratch.file('inbox', path), body);
    const version = versionOf(await lstat(scratch.file('inbox', path), { bigint: true }));
    const tags = ['news', ...(isMarked ? [markerOf({ path, version })] : [])];
    const plan = { ...somePlan, title: id, description: 'said', tags: ['news'], channel: 'ch_news' };
    const row = someFacts({
      ...ready,
      id,
      folder: scratch.file('inbox'),
      path,
      version,
      plan,
      sha256: createHash('sha256').update(body).digest('hex'),
      videoId: await madeVideo(service, { title: id, description: 'said', tags, ...made }),
      end: 'done',
      endedAt: 5,
      ...facts,
    });
    await ledger.insert(row);
    return row;
  };
  return {
    ledger,
    library,
    service,
    scratch,
    done,
    audit: (other: Partial<AuditWorld> = {}) =>
      createAudit({
        store: ledger,
        selection: ledger.selection,
        library,
        local: filesOfQuietFolders(),
        now: () => 1_000,
        maySpend: async () => true,
        ...other,
      }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

export type AuditedWorld = Awaited<ReturnType<typeof auditedWorld>>;

export async function madeVideo(service: RunningSandbox, fields: object): Promise<string> {
  const { body } = await admin(service, 'POST /videos', { channel_id: 'ch_news', duration: 60, ...fields });
  return body.data.id;
}

export async function begin(ledger: Ledger, wanted: AuditWanted): Promise<void> {
  const files = await ledger.count({ states: ['done'] });
  await ledger.beginAudit(newAudit(wanted, 'a test', files, 1));
}

/** Runs an audit to its end. @returns how often it waited */
export async function run(audit: ReturnType<typeof createAudit>, most = 1_000): Promise<number> {
  const { signal } = new AbortController();
  let waits = 0;
  for (let steps = 0; steps < most; steps += 1) {
    const step = await audit.step(signal);
    if (step === 'idle') return waits;
    if (step === 'wait') waits += 1;
  }
  throw new Error('the audit does not end');
}

export async function runOf(ledger: Ledger): Promise<AuditRun> {
  return (await ledger.note(auditNote)) as AuditRun;
}

/** What an audit found: group → file → note. */
export async function foundIn(ledger: Ledger): Promise<Partial<Record<AuditKind, Record<string, string | null>>>> {
  const { groups } = await auditOf(ledger, null, true);
  const files = groups.filter(({ kind }) => kind !== 'unknown');
  return Object.fromEntries(
    files.map(({ kind, members }) => [kind, Object.fromEntries(members.map(({ id, note }) => [id, note]))]),
  );
}
