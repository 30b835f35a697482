import { createReadStream } from 'node:fs';
import { z } from 'zod';
import { open, type FileHandle } from 'node:fs/promises';

/** The first line of a recording. */
type RecordingHead = z.output<typeof headSchema>;

/** One request and its answer, without secrets. */
export type RecordedExchange = z.output<typeof exchangeSchema>;

/** Headers and body of one direction. */
export type RecordedMessage = z.output<typeof messageSchema>;

export interface Recording {
  readonly head: RecordingHead;
  readonly exchanges: readonly RecordedExchange[];
  /** Whether the last line was incomplete, because the recorder was killed, and was ignored. */
  readonly isTorn: boolean;
}

/** Version of the format. Newer versions are refused. */
export const recordingVersion = 1;

/** Thrown for a file that is not a recording, or has a version that cannot be read. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

/**
 * Reads a recording: JSON lines, the head first. An incomplete last line is ignored. Exchanges are in the order in
 * which they began.
 * @throws {RecordingError} for a file that is not a recording; the message names the line
 * @throws the disk error
 */
export async function readRecording(path: string): Promise<Recording> {
  const lines: { readonly number: number; readonly json: unknown }[] = [];
  let torn = 0;
  let number = 0;
  for await (const line of linesOf(path)) {
    number += 1;
    if (line.trim() === '') continue;
    if (torn > 0) throw new RecordingError(`${path}:${torn}: this line is not JSON`);
    try {
      lines.push({ number, json: JSON.parse(line) });
    } catch {
      torn = number;
    }
  }
  const [first, ...rest] = lines;
  if (first === undefined) throw new RecordingError(`${path} is not a recording: it has no line of JSON`);
  refuseOtherVersion(first.json, path);
  const head = read(headSchema, first.json, `${path}:${first.number}`);
  const exchanges = rest.map(({ json, number: at }) => read(exchangeSchema, json, `${path}:${at}`));
  return { head, exchanges: exchanges.toSorted((one, other) => one.number - other.number), isTorn: torn > 0 };
}

/** Yields the lines of a file. `node:readline` would also split lines at U+2028, which JSON does not escape. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let line = '';
  for await (const piece of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const [end = '', ...others] = piece.split('\n');
    line += end;
    for (const other of others) {
      yield line;
      line = other;
    }
  }
  yield line;
}

const bodySchema = z.union([
  z.object({ json: z.unknown() }),
  z.object({ text: z.string() }),
  z.object({ bytes: z.number(), sha256: z.string() }),
]);

const messageSchema = z.object({
  headers: z.record(z.string(), z.string()),
  /** JSON or other text; for binary bodies and bodies over 4 MiB, size and hash. */
  body: bodySchema.optional(),
});

const headSchema = z.object({
  kind: z.literal('recording'),
  v: z.literal(recordingVersion),
  /** Base address of the service. */
  to: z.string(),
  /** Start of the recording, ISO 8601. */
  at: z.string(),
});

const exchangeSchema = z.object({
  kind: z.literal('exchange'),
  /** Number of the request, counting from 1 in order of arrival. */
  number: z.int(),
  /** Arrival time of the request, ISO 8601. */
  at: z.string(),
  /** Duration in milliseconds. */
  ms: z.number(),
  method: z.string(),
  /** Path and query as sent to the recorder; `/uploads/VIDEO/NUMBER` for an upload address. */
  target: z.string(),
  request: messageSchema,
  answer: messageSchema.extend({ status: z.int() }).optional(),
  /** Statuses of the interim answers, such as 100. */
  interim: z.array(z.int()).optional(),
  /** Origin of an upload address, and the life in seconds that the address states. */
  upload: z.object({ origin: z.string(), life: z.int().optional() }).optional(),
  /** Why the response is incomplete. */
  broken: z.string().optional(),
});

function refuseOtherVersion(head: unknown, path: string): void {
  const named = z.object({ kind: z.literal('recording'), v: z.number() }).safeParse(head);
  if (!named.success || named.data.v === recordingVersion) return;
  throw new RecordingError(
    `${path} is a recording of version ${named.data.v}, and this dropcast reads version ${recordingVersion}; read it with the dropcast that recorded it`,
  );
}

function read<T>(schema: z.ZodType<T>, line: unknown, place: string): T {
  const result = schema.safeParse(line);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new RecordingError(
    `${place}: not a line of a recording (${issue?.path.join('.') || 'line'}: ${issue?.message})`,
  );
}

/** A recording being written: complete lines, one per exchange, readable only by its owner. */
export class RecordingFile implements AsyncDisposable {
  readonly #file: FileHandle;
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** @throws EEXIST for an existing file; other disk errors */
  static async create(path: string, head: RecordingHead): Promise<RecordingFile> {
    const recording = new RecordingFile(await open(path, 'wx', 0o600));
    await recording.#append(head);
    return recording;
  }

  /** Appends a line; lines keep the order of the calls. @throws the disk error, even if an earlier line caused it */
  add(exchange: RecordedExchange): Promise<void> {
    return this.#append(exchange);
  }

  /** Syncs and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last.catch(() => {});
    await this.#file.sync();
    await this.#file.close();
  }

  #append(line: object): Promise<void> {
    this.#last = this.#last.then(() => this.#file.appendFile(`${JSON.stringify(line)}\n`));
    return this.#last;
  }
}

/**
 * Writes a whole recording.
 *
 * @param to base address of the service
 * @throws EEXIST for an existing file; other disk errors
 */
export async function writeRecording(path: string, to: string, exchanges: readonly RecordedExchange[]): Promise<void> {
  const at = exchanges[0]?.at ?? new Date().toISOString();
  await using file = await RecordingFile.create(path, { kind: 'recording', v: recordingVersion, to, at });
  for (const exchange of exchanges) await file.add(exchange);
}
