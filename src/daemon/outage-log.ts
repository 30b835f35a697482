import type { LogFields, Logger } from '../log/logger.ts';
import { isLedgerAway } from '../pipeline/file/store-errors.ts';

/** The log of a host of a fleet: that its database is away is told once, so that whatever fails for it is only for who looks closer. */
export function withoutOutage(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields: LogFields = {}): void =>
      logger[isLedgerAway(fields['err']) ? 'debug' : level](message, fields);
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
