import { createInterface } from 'node:readline';
import type { Ports } from './desk-config.ts';
import { startVirtualTime } from './virtual-time.ts';

// A process of its own, because it replaces the clock of everything that it loads: played.ts starts it.

/** The first argument of this process, as JSON. */
export interface Order {
  readonly place: string;
  readonly ports: Ports;
  /** Index of the first step. */
  readonly from: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The result of a step, printed as one line of JSON. */
export interface Report {
  readonly step: number;
  /** Epoch milliseconds when it was over. */
  readonly now: number;
  readonly answer: { readonly code: number; readonly out: string; readonly err: string } | null;
  /** Expected sights that were missing. */
  readonly missed: readonly string[];
}

/** Asks the process that started this one to do a step on the page. It writes a line when the step is done. */
export interface OnPage {
  readonly step: number;
  /** Opens the page. */
  readonly link: string;
}

const order = JSON.parse(process.argv[2] ?? '') as Order;
const time = startVirtualTime(order.now);
const { Desk } = await import('./desk.ts');
const { momentOf } = await import('./step.ts');
const { steps } = await import('./three-days.ts');
const { pageDeeds } = await import('./page-deeds.ts');
const lines = createInterface({ input: process.stdin });
/** Slow enough for a person: a link to the page works for five minutes. */
const handMs = 2;

const desk = new Desk(order.place, order.ports, time);
await desk.start();
for (const [step, { sees, does, job = '', ...when }] of steps.entries()) {
  if (step < order.from) continue;
  await time.pass({ moment: momentOf(when) });
  desk.forget();
  const missed: string[] = [];
  const isOnPage = order.ports.page !== null && Object.hasOwn(pageDeeds, job);
  const act = (): Promise<unknown> => {
    if (isOnPage) return onPage(step);
    return typeof does === 'string' ? desk.dropcast(...wordsOf(does)) : does(desk);
  };
  const done = await Promise.try(act).catch((error: unknown) => void missed.push(`it threw: ${String(error)}`));
  const answer = typeof does === 'string' && !isOnPage ? (done as Report['answer']) : null;
  for (const sight of sees) {
    if (sight instanceof RegExp) {
      if (!isOnPage && !sight.test(`${answer?.out}${answer?.err}`)) missed.push(`${sight} in the answer`);
      continue;
    }
    const [what, holds, minutes = 0] = sight;
    await desk.until(what, () => holds(desk), minutes).catch((error: unknown) => missed.push(String(error)));
  }
  await say({ step, now: time.now(), answer, missed });
  if (done === 'kill -9') process.kill(process.pid, 'SIGKILL');
  if (done === 'SIGTERM') process.exit((await desk.stop()).code);
}
await desk.stop();
process.exit();

async function onPage(step: number): Promise<void> {
  const { out } = await desk.dropcast('open', '--print');
  await say({ step, link: out.trim() });
  await desk.during(new Promise((resolve) => lines.once('line', resolve)), handMs);
}

async function say(what: Report | OnPage): Promise<void> {
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(what)}\n`, resolve));
}

/** As a shell without quotes in quotes splits it. */
function wordsOf(line: string): readonly string[] {
  return [...line.replace(/^dropcast /, '').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}
