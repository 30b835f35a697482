/**
 * The program's log. Messages are constant, with variable parts in the fields; errors go in `err`, a file's id in
 * `file`.
 */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;
