import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { resolve } from 'node:path';
import type { DaemonPlace } from '../control.ts';
import { readQuery } from '../../view/files/query.ts';
import { MOST_LINES } from '../../daemon/news/lines.ts';
import type { KeptLine, NewsLine } from '../../daemon/news/lines.ts';
import { pastLines, pastPage, shownHost, whyNoCursor } from '../../daemon/news/past-lines.ts';
import type { PastPage, PastRows } from '../../daemon/news/past-lines.ts';
import { isAtLeast, isIn } from '../../daemon/news/news.ts';
import type { NewsLevel } from '../../view/words/events.ts';
import type { NewsHead } from '../../daemon/control/event-routes.ts';
import { hasColour, paint } from '../../log/colour.ts';
import type { Style } from '../../log/colour.ts';
import { escapeControls } from '../../log/unsafe-characters.ts';
import { dayAndSecond } from '../../view/words/text.ts';
import { queryRunningDaemon, readLedgerInstead, streamRunningDaemon } from '../control.ts';
import { shortPath } from '../output/file-table.ts';
import { counted } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes, onRefusal, whileRead } from '../shell.ts';
import type { Shell } from '../shell.ts';

export interface EventsOptions extends Shared {
  readonly follow?: boolean;
  readonly level: string;
  readonly folder?: string;
  readonly lines?: number;
  readonly since?: string;
  readonly after?: string;
}

/**
 * `dropcast events`: prints the daemon's newest event lines; with `--follow`, later ones too, across daemon restarts.
 * With `--since`, prints all lines in the ledger.
 *
 * @returns at the end of the list, at the first signal, or when the output is closed
 */
export async function events(shell: Shell, options: EventsOptions): Promise<void> {
  const isFollowing = options.follow === true;
  if (isFollowing) shell.takeOverSignals();
  using reading = whileRead(shell);
  const { signal } = reading;
  const wanted = pastWanted(options);
  const config = await requireDaemonPlace(shell, options.config);
  if (wanted !== null) await readPast(shell, config, { ...options, wanted, signal });
  else {
    const following = new Following(shell, options);
    await following.read(config, signal).catch(async (error: unknown) => {
      if (isFollowing) throw error;
      await readLedgerInstead(shell, config, error, async (ledger) => following.readNewest(ledger, shownHost(config)));
    });
    if (isFollowing) await readAgain(following, config, signal);
  }
}

/** The oldest time to print, in epoch milliseconds, and the cursor to read from, which is empty at the first line. */
type PastWanted = Readonly<{ since: number; after: string }>;

/**
 * @returns null if only the newest lines are wanted
 * @throws {CommandError} when an option is invalid
 */
function pastWanted({ since, after = '', lines = 0 }: EventsOptions): PastWanted | null {
  if (since === undefined && after === '') {
    if (lines <= MOST_LINES) return null;
    throw new CommandError(`more than ${MOST_LINES} lines can only be read with --since`, exitCodes.usage);
  }
  const { selection, problems } = readQuery({ since }, Date.now());
  const problem = since === '' ? '--since is empty' : (problems[0] ?? whyNoCursor(after));
  if (problem !== null) throw new CommandError(escapeControls(problem), exitCodes.usage);
  return { since: selection.since ?? 0, after };
}

/** Reads page by page from the daemon, or from its ledger if the daemon is down. */
async function readPast(
  shell: Shell,
  config: DaemonPlace,
  { wanted, signal, ...options }: EventsOptions & { readonly wanted: PastWanted; readonly signal: AbortSignal },
): Promise<void> {
  const { lines: limit = Infinity } = options;
  const isWanted = selectedBy(shell, options);
  let { after } = wanted;
  let printed = 0;
  const read = async (page: (after: string) => Promise<PastPage>): Promise<void> => {
    do {
      const { lines, next } = await page(after);
      for (const line of lines.filter(isWanted)) {
        if (printed === limit) {
          const more = `${counted(printed, 'line')}; the next ones: --after ${after}, or raise --lines.`;
          shell.stderr.write(`${more}\n`);
          return;
        }
        printLine(line, options, shell);
        printed += 1;
        after = line.cursor;
      }
      if (next === null) return;
      after = next;
      if (shell.stdout.writableNeedDrain) await once(shell.stdout, 'drain', { signal }).catch(() => undefined);
    } while (!signal.aborted);
  };
  const { since } = wanted;
  const ofDaemon = (cursor: string): Promise<PastPage> =>
    queryRunningDaemon(config, `/events/past?${String(new URLSearchParams({ since: String(since), after: cursor }))}`);
  await read(ofDaemon).catch((error: unknown) =>
    readLedgerInstead(shell, config, error, async (ledger) => {
      if (ledger === null) return;
      await read((cursor) => pastPage(ledger, { host: shownHost(config), since, after: cursor }));
    }),
  );
}

