import { finished } from 'node:stream/promises';
import winston from 'winston';
import { formatLine } from './line-format.ts';
import type { Level, LineStyle, LogRecord } from './line-format.ts';
import { BestEffortStream } from './best-effort-stream.ts';
import type { LogFields, Logger } from './logger.ts';
import { cutText, isObject, serialize } from './serialize.ts';
import type { SecretValues } from './redaction.ts';

export interface LoggerOptions {
  readonly level: Level;
  /** `auto`: `pretty` on a terminal, `journald` under systemd (it sets `JOURNAL_STREAM`), else `json`. */
  readonly format: 'auto' | 'pretty' | 'json' | 'journald';
  /** Never ended, only drained. */
  readonly stream: NodeJS.WritableStream;
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets: SecretValues;
  /** Of the pretty format; without it on a terminal that can, and never with `NO_COLOR`. */
  readonly colour?: boolean;
  /** Lines that nobody takes wait in memory; beyond this (64 MiB) they are dropped and counted, so that a stuck reader costs no more. */
  readonly maxWaitingBytes?: number;
}

export interface OpenLogger {
  readonly logger: Logger;
  /** Resolves once every line so far is written out, however slow the reader. Lines after it are dropped. */
  close(): Promise<void>;
}

const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const MAX_MESSAGE = 8_192;

/** Makes the program's log. Neither making nor writing it ever throws, and no line holds a secret, a signed address or a second line. */
export function createLogger(options: LoggerOptions): OpenLogger {
  const sink = new BestEffortStream(options.stream);
  const output = openWinston(options.level, sink);
  const recorder = new Recorder(options, output, sink);
  const at = (level: Level) => (message: string, fields?: LogFields) => recorder.record(level, message, fields);
  return {
    logger: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') },
    close: () => recorder.close(),
  };
}

/** The message winston gets is the finished line. */
function openWinston(level: Level, sink: BestEffortStream): winston.Logger {
  const output = winston.createLogger({
    levels: { error: 0, warn: 1, info: 2, debug: 3 } satisfies Record<Level, number>,
    level,
    format: winston.format.printf(({ message }) => String(message)),
    transports: [new winston.transports.Stream({ stream: sink, eol: '\n' })],
    exitOnError: false,
  });
  return output.on('error', () => {});
}

function lineStyle({ format, isTerminal, env, colour }: LoggerOptions): LineStyle {
  const kind = format === 'auto' ? automaticFormat(isTerminal, env) : format;
  if (kind !== 'pretty') return { kind };
  return { kind, colour: colour ?? (isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb') };
}

function automaticFormat(isTerminal: boolean, env: LoggerOptions['env']): LineStyle['kind'] {
  if (isTerminal) return 'pretty';
  return env['JOURNAL_STREAM'] ? 'journald' : 'json';
}

/** Renders each call at once, so that a field changed later does not change the line. */
class Recorder {
  readonly #level: Level;
  readonly #style: LineStyle;
  readonly #secrets: SecretValues;
  readonly #maxWaitingBytes: number;
  readonly #output: winston.Logger;
  readonly #sink: BestEffortStream;
  #dropped = 0;
  #closed: Promise<void> | null = null;

  constructor(options: LoggerOptions, output: winston.Logger, sink: BestEffortStream) {
    this.#level = options.level;
    this.#style = lineStyle(options);
    this.#secrets = options.secrets;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES;
    this.#output = output;
    this.#sink = sink;
  }

  record(level: Level, message: string, fields: LogFields = {}): void {
    if (this.#closed || !this.#output.isLevelEnabled(level)) return;
    if (this.#sink.writableLength > this.#maxWaitingBytes) {
      this.#dropped += 1;
      return;
    }
    this.#reportDropped();
    this.#write(level, message, fields);
  }

  close(): Promise<void> {
    this.#closed ??= this.#drain();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    this.#reportDropped();
    this.#output.end();
    await finished(this.#output, { readable: false });
    this.#sink.end();
    await finished(this.#sink);
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const lines = this.#dropped;
    this.#dropped = 0;
    this.#write('warn', 'log lines were dropped because nobody reads them', { lines });
  }

  #write(level: Level, message: string, fields: LogFields): void {
    const line = formatLine(this.#takeDown(level, message, fields), this.#style, (text) =>
      this.#secrets.redactLine(text),
    );
    this.#output.log({ level, message: line });
  }

  #takeDown(level: Level, message: string, fields: LogFields): LogRecord {
    const redact = (text: string) => this.#secrets.redactText(text);
    const plain = serialize(fields, { redact, stacks: this.#level === 'debug' });
    return {
      time: new Date().toISOString(),
      level,
      message: cutText(redact(message), MAX_MESSAGE),
      fields: isObject(plain) ? plain : { fields: plain },
    };
  }
}
