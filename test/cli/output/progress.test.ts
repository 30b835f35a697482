import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createProgress, lineStream, permanentLine } from '../../../src/cli/output/progress.ts';
import { Terminal } from './terminal.ts';
import { file, view } from './views.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open(isTerminal: boolean, terminal = new Terminal()) {
  terminal.isTTY = isTerminal;
  const progress = createProgress({ stderr: terminal.stream, env: {} });
  return { progress, terminal };
}

describe('on a terminal', () => {
  test('the region is redrawn in place', () => {
    const { progress, terminal } = open(true);
    progress.update(view([file(), file({ id: 'f2', name: 'b.mp4' })]));
    vi.advanceTimersByTime(200);
    progress.update(view([file({ sentBytes: 12e6 })]));
    expect(terminal.screen).toEqual([expect.stringMatching(/^clip\.mp4 .* 97%/), expect.stringContaining('3/12 done')]);
  });

  test('it is drawn at most ten times a second, and the last state is drawn', () => {
    const { progress, terminal } = open(true);
    const draws = vi.spyOn(terminal, 'write');
    for (let sent = 0; sent <= 1_000; sent += 1) {
      progress.update(view([file({ sentBytes: sent, sizeBytes: 1_000 })]));
      vi.advanceTimersByTime(1);
    }
    expect(draws.mock.calls.length).toBeLessThanOrEqual(11);
    vi.advanceTimersByTime(100);
    expect(terminal.screen[0]).toContain('100%');
  });

  test('a stalled upload is redrawn without news, and its rate falls', () => {
    const { progress, terminal } = open(true, new Terminal(120));
    progress.update(view([file({ sentBytes: 0 })]));
    vi.advanceTimersByTime(500);
    progress.update(view([file()]));
    expect(terminal.screen[0]).toContain('12 MB/s');
    vi.advanceTimersByTime(20_000);
    expect(terminal.screen[0]).toContain('0 B/s');
  });

  test('permanent lines stand above the region and send nothing but colours', () => {
    const { progress, terminal } = open(true);
    progress.line('before');
    progress.update(view([file()]));
    progress.line('\u{1B}[31merror\u{1B}[39m a\u{1B}[2J\nb\n');
    progress.line('x'.repeat(200));
    expect(terminal.screen).toEqual([
      'before',
      String.raw`error a\x1b[2J\nb`,
      'x'.repeat(80),
      'x'.repeat(80),
      'x'.repeat(40),
      expect.stringMatching(/^clip\.mp4/),
      expect.stringContaining('3/12 done'),
    ]);
  });

  test('a terminal made narrower, wider and narrower again shows one region', () => {
    const { progress, terminal } = open(true, new Terminal(120));
    progress.line('stays');
    progress.update(
      view([
        file(),
        file({ id: 'f2', stage: 'processing', isRetrying: true, why: 'the service answered 503 '.repeat(4) }),
      ]),
    );
    for (const columns of [50, 140, 30, 90]) {
      terminal.resize(columns);
      expect(terminal.screen[0]).toBe('stays');
      expect(terminal.screen).toHaveLength(4);
    }
  });

  test('finish leaves the last state standing and releases everything', () => {
    const { progress, terminal } = open(true);
    progress.update(view([file({ sentBytes: 1 })]));
    progress.update(view([file({ stage: 'done' })], { totals: { ...view([]).totals, done: 12 } }));
    progress.finish();
    progress.finish();
    progress.update(view([file()]));
    progress.line('late');
    expect(terminal.screen).toEqual([expect.stringContaining('12/12 done'), 'late']);
    expect(terminal.listenerCount('resize')).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('colours are used, but not with NO_COLOR', () => {
    for (const [env, isColoured] of [
      [{}, true],
      [{ NO_COLOR: '1' }, false],
    ] as const) {
      const terminal = new Terminal();
      createProgress({ stderr: terminal.stream, env }).update(view([file()]));
      expect(terminal.raw.includes('\u{1B}[36m')).toBe(isColoured);
    }
  });

  test.each([
    [{ TERM: 'dumb' }, 80],
    [{}, 0],
  ])('one that cannot redraw (%j, %i columns) gets plain lines', (env, columns) => {
    const terminal = new Terminal(columns);
    createProgress({ stderr: terminal.stream, env }).update(view([]));
    expect(terminal.raw).not.toContain('\u{1B}');
  });

  test('a closed one loses its lines and nothing else', () => {
    const { progress, terminal } = open(true);
    progress.update(view([file()]));
    const drawn = terminal.raw;
    terminal.destroy();
    // What Node reports for a terminal that has gone; without a listener it would throw.
    expect(terminal.emit('error', new Error('EIO'))).toBe(true);
    progress.update(view([file({ sentBytes: 12e6 })]));
    vi.advanceTimersByTime(5_000);
    progress.line('x');
    progress.finish();
    expect(terminal.raw).toBe(drawn);
    expect(terminal.listenerCount('resize')).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('elsewhere', () => {
  test('each change of state is a line, with the time it took at the end', () => {
    const { progress, terminal } = open(false);
    terminal.columns = 1_000;
    progress.update(view([file({ stage: 'queued' })]));
    vi.advanceTimersByTime(1_000);
    for (const sentBytes of [0, 5, 9]) progress.update(view([file({ sentBytes })]));
    progress.line('\u{1B}[1mnote\u{1B}[22m\n');
    vi.advanceTimersByTime(2_200);
    progress.update(
      view([file({ stage: 'done' }), file({ id: 'f2', name: 'b\n.mp4', stage: 'held', why: 'no rule\nmatches' })]),
    );
    expect(terminal.screen).toEqual([
      'clip.mp4: queued',
      'clip.mp4: uploading (12.3 MB)',
      'note',
      'clip.mp4: done in 3.2 s',
      String.raw`b\n.mp4: held: no rule\nmatches`,
    ]);
  });

  test('the total comes at most every ten seconds and at the end, and not twice the same', () => {
    const { progress, terminal } = open(false, new Terminal(1_000));
    for (let second = 0; second <= 25; second += 1) {
      progress.update(view([], { totals: { ...view([]).totals, done: second } }));
      vi.advanceTimersByTime(1_000);
    }
    progress.finish();
    progress.finish();
    expect(terminal.screen.map((line) => /^total: (\d+)\/12 done, /.exec(line)?.[1])).toEqual(['10', '20', '25']);
  });

  test('a wait for the budget is reported', () => {
    const { progress, terminal } = open(false, new Terminal(1_000));
    const requests = { used: 1_000, limit: 1_000, waitingUntil: performance.now() + 180_000 };
    progress.update(view([], { requests }));
    progress.finish();
    expect(terminal.screen[0]).toContain('requests 1000/1000, next in 3 m');
  });
});

describe('one file alone', () => {
  const alone = (changes: Parameters<typeof file>[0] = {}) => ({
    files: [file(changes)],
    more: 0,
    totals: null,
    requests: null,
  });

  test('on a terminal has no total below it, and nothing is left when it has ended', () => {
    const { progress, terminal } = open(true);
    progress.update(alone());
    expect(terminal.screen).toEqual([expect.stringMatching(/^clip\.mp4 {2}uploading .* 48%/)]);
    progress.update(alone({ stage: 'done' }));
    progress.finish();
    terminal.write('what comes next');
    expect(terminal.screen).toEqual(['what comes next']);
  });

  test('elsewhere says every ten seconds how far it is', () => {
    const { progress, terminal } = open(false, new Terminal(1_000));
    for (let second = 0; second <= 12; second += 1) {
      progress.update(alone({ sentBytes: second * 1e6 }));
      vi.advanceTimersByTime(1_000);
    }
    progress.update(alone({ stage: 'processing', sentBytes: 12.3e6 }));
    progress.finish();
    expect(terminal.screen).toEqual([
      'clip.mp4: uploading (12.3 MB)',
      'clip.mp4: 81%, 10 MB / 12.3 MB, 1 MB/s, 2.3 s left',
      'clip.mp4: processing',
    ]);
  });
});

test('our own colours stay and end with the line, everything else is escaped', () => {
  expect(permanentLine('\u{1B}[31mred\u{1B}[2Jx\n')).toBe(`\u{1B}[31mred${String.raw`\x1b[2J`}x\u{1B}[0m`);
  expect(permanentLine('plain')).toBe('plain');
});

test('lines become permanent lines one by one, however they are split into writes', async () => {
  const lines: string[] = [];
  const stream = lineStream({ line: (text) => lines.push(text) });
  stream.write('one\ntw');
  stream.write(Buffer.from('o\n'));
  stream.write('rest');
  await new Promise<void>((resolve) => stream.end(resolve));
  expect(lines).toEqual(['one', 'two', 'rest']);
});
