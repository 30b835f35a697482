import type { SendOptions } from '../../../src/config/config.ts';
import { PassThrough, Writable } from 'node:stream';
import type { Call } from '../../../packages/client/src/call.ts';
import type { Pages, VideoClient } from '../../../packages/client/src/video-client.ts';
import type { Session } from '../../../src/cli/api/session.ts';
import type { Shell } from '../../../src/cli/shell.ts';

/** A stream that keeps what was written, as a terminal of 100 columns or as a pipe. */
class Screen extends Writable {
  readonly isTTY: boolean;
  readonly columns: number | undefined;
  text = '';

  constructor(isTTY: boolean) {
    super({ decodeStrings: false });
    this.isTTY = isTTY;
    this.columns = isTTY ? 100 : undefined;
  }

  override _write(text: string, _encoding: BufferEncoding, done: () => void): void {
    this.text += text;
    done();
  }
}

export interface FakeShell extends Shell {
  /** What a person types. */
  readonly keyboard: PassThrough;
  readonly out: Screen;
  readonly err: Screen;
  stop(): void;
}

export function fakeShell({
  isTerminal = false,
  env = {},
  cwd = '/',
}: { isTerminal?: boolean; env?: Record<string, string>; cwd?: string } = {}): FakeShell {
  const keyboard = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const [out, err, stopping] = [new Screen(isTerminal), new Screen(isTerminal), new AbortController()];
  return {
    keyboard,
    out,
    err,
    stop: () => stopping.abort(),
    stdin: keyboard as unknown as NodeJS.ReadStream,
    stdout: out as unknown as NodeJS.WriteStream,
    stderr: err as unknown as NodeJS.WriteStream,
    env,
    cwd,
    home: '/',
    takeOverSignals: () => undefined,
    stopping: stopping.signal,
    hurrying: new AbortController().signal,
    onReload: () => undefined,
    aroundSuspension: () => ({ suspend: () => undefined, [Symbol.dispose]: () => undefined }),
  };
}

type Fakes = { readonly [Part in 'videos' | 'channels' | 'feeds' | 'analytics']?: FakePart<VideoClient[Part]> };

/** The methods of a part, where a plain promise does for the call that a method returns: no command asks for the raw answer. */
type FakePart<Part> = { readonly [Name in keyof Part]?: FakeMethod<Part[Name]> };
type FakeMethod<Method> = Method extends (...given: infer Given) => infer Result
  ? (
      ...given: Given
    ) => Result extends Call<infer T>
      ? Promise<T>
      : Result extends Pages<infer T, infer Page>
        ? FakePages<T, Page>
        : Result
  : never;
type FakePages<T, Page> = Omit<Pages<T, Page>, 'page'> & { page(page: number): Promise<Page> };

/** A session whose client has only what is given; any other call fails the test. */
export function fakeSession(shell: Shell, fakes: Fakes, sendOptions: SendOptions = { headers: {} }): Session {
  const missing = (part: keyof Fakes): object =>
    new Proxy(
      { ...fakes[part] },
      {
        get: (target, name) => {
          if (Reflect.has(target, name)) return Reflect.get(target, name) as unknown;
          throw new Error(`client.${part}.${String(name)} was not expected to be called`);
        },
      },
    );
  const parts = Object.fromEntries(
    (['videos', 'channels', 'feeds', 'analytics'] as const).map((part) => [part, missing(part)]),
  );
  return { shell, client: parts as unknown as VideoClient, sendOptions: () => sendOptions };
}

/** The one line of JSON that was printed. */
export function printedJson({ out }: FakeShell): unknown {
  return JSON.parse(out.text) as unknown;
}
