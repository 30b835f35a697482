import { startVirtualTime } from './virtual-time.ts';

// A process of its own, because it replaces the clock of everything that it loads: three-days.integration.test.ts starts it.

/** The first argument of this process, as JSON. */
export interface Order {
  readonly place: string;
  readonly ports: { readonly service: number; readonly messages: number };
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

const order = JSON.parse(process.argv[2] ?? '') as Order;
const time = startVirtualTime(order.now);
const { Desk } = await import('./desk.ts');
const { momentOf } = await import('./step.ts');
const { steps } = await import('./three-days.ts');

const desk = new Desk(order.place, order.ports, time);
await desk.start();
for (const [step, { sees, does, ...when }] of steps.entries()) {
  if (step < order.from) continue;
  await time.pass({ moment: momentOf(when) });
  desk.forget();
  const missed: string[] = [];
  const done = await Promise.try(() => (typeof does === 'string' ? desk.dropcast(...wordsOf(does)) : does(desk))).catch(
    (error: unknown) => void missed.push(`it threw: ${String(error)}`),
  );
  const answer = typeof does === 'string' ? (done as Report['answer']) : null;
  for (const sight of sees) {
    if (sight instanceof RegExp) {
      if (!sight.test(`${answer?.out}${answer?.err}`)) missed.push(`${sight} in the answer`);
      continue;
    }
    const [what, holds, minutes = 0] = sight;
    await desk.until(what, () => holds(desk), minutes).catch((error: unknown) => missed.push(String(error)));
  }
  const report: Report = { step, now: time.now(), answer, missed };
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(report)}\n`, resolve));
  if (done === 'kill -9') process.kill(process.pid, 'SIGKILL');
  if (done === 'SIGTERM') process.exit((await desk.stop()).code);
}
await desk.stop();
process.exit();

/** As a shell without quotes in quotes splits it. */
function wordsOf(line: string): readonly string[] {
  return [...line.replace(/^dropcast /, '').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
}
