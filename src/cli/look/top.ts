import { setTimeout as delay } from 'node:timers/promises';
import { clockTime } from '../../view/words/text.ts';
import { overviewView } from '../../view/picture/documents.ts';
import type { LivePicture } from '../../view/picture/picture.ts';
import { hasColour, paint } from '../../log/colour.ts';
import { queryRunningDaemon } from '../control.ts';
import type { DaemonPlace } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { printJson } from '../output/json.ts';
import { LiveRegion } from '../output/live-region.ts';
import { cutEnd } from '../output/text-width.ts';
import { pictureLines } from '../output/picture-lines.ts';
import { printPicture } from './status.ts';
import type { Shared } from '../registry.ts';
import { onRefusal, whileRead } from '../shell.ts';
import type { Reading, Shell } from '../shell.ts';

export interface TopOptions extends Shared {
  readonly once?: boolean;
  /** Interval in milliseconds, for `--json`. */
  readonly interval: number;
}

/** Interval between screen updates. */
const redrawMs = 500;

/**
 * `dropcast top`: shows the live picture. Prints it once if the output is not a terminal.
 *
 * @returns at `q`, Ctrl-C or the first signal, or when the output is closed
 */
export async function top(shell: Shell, options: TopOptions): Promise<void> {
  const config = await requireDaemonPlace(shell, options.config);
  const isScreen = shell.stdout.isTTY && shell.env['TERM'] !== 'dumb' && options.json !== true;
  if (options.once === true || (!isScreen && options.json !== true)) {
    const picture = await ask(config);
    return options.json === true ? printJson(overviewView(picture), shell.stdout) : printPicture(picture, shell);
  }
  shell.takeOverSignals();
  using reading = whileRead(shell);
  if (options.json === true) await printAll(shell, config, { signal: reading.signal, everyMs: options.interval });
  else await watch(shell, config, reading);
}

function ask(config: DaemonPlace): Promise<LivePicture> {
  return queryRunningDaemon<LivePicture>(config, '/picture');
}

/** Prints a document at each interval. The first query must succeed; later the daemon may be away. */
async function printAll(
  shell: Shell,
  config: DaemonPlace,
  { signal, everyMs }: { readonly signal: AbortSignal; readonly everyMs: number },
): Promise<void> {
  printJson(overviewView(await ask(config)), shell.stdout);
  while (await rest(everyMs, signal)) {
    const picture = await ask(config).catch(unlessAway);
    if (picture !== null && !signal.aborted) printJson(overviewView(picture), shell.stdout);
  }
}

async function watch(shell: Shell, config: DaemonPlace, { signal, leave }: Reading): Promise<void> {
  const screen = new Screen(shell, await ask(config));
  using keys = readKeys(shell, { leave, suspend: () => suspension.suspend(), scroll: (by) => screen.scroll(by) });
  using suspension = shell.aroundSuspension(
    () => {
      screen.rest();
      keys.release();
    },
    () => {
      keys.take();
      screen.goOn();
    },
  );
  while (await rest(redrawMs, signal)) screen.show(await ask(config).catch(unlessAway));
  screen.finish();
}

/** @returns false if the command is to end */
async function rest(ms: number, signal: AbortSignal): Promise<boolean> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/** Returns null for a daemon that is restarting or was stopped, since it has answered before. */
const unlessAway = onRefusal(() => null);

class Screen {
  readonly #shell: Shell;
  readonly #region: LiveRegion;
  #picture: LivePicture;
  #awaySince: number | null = null;
  #offset = 0;
  #isResting = false;

  constructor(shell: Shell, picture: LivePicture) {
    this.#shell = shell;
    this.#picture = picture;
    this.#region = new LiveRegion(shell.stdout, () => this.#draw());
    this.#draw();
  }

  /** @param picture null while the daemon is away */
  show(picture: LivePicture | null): void {
    if (picture === null) this.#awaySince ??= Date.now();
    else {
      this.#picture = picture;
      this.#awaySince = null;
    }
    this.#draw();
  }

  scroll(by: number): void {
    this.#offset = Math.max(0, this.#offset + by);
    this.#draw();
  }

  /** Leaves the last picture on the terminal while the command is suspended. */
  rest(): void {
    this.#region.rest();
    this.#isResting = true;
  }

  goOn(): void {
    this.#isResting = false;
    this.#draw();
  }

  finish(): void {
    this.#region.done();
  }

  /** Draws one column and one row less than the terminal, which would otherwise wrap and scroll. */
  #draw(): void {
    if (this.#isResting) return;
    const { stdout, env } = this.#shell;
    const width = Math.max(1, (stdout.columns || 80) - 1);
    const rows = Math.max(2, (stdout.rows || 24) - 1);
    const colour = hasColour(stdout, env);
    const lines = pictureLines({ picture: this.#picture, width, colour });
    this.#offset = Math.min(this.#offset, Math.max(0, lines.length - rows + 1));
    this.#region.draw([...lines.slice(this.#offset, this.#offset + rows - 1), this.#foot(width, colour)]);
  }

  #foot(width: number, colour: boolean): string {
    const now = Date.now();
    if (this.#awaySince === null) return paint('dim', cutEnd('q quits, arrows scroll', width), colour);
    const words = `The daemon has been gone since ${clockTime(this.#awaySince, now)}; this is its last status. Waiting for it to come back.`;
    return paint('red', cutEnd(words, width), colour);
  }
}

interface Keys extends Disposable {
  /** Starts reading keys again after another program used the terminal. */
  take(): void;
  /** Releases the terminal for a while. */
  release(): void;
}

/** Reads single keys from a terminal until disposed. */
function readKeys(
  { stdin }: Shell,
  { leave, suspend, scroll }: { leave(): void; suspend(): void; scroll(by: number): void },
): Keys {
  if (!stdin.isTTY) return { take: () => undefined, release: () => undefined, [Symbol.dispose]: () => undefined };
  const onKey = (key: string): void => {
    if (['q', 'Q', '\u0003', '\u0004', '\u001B'].includes(key)) leave();
    else if (key === '\u001A') suspend();
    else if (key === '\u001B[A' || key === 'k') scroll(-1);
    else if (key === '\u001B[B' || key === 'j') scroll(1);
  };
  stdin.setRawMode(true).setEncoding('utf8').on('data', onKey).resume();
  return {
    take: () => {
      // The stream still assumes raw mode after another program has changed the terminal, so it is toggled.
      stdin.setRawMode(false);
      stdin.setRawMode(true);
    },
    release: () => void stdin.setRawMode(false),
    [Symbol.dispose]: () => {
      stdin.off('data', onKey).pause();
      stdin.setRawMode(false);
    },
  };
}
