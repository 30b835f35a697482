import type { Logger, LogFields } from '../../src/log/logger.ts';

export const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};

/** Keeps what is logged. */
export function recordingLogger(): Logger & {
  readonly lines: { level: string; message: string; fields: LogFields }[];
} {
  const lines: { level: string; message: string; fields: LogFields }[] = [];
  const log =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      lines.push({ level, message, fields });
    };
  return { lines, error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug') };
}
