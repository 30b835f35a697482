import { finished } from 'node:stream/promises';
import winston from 'winston';
import { hasColour } from './colour.ts';
import { formatLine } from './line-format.ts';
import type { Level, LineStyle, LogRecord } from './line-format.ts';
import type { LogFields, Logger } from './logger.ts';
import { cutText, isObject, serialize } from './serialize.ts';
import type { SecretValues } from './redaction.ts';
import { Writable } from 'node:stream';

export interface LoggerOptions {
  readonly level: Level;
  /** `auto`: `pretty` on a terminal, `journald` under systemd (which sets `JOURNAL_STREAM`), otherwise `json`. */
  readonly format: 'auto' | 'pretty' | 'json' | 'journald';
  /** The output stream; drained on close, but never ended. */
  readonly stream: NodeJS.WritableStream;
  readonly isTerminal: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets: SecretValues;
  /** Maximum number of bytes buffered for a slow reader (default 64 MiB). Further lines are dropped and counted. */
  readonly maxWaitingBytes?: number;
}

export interface OpenLogger {
  readonly logger: Logger;
  /** Resolves once all lines so far are written, however slow the reader. Later lines are dropped. */
  close(): Promise<void>;
}

const MAX_WAITING_BYTES = 64 * 1024 * 1024;
const MAX_MESSAGE = 8_192;

/**
 * Creates the program's log. Neither creating it nor writing to it ever throws. No line contains a secret, a signed
 * address or a line break.
 *
 * @param options see `LoggerOptions`; secrets added to `options.secrets` later are kept out of later lines
 * @returns the logger, and `close`, which must be awaited before the process exits: `process.exit` loses lines
 */
export function createLogger(options: LoggerOptions): OpenLogger {
  const stream = new BestEffortStream(options.stream);
  const output = openWinston(options.level, stream);
  const recorder = new Recorder(options, output, stream);
  const at = (level: Level) => (message: string, fields?: LogFields) => recorder.record(level, message, fields);
  return {
    logger: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') },
    close: () => recorder.close(),
  };
}

/** Opens winston, which receives complete lines as messages. */
function openWinston(level: Level, stream: BestEffortStream): winston.Logger {
  const output = winston.createLogger({
    levels: { error: 0, warn: 1, info: 2, debug: 3 } satisfies Record<Level, number>,
    level,
    format: winston.format.printf(({ message }) => String(message)),
    transports: [new winston.transports.Stream({ stream, eol: '\n' })],
    exitOnError: false,
  });
  return output.on('error', () => {});
}

function lineStyle({ format, isTerminal, env }: LoggerOptions): LineStyle {
  const kind = format === 'auto' ? automaticFormat(isTerminal, env) : format;
  return kind === 'pretty' ? { kind, colour: hasColour({ isTTY: isTerminal }, env) } : { kind };
}

function automaticFormat(isTerminal: boolean, env: LoggerOptions['env']): LineStyle['kind'] {
  if (isTerminal) return 'pretty';
  return env['JOURNAL_STREAM'] ? 'journald' : 'json';
}

/** Renders each call immediately, so that later changes to a field do not alter the line. */
class Recorder {
  readonly #level: Level;
  readonly #style: LineStyle;
  readonly #secrets: SecretValues;
  readonly #maxWaitingBytes: number;
  readonly #output: winston.Logger;
  readonly #stream: BestEffortStream;
  #dropped = 0;
  #closed: Promise<void> | null = null;

  constructor(options: LoggerOptions, output: winston.Logger, stream: BestEffortStream) {
    this.#level = options.level;
    this.#style = lineStyle(options);
    this.#secrets = options.secrets;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES;
    this.#output = output;
    this.#stream = stream;
  }

  record(level: Level, message: string, fields: LogFields = {}): void {
    if (this.#closed || !this.#output.isLevelEnabled(level)) return;
    if (this.#stream.writableLength > this.#maxWaitingBytes) {
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
    this.#stream.end();
    await finished(this.#stream);
  }

  #reportDropped(): void {
    if (this.#dropped === 0) return;
    const lines = this.#dropped;
    this.#dropped = 0;
    this.#write('warn', 'Log lines dropped: the output is not being read', { lines });
  }

  #write(level: Level, message: string, fields: LogFields): void {
    const line = formatLine(this.#recordOf(level, message, fields), this.#style, (text) =>
      this.#secrets.redactLine(text),
    );
    this.#output.log({ level, message: line });
  }

  #recordOf(level: Level, message: string, fields: LogFields): LogRecord {
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

/**
 * Passes complete lines to a stream that it never ends, one write at a time. If that stream breaks (the pipe's reader
 * has gone, the disk is full), only lines are lost: the program's work matters more than its log. Every line is
 * attempted again, because disk space may be freed.
 */
class BestEffortStream extends Writable {
  readonly #target: NodeJS.WritableStream;

  constructor(target: NodeJS.WritableStream) {
    // Lines stay strings, so that several can be joined into one write.
    super({ decodeStrings: false });
    this.#target = target;
    // Without a listener, EPIPE and ENOSPC would crash the process. The listener stays attached because a write may
    // fail after the log is closed.
    target.on('error', ignore);
  }

  override _write(line: string, _encoding: BufferEncoding, done: () => void): void {
    this.#forward(line, done);
  }

  override _writev(lines: readonly { readonly chunk: string }[], done: () => void): void {
    this.#forward(lines.map(({ chunk }) => chunk).join(''), done);
  }

  #forward(text: string, done: () => void): void {
    try {
      // Called when the kernel has accepted the lines or the write has failed. Either counts as done.
      this.#target.write(text, () => done());
    } catch {
      done();
    }
  }
}

function ignore(): void {}
