/**
 * `import` of node:http evaluates all its exports, including WebSocket and all of undici. That takes 31 ms of CPU,
 * measured, out of the 150 ms allowed for `dropcast status`.
 */
const { request } = process.getBuiltinModule('node:http');

/** Thrown when no daemon is listening on the control socket. */
export class NotRunningError extends Error {
  override readonly name = 'NotRunningError';
}

/** Thrown when the daemon responds with an error, or not at all. */
export class ControlError extends Error {
  override readonly name: string = 'ControlError';
}

/** Thrown when this user may not connect to the socket. */
export class NotAllowedError extends ControlError {
  override readonly name = 'NotAllowedError';
}

/** Response timeout in milliseconds. */
const timeoutMs = 30_000;

const slow: Readonly<Record<string, number>> = {
  // A reload closes and opens watchers. systemd allows TimeoutStartSec for it, 90 s by default.
  '/reload': 85_000,
  // These commands may concern every known file.
  '/ignore': 600_000,
  '/retry': 600_000,
  '/reapply': 600_000,
};

/**
 * Exchanges one request and response with the running daemon.
 *
 * @throws {NotRunningError} no daemon is listening
 * @throws {ControlError}
 */
export async function callDaemon<T>(
  socketPath: string,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<T> {
  const { status, text } = await exchange(socketPath, method, { path, body });
  const answer = parse(text);
  if (status !== 200) throw new ControlError(messageOf(answer) ?? `the daemon answered ${status}`);
  // Not validated: both ends of the private socket are the same program.
  return answer as T;
}

/** A request to the daemon. */
export interface Asked {
  readonly path: string;
  /** JSON body, sent by POST; omitted: GET. */
  readonly body?: unknown;
  /** Aborts the request with an error. */
  readonly signal?: AbortSignal;
}

/**
 * Sends a request and streams the response line by line.
 *
 * @param onLine receives each line, parsed
 * @throws {NotRunningError} no daemon is listening
 * @throws {ControlError}
 */
export async function streamFromDaemon(
  socketPath: string,
  asked: Asked,
  onLine: (line: unknown) => void,
): Promise<void> {
  let rest = '';
  const onPart = (part: string): void => {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    // An empty line only shows that the daemon is alive.
    for (const line of lines.filter(Boolean)) onLine(parse(line));
  };
  const { status, text } = await exchange(socketPath, asked.body === undefined ? 'GET' : 'POST', asked, onPart);
  if (status !== 200) throw new ControlError(messageOf(parse(text)) ?? `the daemon answered ${status}`);
}

function exchange(
  socketPath: string,
  method: string,
  { path, body, signal }: Asked,
  onPart?: (part: string) => void,
): Promise<{ status: number; text: string }> {
  const timeout = slow[path] ?? timeoutMs;
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, method, path, timeout, agent: false, signal, headers: { 'content-type': 'application/json' } },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        const read = answer.statusCode === 200 ? onPart : undefined;
        answer.on('data', (part: string) => {
          try {
            if (read !== undefined) read(part);
            else text += part;
          } catch (error) {
            call.destroy(error instanceof Error ? error : new Error(String(error)));
          }
        });
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }));
        answer.on('error', (error) =>
          reject(new ControlError('the daemon stopped while answering; try again', { cause: error })),
        );
      },
    );
    call.on('timeout', () =>
      call.destroy(new ControlError('the daemon does not answer; see `journalctl -u dropcast` for what it is doing')),
    );
    call.on('error', (error: NodeJS.ErrnoException) => reject(translate(error, socketPath)));
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** No daemon is listening: the socket is missing, was left behind by a killed daemon, or has no directory. */
const notListening = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR']);

function translate(error: NodeJS.ErrnoException, socketPath: string): Error {
  if (error instanceof ControlError) return error;
  if (notListening.has(error.code ?? '')) return new NotRunningError('the daemon is not running', { cause: error });
  if (error.code === 'EACCES' || error.code === 'EPERM') {
    return new NotAllowedError(
      `permission denied for ${socketPath}: only root and the daemon's user may run commands, and members of its group may only look; run this with sudo`,
      { cause: error },
    );
  }
  return new ControlError(`cannot connect to the daemon at ${socketPath}: ${error.code ?? error.message}`, {
    cause: error,
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ControlError('the daemon sent an answer that is not JSON', { cause: error });
  }
}

function messageOf(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null || !('error' in answer)) return null;
  const { error } = answer;
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : null;
}
