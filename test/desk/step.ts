import type { Desk } from './desk.ts';

/** A deed at the desk, and what its author then sees. */
export interface Step {
  readonly day: 1 | 2 | 3;
  readonly time: `${number}:${number}`;
  readonly who: string;
  /** A command, or something that happens. It returns how the daemon ends, if it does. */
  readonly does: string | ((desk: Desk) => Promise<unknown>);
  readonly sees: readonly Sight[];
  /** The daily job that this one command does: docs/desk.md. */
  readonly job?: string;
}

/** Text in the answer of the command, or something that holds within some minutes (0: at once). */
export type Sight =
  | RegExp
  | readonly [what: string, holds: (desk: Desk) => Promise<boolean> | boolean, minutes?: number];

/** Monday 2026-11-30 to Wednesday, in UTC. Epoch milliseconds. */
export function momentOf({ day, time }: Pick<Step, 'day' | 'time'>): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return Date.UTC(2026, 10, 29 + day, hour, minute);
}

/** The name of a step as a test. */
export function nameOf({ day, time, who, does }: Step): string {
  return `day ${day}, ${time}, ${who}: ${typeof does === 'string' ? does : 'something happens'}`;
}

/** So many files of a folder are in this state, with this text in their path. */
export function counted(count: number, state: string, text = ''): Sight {
  const words = ['ls', '--limit', '1000', '--state', state, ...(text === '' ? [] : ['-q', text])];
  const holds = async (desk: Desk): Promise<boolean> =>
    (await desk.json<{ files: readonly unknown[] }>(...words)).files.length === count;
  return [`${count} files ${text} are ${state}`, holds, 60];
}

/** Petra gets a message with this text, after the step began. */
export function told(event: string, text: RegExp, minutes = 15): Sight {
  return toldTo('petra', event, text, minutes);
}

export function toldTo(to: 'petra' | 'anna' | 'ben', event: string, text: RegExp, minutes = 15): Sight {
  const isIt = (desk: Desk): boolean =>
    desk
      .newMessages()
      .some(
        (message) => message.to === to && message.event === event && text.test(`${message.title}\n${message.body}`),
      );
  return [`${to} gets a message ${event} with ${text}`, isIt, minutes];
}

/** The folder is in this state. */
export function folderIs(name: string, state: string): Sight {
  const holds = async (desk: Desk): Promise<boolean> => {
    const { folders } = await desk.json<{ folders: readonly { path: string; state: string }[] }>('status');
    return folders.some((folder) => folder.path === desk.file(name) && folder.state === state);
  };
  return [`${name} is ${state}`, holds, 15];
}

/** Numbers from 1, with two digits. */
export function numbers(count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => String(n + 1).padStart(2, '0'));
}
