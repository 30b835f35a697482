import type { Config, FolderConfig } from '../../../src/config/config.ts';
import type { Logger, LogFields } from '../../../src/log/logger.ts';
import type { Evidence, JudgedRow } from './judge.ts';
import { sha256Of } from './machine/disk.ts';
import type { Disk } from './machine/disk.ts';
import type { Inode } from './machine/inode.ts';
import type { Machine } from './machine/machine.ts';
import type { Random } from './machine/random.ts';
import { someFolderConfig, someRule } from '../../support/folder-config.ts';

/** The configuration of one process of a machine. */
export function configOf(own: {
  readonly stateDir: string;
  readonly folders: readonly FolderConfig[];
  readonly requestsPerHour: number;
}): Config {
  const { stateDir, folders, requestsPerHour } = own;
  return {
    file: '/etc/dropcast.yaml',
    source: { written: [], warnings: [] },
    service: {
      baseUrl: 'http://127.0.0.1:8080/v1',
      apiKey: { reveal: () => 'key-of-the-simulation' },
      apiKeyFrom: 'environment',
      webhooks: null,
      requestsPerHour,
      sendKeyTo: [],
      authorities: {},
      // So that the simulated service, and the judge, know the token of each request.
      quota: null,
      honoursIdempotencyKey: true,
      isMarking: false,
    },
    ledger: null,
    hostName: 'simulated',
    stateDir,
    failureLog: `${stateDir}/failures.jsonl`,
    uploads: {
      concurrency: 2,
      isAuto: false,
      bandwidth: { windows: [], otherwise: null },
      window: null,
      stallTimeoutMs: 20_000,
      headers: {},
      contentType: 'auto',
      maxSizeBytes: Infinity,
      protocol: 'auto',
    },
    retry: { attempts: 12, firstMs: 1_000, maxMs: 30_000 },
    poll: { intervalMs: 5_000, giveUpAfterMs: 86_400_000 },
    publish: { quietMs: 2_000, atMostMs: 10_000 },
    folders,
    status: { listen: null, hosts: [], socket: `${stateDir}/dropcast.sock` },
    exports: [],
    notify: [],
    log: { level: 'info', format: 'json' },
  };
}

/** A watched folder that keeps its files. */
export function folderOf(path: string, index: number, random: Random): FolderConfig {
  return someFolderConfig(path, {
    key: `folders[${index}]`,
    settleMs: random.pick([500, 1_000, 3_000]),
    watch: random.chance(0.2) ? 'polling' : 'auto',
    rescanMs: random.pick([2_000, 20_000, 20_000]),
    // A life begins at noon.
    expect: [
      {
        match: '**',
        by: 12 * 60 + 1,
        from: 0,
        days: [0, 1, 2, 3, 4, 5, 6],
        count: 2,
        zone: 'UTC',
        until: random.pick(['live', 'arrived']),
        graceMs: 0,
      },
    ],
    rules: [someRule({ key: `folders[${index}].rules[0]`, publish: random.chance(0.5) ? ['feed_news'] : [] })],
  });
}

/** What a disk has before anything is installed. */
export function installMachine(disk: Disk): void {
  disk.mkdir('/etc');
  disk.write(disk.open('/etc/machine-id', 0o101), Buffer.from('0123456789abcdef0123456789abcdef\n'), 0, true);
}

export function loggerOf(machine: Machine, hear: (message: string) => void): Logger {
  const log =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      const { process } = machine;
      if (process?.isDead === true) return;
      const err = fields['err'];
      if (err instanceof Error && machine.onLine !== null) machine.onLine(`    ${err.stack}`);
      machine.log(
        level,
        [message, fields['file'], fields['why'], fields['note']].filter((one) => typeof one === 'string').join(' '),
      );
      hear(message);
    };
  return { error: log('error'), warn: log('warn'), info: log('info'), debug: () => undefined };
}

/** The files to be uploaded that lie in some folders. */
export function filesIn(disk: Disk, folders: readonly string[]): Evidence['onDisk'] {
  return folders.flatMap((folder) =>
    [...disk.files(folder)]
      .filter(([path]) => path.endsWith('.mp4') && !path.slice(folder.length).includes('/.'))
      .map(([path, inode]) => {
        const sha256 = sha256Of(inode.data);
        return { path, sha256, size: inode.data.length, isWrittenLater: isWrittenLater(disk, inode, sha256) };
      }),
  );
}

/** Whether a person wrote to the file after dropcast had moved it: dropcast cannot see this writer, who paused for longer than `settle`. */
function isWrittenLater({ putAway, contents }: Disk, inode: Inode, sha256: string): boolean {
  const movedAt = putAway.find((one) => one.inode === inode)?.at ?? Infinity;
  return (contents.find((content) => content.sha256 === sha256)?.at ?? 0) > movedAt;
}

export function judgedRow(row: Record<string, unknown>): JudgedRow {
  const failure = row['last_failure'];
  const suspects = JSON.parse(String(row['suspects'])) as string[];
  return {
    id: String(row['id']),
    path: `${String(row['folder'])}/${String(row['path'])}`,
    size: Number(row['size']),
    state: String(row['state']),
    why: textOf(row['why']),
    videoId: textOf(row['video_id']),
    sha256: textOf(row['sha256']),
    // No folder of a life says so.
    isWantedTwice: row['on_duplicate'] === 'upload',
    isKnownReady: row['ready_at'] !== null || row['remote_status'] === 'ready',
    tokens: [...suspects, ...(row['intent'] === null ? [] : [textOf(row['intent']) ?? ''])],
    failure: failure === null ? null : (JSON.parse(textOf(failure) ?? '') as JudgedRow['failure']),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
