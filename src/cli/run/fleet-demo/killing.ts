import { formatDuration } from '../../output/format.ts';
import type { DemoFile } from './demo-files.ts';
import type { DemoMember } from './demo-member.ts';
import type { FleetCourse } from './fleet-course.ts';

/** One member is killed while it sends a file of the share, and started again once another has taken that file over. */
export class Killing {
  readonly #members: readonly DemoMember[];
  readonly #say: (line: string) => void;
  #victim: { readonly member: DemoMember; readonly file: DemoFile; readonly at: number } | null = null;
  #isBack = false;

  constructor(members: readonly DemoMember[], say: (line: string) => void) {
    this.#members = members;
    this.#say = say;
  }

  /** Whether nobody is dead. */
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
    this.#victim = { member, file: busy.file, at: performance.now() };
    this.#say(`${member.name} is killed while it uploads ${busy.file.name}`);
  }

  async #revive(course: FleetCourse): Promise<void> {
    if (this.#victim === null) return;
    const { member, file, at } = this.#victim;
    const heir = course.senders(file).at(-1);
    if (heir === undefined || heir === member.name) return;
    this.#say(`${heir} has taken over ${file.name}, ${formatDuration(performance.now() - at)} after the kill`);
    this.#say(`${member.name} is started again`);
    this.#isBack = true;
    await member.start();
  }
}
