import type { FileView } from '../../view/files/file-view.ts';
import { hasEnded } from '../../cli/output/progress-view.ts';
import type { FileProgress, ProgressView } from '../../cli/output/progress-view.ts';
import type { DemoFile, DemoMember } from './demo-member.ts';
import { formatDuration } from '../../cli/output/format.ts';

/** Progress of the demo's files, as reported by the members. */
export class FleetCourse {
  readonly #files: readonly DemoFile[];
  readonly #now = new Map<string, FileView>();
  /** Path -> members seen sending the file, in order. */
  readonly #senders = new Map<string, string[]>();
  /** Paths of files whose completion was displayed. */
  readonly #ended = new Set<string>();

  constructor(files: readonly DemoFile[]) {
    this.#files = files;
  }

  /**
   * Records a member's report. Each member knows most about its own work, so its view of another member's file counts
   * only if it names a new host.
   *
   * @param member the reporting member
   */
  hear(member: string, views: readonly FileView[]): void {
    for (const view of views) {
      const before = this.#now.get(view.path);
      const isOfOther = view.host !== null && view.host !== member && before?.host === view.host;
      if (!isOfOther) this.#now.set(view.path, view);
      if (view.state === 'uploading' && view.host === member) this.#sent(view.path, member);
    }
  }

  /** Returns the member that is sending a file from the share and has the most bytes left. */
  busySender(): { readonly member: string; readonly file: DemoFile } | null {
    const sending = this.#files
      .filter(({ name }) => name.startsWith('nas1/'))
      .flatMap((file) => {
        const view = this.#now.get(file.path);
        const member = this.senders(file).at(-1);
        return view?.state === 'uploading' && view.sent !== null && view.sent > 0 && member !== undefined
          ? [{ file, member, left: view.size - view.sent }]
          : [];
      });
    return sending.toSorted((one, other) => other.left - one.left)[0] ?? null;
  }

  senders({ path }: DemoFile): readonly string[] {
    return this.#senders.get(path) ?? [];
  }

  /**
   * Returns the member that took over a dead member's file. An upload may finish between two checks, so the host in the
   * file's row counts as well.
   */
  heir(file: DemoFile, dead: string): string | null {
    const host = this.#now.get(file.path)?.host ?? null;
    const last = this.senders(file).at(-1) ?? host;
    if (last !== dead) return last;
    return host === dead ? null : host;
  }

  view({ path }: DemoFile): FileView | null {
    return this.#now.get(path) ?? null;
  }

  isOver(): boolean {
    return this.#files.every((file) => this.view(file)?.state === 'done');
  }

  /**
   * Returns one line per file and member: a file that another member takes over gets a new line. A file's completion is
   * reported once.
   */
  progress(): ProgressView {
    const files = this.#files.flatMap((file) => {
      const view = this.view(file);
      if (view === null) return [];
      const member = this.senders(file).at(-1) ?? view.host ?? '?';
      const shown: FileProgress = {
        id: `${file.path} ${member}`,
        name: `${member}: ${file.name}`,
        stage: view.stage,
        isRetrying: view.state === 'retrying',
        sentBytes: view.times.uploaded === null ? (view.sent ?? 0) : view.size,
        sizeBytes: view.size,
        why: view.why,
      };
      if (!hasEnded(shown)) return [shown];
      if (this.#ended.has(file.path)) return [];
      this.#ended.add(file.path);
      return [shown];
    });
    return { files, more: 0, totals: null, requests: null };
  }

  #sent(path: string, member: string): void {
    const known = this.#senders.get(path) ?? [];
    if (known.at(-1) !== member) this.#senders.set(path, [...known, member]);
  }
}

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
