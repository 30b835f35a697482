import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Sandbox } from '@dropcast/sandbox';
import { counted, UNKNOWN } from '../../cli/output/format.ts';
import { stageStyle, tableOptions } from '../../cli/output/file-table.ts';
import { renderTable } from '../../cli/output/table.ts';
import type { Shell } from '../../cli/shell.ts';
import type { DemoFile } from './demo-files.ts';
import type { FleetCourse } from './fleet-course.ts';

/** Result of the demo, judged only by what the service holds in the end. */
export interface FleetResult {
  readonly files: number;
  /** Files whose bytes are not on the service. */
  readonly lost: number;
  /** Files whose bytes the service received more than once. */
  readonly twice: number;
  readonly isFine: boolean;
}

/** Compares the dropped files with the service's content. */
export async function judgeFleet(
  files: readonly DemoFile[],
  course: FleetCourse,
  sandbox: Sandbox,
): Promise<FleetResult> {
  const stored = sandbox.files().map(({ sha256 }) => sha256);
  const bodies = sandbox.requests().filter(({ method, status }) => method === 'PUT' && status === 200);
  const dropped = await Promise.all(files.map(async ({ path }) => sha256Of(await readFile(path))));
  const lost = dropped.filter((sha256) => !stored.includes(sha256)).length;
  const again = dropped.filter((sha256) => stored.filter((one) => one === sha256).length > 1).length;
  // An upload that replaced an identical file counts, too.
  const twice = Math.max(again, bodies.length - stored.length);
  return { files: files.length, lost, twice, isFine: lost === 0 && twice === 0 && course.isOver() };
}

export function fleetTable(files: readonly DemoFile[], course: FleetCourse, shell: Shell): string {
  const columns = [
    { title: 'FILE', cut: 'middle' as const },
    { title: 'STATE', style: stageStyle },
    { title: 'FINISHED BY' },
    { title: 'ATTEMPTS', align: 'right' as const },
    { title: 'TAKEN OVER FROM' },
  ];
  const rows = files.map((file) => {
    const seen = course.senders(file);
    const host = course.view(file)?.host ?? null;
    // The row names the sender even if the upload finished between two checks.
    const senders = host === null || seen.at(-1) === host ? seen : [...seen, host];
    return [
      file.name,
      course.view(file)?.stage ?? 'unknown',
      senders.at(-1) ?? UNKNOWN,
      String(Math.max(1, senders.length)),
      senders.length > 1 ? senders.slice(0, -1).join(', ') : '',
    ];
  });
  return renderTable(columns, rows, tableOptions(shell));
}

export function fleetSummary({ files, lost, twice }: FleetResult): string {
  return `${counted(files, 'file')}, ${lost} lost, ${twice} twice\n`;
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
