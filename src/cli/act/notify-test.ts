import type { Config } from '../../config/config.ts';
import type { ControlPorts, NotifyTested } from '../../daemon/control/routes.ts';
import { createSend, tryTargets } from '@dropcast/notify';
import { commandDaemonOr } from '../control.ts';
import { requireDaemonPlace } from '../daemon-place.ts';
import { textOf } from '../output/format.ts';
import { printResult } from '../output/json.ts';
import { requireConfig } from '../read-config.ts';
import type { Shared } from '../registry.ts';
import { CommandError, exitCodes } from '../shell.ts';
import type { Shell } from '../shell.ts';

/**
 * `dropcast notify test`: sends a message to every target. The running daemon sends it, with its own secrets and from
 * its sandbox; without a daemon, this process does.
 *
 * @returns exit code 1 when a target did not accept it
 */
export async function notifyTest(shell: Shell, options: Shared, name?: string): Promise<number> {
  const target = name ?? null;
  const place = await requireDaemonPlace(shell, options.config);
  const { targets } = await commandDaemonOr<NotifyTested>(place, { path: '/notify/test', body: { target } }, () =>
    testedHere(shell, target, options.config),
  );
  printResult({ v: 1, targets }, { shell, json: options.json }, () => textOf(targets.map(lineOf)));
  if (targets.length === 0) throw nobody(target);
  return targets.every(({ ok }) => ok) ? exitCodes.fine : exitCodes.failed;
}

/** Creates the notification test, for the daemon or for this process if none is running. */
export function testNotifications(config: () => Config, env: Shell['env']): ControlPorts['testNotifications'] {
  return (name) => {
    const targets = config().notify.filter((target) => name === null || target.name === name);
    return tryTargets(targets, { send: createSend(env), now: Date.now(), host: config().hostName });
  };
}

async function testedHere(shell: Shell, target: string | null, option: string | undefined): Promise<NotifyTested> {
  const config = await requireConfig(shell, option, 'may come later');
  shell.stderr.write('The daemon is not running: this command sends the messages itself.\n');
  return { v: 1, targets: await testNotifications(() => config, shell.env)(target) };
}

function lineOf({ name, type, place, ok, answer }: NotifyTested['targets'][number]): string {
  const what = name === type ? type : `${name} (${type})`;
  return `${ok ? 'ok    ' : 'FAILED'}  ${what}, ${place}: ${answer}`;
}

function nobody(target: string | null): CommandError {
  return target === null
    ? new CommandError('no notifications are sent: the configuration has no notify section')
    : new CommandError(`no notify target is called "${target}"`, exitCodes.usage);
}
