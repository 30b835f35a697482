import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { startDaemon } from '../../src/daemon/daemon.ts';
import type { Daemon } from '../../src/daemon/daemon.ts';
import { openLedger } from '../../src/ledger/ledger.ts';
import { LedgerError } from '../../src/ledger/ledger-error.ts';
import { startVideoHost } from '../e2e/video-host.ts';
import type { VideoHost } from '../e2e/video-host.ts';
import { silentLogger } from '../pipeline/silent-logger.ts';
import { until } from '../support/until.ts';
import { loadedConfig } from '../support/configuration.ts';
import { scratchDirectory, type ScratchDirectory } from '../support/scratch-directory.ts';

/*
 * Every combination of the files in the state directory and the mark of the folder. `before.mpg` was uploaded before the older
 * copy was made, `since.mpg` after it.
 */

type Part = 'current' | 'an older copy' | 'empty';
type Mark = 'a counter' | 'a counter, and the last step was killed' | 'no counter' | 'garbage' | 'nothing';

type Outcome =
  | 'watches, and sends nothing again'
  | 'watches, and sends again what came since'
  | 'is frozen as older'
  | 'is frozen as not understood'
  | 'does not start';

const parts = ['current', 'an older copy', 'empty'] as const satisfies readonly Part[];

/** The first line that fits has the outcome. */
const table: readonly (readonly [
  ledger: readonly Part[],
  receipts: readonly Part[],
  mark: readonly Mark[],
  Outcome,
])[] = [
  // A ledger that was lost while its receipts are there is for an operator to restore.
  [['empty'], ['current', 'an older copy'], everyMark(), 'does not start'],
  [parts, parts, ['garbage'], 'is frozen as not understood'],
  [['current'], parts, everyMark(), 'watches, and sends nothing again'],
  [['an older copy'], ['current'], everyMark(), 'watches, and sends nothing again'],
  [
    ['an older copy', 'empty'],
    ['an older copy', 'empty'],
    ['a counter', 'a counter, and the last step was killed'],
    'is frozen as older',
  ],
  // Nothing says how far the ledger was.
  [parts, parts, ['no counter', 'nothing'], 'watches, and sends again what came since'],
];

function everyMark(): readonly Mark[] {
  return ['a counter', 'a counter, and the last step was killed', 'no counter', 'garbage', 'nothing'];
}

const cells = parts.flatMap((ledger) =>
  parts.flatMap((receipts) => everyMark().map((mark) => ({ ledger, receipts, mark }))),
);

function outcomeOf({ ledger, receipts, mark }: (typeof cells)[number]): Outcome {
  const line = table.find(([l, r, m]) => l.includes(ledger) && r.includes(receipts) && m.includes(mark));
  if (line === undefined) throw new Error(`no line of the table is about ${ledger}, ${receipts}, ${mark}`);
  return line[3];
}

let host: VideoHost;
let scratch: ScratchDirectory;
let config: Config;
let mark: string;

beforeAll(async () => {
  host = await startVideoHost();
  scratch = await scratchDirectory();
  await mkdir(scratch.file('inbox'));
  config = await loadedConfig(scratch, {
    service: { base_url: host.baseUrl, api_key: host.key },
    folders: [{ rescan: '1s' }],
  });
  for (const [name, kept] of [
    ['before.mpg', 'an older copy'],
    ['since.mpg', 'current'],
  ] as const) {
    await writeFile(scratch.file('inbox', name), randomBytes(500));
    await living(async (daemon) => idle(daemon));
    await cp(scratch.file('state'), scratch.file('kept', kept), { recursive: true });
  }
  mark = await readFile(scratch.file('inbox/.dropcast'), 'utf8');
  {
    await using ledger = await openLedger(scratch.file('state'));
    await ledger.counter.advance(0);
  }
  await cp(scratch.file('state'), scratch.file('kept/killed'), { recursive: true });
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await scratch[Symbol.asyncDispose]();
});

/** One process. @returns what `work` does, or the error of a refused start */
async function living<T>(work: (daemon: Daemon) => Promise<T>): Promise<T> {
  await using daemon = await startDaemon(config, silentLogger);
  return await work(daemon);
}

async function idle(daemon: Daemon): Promise<void> {
  await until('nothing is left to do', async () => daemon.folders.unscanned().length === 0 && (await daemon.isIdle()));
}

