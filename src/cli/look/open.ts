import { spawn } from 'node:child_process';
import { queryRunningDaemon } from '../control.ts';
import { printJson } from '../output/json.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import type { Shared } from '../registry.ts';
import { CommandError } from '../shell.ts';
import type { Shell } from '../shell.ts';

/**
 * `dropcast open`: opens the status page in this desktop's browser. Without a browser, or with `--print`, prints the
 * link.
 */
export async function open(shell: Shell, options: Shared & { readonly print?: boolean }): Promise<void> {
  const config = await requireDaemonPlace(shell, options.config);
  const { link } = await queryRunningDaemon<{ readonly link: string | null }>(config, '/page');
  if (link === null)
    throw new CommandError(
      'there is no status page: status.listen is off, or its address could not be used (see the log)',
    );
  if (options.json === true) return printJson({ v: 1, link }, shell.stdout);
  if (options.print !== true && hasDesktop(shell) && (await isOpened(link))) {
    shell.stderr.write('The status page opens in your browser.\n');
    return;
  }
  shell.stdout.write(`${link}\n`);
  shell.stderr.write('The link works once, within 5 minutes, in a browser on this machine.\n');
}

function hasDesktop({ env, stdout }: Shell): boolean {
  const isShown = Boolean(env['DISPLAY']) || Boolean(env['WAYLAND_DISPLAY']);
  return stdout.isTTY && isShown;
}

/**
 * How long to wait for `xdg-open` to fail. It fails immediately or, without a desktop environment, runs as long as the
 * browser.
 */
const openerMs = 2_000;

/** Opens the link with the desktop's `xdg-open`, which finds the browser. */
function isOpened(link: string): Promise<boolean> {
  const opener = spawn('xdg-open', [link], { stdio: 'ignore', detached: true });
  opener.unref();
  return new Promise((resolve) => {
    const lasting = setTimeout(() => resolve(true), openerMs);
    const ended = (isOpened: boolean): void => {
      clearTimeout(lasting);
      resolve(isOpened);
    };
    opener.once('error', () => ended(false));
    opener.once('exit', (code) => ended(code === 0));
  });
}
