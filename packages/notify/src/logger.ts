/** The log of the program. Messages are fixed, fields are an object; errors go under `err`. */
export interface Logger {
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

type LogFields = Readonly<Record<string, unknown>>;
