/** The program's log. Messages are fixed, fields are an object; errors go under `err`, a file's id under `file`. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

export type LogFields = Readonly<Record<string, unknown>>;
