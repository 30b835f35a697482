import { openNotifier } from '../../src/systemd/notifier.ts';

/** A service of one message: sends its arguments and prints the way they went. */
const log = (message: string, fields?: unknown): void => console.error(message, fields);
const notifier = openNotifier({
  env: process.env,
  pid: process.pid,
  logger: { error: log, warn: log, info: log, debug: log },
});
notifier?.send(Object.fromEntries(process.argv.slice(2).map((word) => word.split('='))) as Record<string, string>);
console.log(notifier?.backend ?? 'none');