function selectedBy(shell: Shell, { level, folder }: EventsOptions): (line: KeptLine) => boolean {
  const wanted = folder === undefined ? null : resolve(shell.cwd, folder);
  return (line) => isAtLeast(line, level) && (wanted === null || isIn(line, wanted));
}

async function readAgain(following: Following, config: DaemonPlace, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    following.lost();
    await delay(retryMs, undefined, { signal }).catch(() => undefined);
    await following.read(config, signal).catch(unlessNotRunning);
  }
}

/** Delay between reconnection attempts. A restart takes seconds. */
const retryMs = 1_000;

const unlessNotRunning = onRefusal((refusal) => {
  if (refusal.exitCode !== exitCodes.notRunning) throw refusal;
});

/** Keeps the read position across connections. */
class Following {
  readonly #shell: Shell;
  readonly #options: EventsOptions;
  #run: number | null = null;
  #seq = 0;
  #isLost = false;

  constructor(shell: Shell, options: EventsOptions) {
    this.#shell = shell;
    this.#options = options;
  }

  async read(config: DaemonPlace, signal: AbortSignal): Promise<void> {
    let isHead = true;
    // The type cast is safe: both ends of the private socket are the same program.
    await streamRunningDaemon(config, { path: this.#query(), signal }, (line) => {
      if (isHead) this.#begin(line as NewsHead);
      else this.#print(line as NewsLine);
      isHead = false;
    });
  }

  /**
   * Prints the lines that the daemon would show.
   *
   * @param ledger null if the daemon has none
   */
  async readNewest(ledger: PastRows | null, host: string | null): Promise<void> {
    if (ledger === null) return;
    const { lines: limit = usualLines } = this.#options;
    const past = await pastLines(ledger, { host, limit: MOST_LINES, now: Date.now() });
    for (const line of past.filter(selectedBy(this.#shell, this.#options)).slice(-limit)) this.#print(line);
  }

  /** Reports a lost connection, once. */
  lost(): void {
    if (!this.#isLost) this.#note('The daemon closed the connection; waiting for it to come back.');
    this.#isLost = true;
  }

  #query(): string {
    const { follow, level, folder, lines: limit = usualLines } = this.#options;
    const query = new URLSearchParams({ level, limit: String(limit) });
    if (follow === true) query.set('follow', '1');
    if (folder !== undefined) query.set('folder', resolve(this.#shell.cwd, folder));
    if (this.#run !== null) {
      query.set('of', String(this.#run));
      query.set('since', String(this.#seq));
    }
    return `/events?${query.toString()}`;
  }

  #begin({ started_at: run, forgotten }: NewsHead): void {
    if (this.#run !== null && run !== this.#run) {
      this.#note('The daemon restarted: its numbers begin at 1 again, and its last lines before that may be missing.');
      this.#seq = 0;
    } else if (this.#isLost) this.#note('The daemon is back.');
    if (forgotten > 0)
      this.#note(`${counted(forgotten, 'line')} in between are missing: the daemon keeps the last 1,000.`);
    this.#run = run;
    this.#isLost = false;
  }

  #note(text: string): void {
    this.#shell.stderr.write(`${text}\n`);
  }

  #print(line: NewsLine): void {
    this.#seq = line.seq;
    printLine(line, this.#options, this.#shell);
  }
}

const usualLines = 50;

interface PrintedLine extends KeptLine {
  /** Absent in lines from earlier runs. */
  readonly seq?: number;
  /** Where the next read starts, with `--since` and `--after`. */
  readonly cursor?: string;
  /** The number of lines that this line replaces. */
  readonly missed?: number;
}

function printLine(line: PrintedLine, { json }: EventsOptions, shell: Shell): void {
  printResult(line, { shell, json }, () => `${readable(line, shell)}\n`);
}

function readable({ at, level, folder, path, text }: KeptLine, shell: Shell): string {
  const place = folder === null ? '' : `${shortPath(path === null ? folder : `${folder}/${path}`, shell) || '.'}: `;
  const name = paint(styles[level], level.padEnd(5), hasColour(shell.stdout, shell.env));
  return `${dayAndSecond(at)}  ${name}  ${escapeControls(place)}${escapeControls(text)}`;
}

const styles: Readonly<Record<NewsLevel, Style>> = { info: 'dim', warn: 'yellow', error: 'red' };
