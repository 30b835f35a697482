import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Bench, Build } from './bench.ts';
import { caughtUp, watchedFolder } from './watched-folder.ts';

export const bench: Bench = {
  about:
    'What an answer to `dropcast status` costs a daemon in which all files wait for the service, with 1,000, 20,000 and 100,000 of them.',
  rounds: 3,
  rows: {
    few: { what: '1,000 files: CPU time of an answer', unit: 'ms', most: 2 },
    some: { what: '20,000 files: CPU time of an answer', unit: 'ms', most: 2 },
    many: { what: '100,000 files: CPU time of an answer', unit: 'ms', most: 2 },
    ratio: { what: '100,000 files against 1,000', unit: '×', most: 1.5 },
  },
  limit: 'Each answer counts the rows by their state in an index: 3 ms for 100,000.',
  round: async (build, size) => {
    const share = size === 'full' ? 1 : 0.05;
    const few = await answer(build, 1_000 * share);
    const some = await answer(build, 20_000 * share);
    const many = await answer(build, 100_000 * share);
    return { values: { few, some, many, ratio: many / few } };
  },
};

const answers = 200;

async function answer(build: Build, files: number): Promise<number> {
  await using folder = await watchedFolder(build, files);
  makeWaiting(join(dirname(folder.inbox), 'state/ledger.db'));
  await using running = folder.run();
  await caughtUp(folder, running);
  const before = await running.cpuSeconds();
  for (let n = 0; n < answers; n += 1) await folder.status();
  return (1_000 * ((await running.cpuSeconds()) - before)) / answers;
}

function makeWaiting(path: string): void {
  using database = new DatabaseSync(path);
  database.exec(`UPDATE file SET checksum = NULL, state = 'queued', "end" = NULL, ended_at = NULL, remote_status = NULL,
    disposal = NULL, created_at = NULL, uploaded_at = NULL, ready_at = NULL, video_id = NULL, sha256 = NULL, published = '{}'`);
}