const sent = (): readonly string[] => [...host.videos.values()].flatMap(({ title, bodies }) => bodies.map(() => title));

async function prepare(cell: (typeof cells)[number]): Promise<void> {
  const isKilled = cell.mark === 'a counter, and the last step was killed';
  const from = (part: Part): string => scratch.file('kept', part === 'current' && isKilled ? 'killed' : part);
  await rm(scratch.file('state'), { recursive: true });
  await rm(scratch.file('inbox/later.mpg'), { force: true });
  await mkdir(scratch.file('state'), { mode: 0o700 });
  await cp(scratch.file('kept/current/ledger.id'), scratch.file('state/ledger.id'));
  if (cell.ledger !== 'empty') await cp(`${from(cell.ledger)}/ledger.db`, scratch.file('state/ledger.db'));
  if (cell.receipts !== 'empty')
    await cp(`${from(cell.receipts)}/receipts.jsonl`, scratch.file('state/receipts.jsonl'));
  await rm(scratch.file('inbox/.dropcast'), { force: true });
  const text = {
    'a counter': mark,
    'a counter, and the last step was killed': mark,
    'no counter': mark.replace(/,"counter":"\d+"/, ''),
    garbage: '{"ledger":',
    nothing: null,
  }[cell.mark];
  if (text !== null) await writeFile(scratch.file('inbox/.dropcast'), text);
}

/** The outcome of a start. */
async function observed(): Promise<{ readonly outcome: Outcome; readonly why: string }> {
  const before = sent().length;
  try {
    return await living(async (daemon) => {
      await idle(daemon);
      const [folder] = daemon.folders.status();
      const why = folder?.why ?? '';
      const again = sent().slice(before);
      if (folder?.state === 'frozen') {
        expect(again).toEqual([]);
        return { outcome: why.includes('is older than') ? 'is frozen as older' : 'is frozen as not understood', why };
      }
      expect(folder?.state).toBe('watching');
      if (again.length === 0) return { outcome: 'watches, and sends nothing again', why };
      expect(again).toContain('since');
      return { outcome: 'watches, and sends again what came since', why };
    });
  } catch (error) {
    if (error instanceof LedgerError) return { outcome: 'does not start', why: error.message };
    throw error;
  }
}

/** An operator answers, and a file is dropped. @returns titles of what is sent */
async function answered(how: 'adopt' | 'resume'): Promise<readonly string[]> {
  const before = sent().length;
  await living(async (daemon) => {
    await idle(daemon);
    expect(await daemon.folders[how](scratch.file('inbox'))).toMatchObject({ ok: true });
    await daemon.folders.rescan();
    await idle(daemon);
    await writeFile(scratch.file('inbox/later.mpg'), randomBytes(500));
    await until('it is sent', () => sent().slice(before).includes('later'));
    await idle(daemon);
  });
  // The answer lasts.
  await living(async (daemon) => {
    await idle(daemon);
    expect(daemon.folders.status()).toMatchObject([{ state: 'watching' }]);
  });
  return sent().slice(before).toSorted();
}

test('every combination is in the table', () => {
  expect(cells.map(outcomeOf)).toHaveLength(45);
});

describe.each(parts)('with a ledger that is %s', (ledger) => {
  const own = cells
    .filter((cell) => cell.ledger === ledger)
    .map((cell) => [cell.receipts, cell.mark, outcomeOf(cell), cell] as const);
  test.each(own)('receipts that are %s, and a mark with %s, dropcast %s', async (_receipts, _mark, outcome, cell) => {
    await prepare(cell);
    expect(await observed()).toMatchObject({ outcome });
    if (outcome === 'is frozen as not understood')
      await living(async ({ folders }) => {
        expect(await folders.adopt(scratch.file('inbox'))).toMatchObject({ ok: false });
        expect(await folders.resume(scratch.file('inbox'))).toMatchObject({ ok: false });
      });
    if (outcome !== 'is frozen as older') return;
    expect(await observed()).toMatchObject({ outcome });
    expect(await answered('adopt')).toEqual(['later']);
    await prepare(cell);
    expect(await answered('resume')).toEqual([...(ledger === 'empty' ? ['before'] : []), 'later', 'since']);
  });
});
