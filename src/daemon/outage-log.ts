import type { LogFields, Logger } from '../log/logger.ts';
import { isLedgerAway } from '../pipeline/file/store-errors.ts';

/** The log of a host of a fleet: an outage of the database is reported once, and everything that fails because of it is logged as debug. */
export function withoutOutage(logger: Logger): Logger {
  const at =
    (level: keyof Logger) =>
    (message: string, fields: LogFields = {}): void =>
      logger[isLedgerAway(fields['err']) ? 'debug' : level](message, fields);
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
