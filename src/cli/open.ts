import { queryRunningDaemon } from './control.ts';
import { printJson } from './output/json.ts';
import { requireDaemonPlace } from './daemon-place.ts';
import { CommandError, exitCodes } from './shell.ts';
import type { Shell } from './shell.ts';

/** `dropcast open`: prints a link that opens the status page in a browser on this machine. */
export async function open(
  shell: Shell,
  options: { readonly config?: string; readonly json?: boolean },
): Promise<void> {
  const config = await requireDaemonPlace(shell, options.config);
  const { link } = await queryRunningDaemon<{ readonly link: string | null }>(config, '/page');
  if (link === null)
    throw new CommandError(
      'there is no status page: status.listen is off, or its address could not be used (see the log)',
      exitCodes.failed,
    );
  if (options.json === true) return printJson({ v: 1, link }, shell.stdout);
  shell.stdout.write(`${link}\n`);
  shell.stderr.write('The link works once, within 5 minutes, in a browser on this machine.\n');
}
