import { formatDuration } from '../../cli/output/format.ts';
import type { DemoFile } from './demo-files.ts';
import type { DemoMember } from './demo-member.ts';
import type { FleetCourse } from './fleet-course.ts';

/**
 * How long the victim stays down if no member takes over, in milliseconds. Takeover normally happens 10 to 15 s after
 * the kill. Only the victim can read its own card, so it is restarted in any case.
 */
const deadForMs = 30_000;

/**
 * Kills one member while it is sending a file from the share. Restarts it once another member has taken over that file,
 * or after 30 s.
 */
export class Killing {
  readonly #members: readonly DemoMember[];
  readonly #say: (line: string) => void;
  readonly #now: () => number;
  #victim: { readonly member: DemoMember; readonly file: DemoFile; readonly at: number } | null = null;
  #isBack = false;

  /** @param now monotonic milliseconds */
  constructor(members: readonly DemoMember[], say: (line: string) => void, now = (): number => performance.now()) {
    this.#members = members;
    this.#say = say;
    this.#now = now;
  }

  /** Whether no member is currently dead. */
  get isOver(): boolean {
    return this.#victim === null || this.#isBack;
  }

  async look(course: FleetCourse): Promise<void> {
    if (this.#victim === null) this.#kill(course);
    else if (!this.#isBack) await this.#revive(course);
  }

  #kill(course: FleetCourse): void {
    const busy = course.busySender();
    const member = this.#members.find(({ name }) => name === busy?.member);
    if (busy === null || member === undefined) return;
    member.kill();
    this.#victim = { member, file: busy.file, at: this.#now() };
    this.#say(`${member.name} is killed while it uploads ${busy.file.name}`);
  }

  async #revive(course: FleetCourse): Promise<void> {
    if (this.#victim === null) return;
    const { member, file, at } = this.#victim;
    const heir = course.heir(file, member.name);
    const deadMs = this.#now() - at;
    if (heir === null && deadMs < deadForMs) return;
    if (heir !== null) this.#say(`${heir} has taken over ${file.name}, ${formatDuration(deadMs)} after the kill`);
    this.#say(`${member.name} is started again`);
    this.#isBack = true;
    await member.start();
  }
}
