import { describe, expect, test, vi } from 'vitest';
import { deleteVideo } from '../../../src/cli/api/videos.ts';
import { fakeSession, fakeShell, printedJson } from './fake-shell.ts';
import { until } from '../../support/until.ts';

const video = { id: 'vid_1', title: 'News\u{1B}[2J\nof today', status: 'ready' };

/** Deletes on a terminal where a person types this. */
async function answer(typed: string | null) {
  const shell = fakeShell({ isTerminal: true });
  const remove = vi.fn(() => Promise.resolve());
  const session = fakeSession(shell, { videos: { get: () => Promise.resolve(video), delete: remove } });
  const done = deleteVideo(session, {}, 'vid_1');
  if (typed === null) shell.keyboard.end();
  else shell.keyboard.write(typed);
  const end = await done.then(
    () => null,
    (error: unknown) => error,
  );
  return { shell, remove, end };
}

describe('on a terminal', () => {
  test('the question shows the title made safe, and warns that deletion is final', async () => {
    const { shell } = await answer('y\n');
    expect(shell.err.text).toContain(String.raw`vid_1 "News\x1b[2J\nof today" (ready)`);
    expect(shell.err.text).toMatch(/cannot be undone\. \[y\/N\] $/);
    expect(shell.out.text).toBe('Deleted vid_1.\n');
  });

  test.each(['y\n', 'Y\n', ' yes \n', 'YES\r\n'])('%j deletes', async (typed) => {
    expect((await answer(typed)).remove).toHaveBeenCalledWith('vid_1', expect.anything());
  });

  test.each(['\n', 'n\n', 'no\n', 'yess\n', 'maybe y\n', null])('%j deletes nothing and fails', async (typed) => {
    const { remove, end, shell } = await answer(typed);
    expect(remove).not.toHaveBeenCalled();
    expect(end).toMatchObject({ message: 'nothing was deleted', exitCode: 1 });
    expect(shell.out.text).toBe('');
  });

  test('Ctrl-C at the question deletes nothing', async () => {
    const shell = fakeShell({ isTerminal: true });
    const session = fakeSession(shell, { videos: { get: () => Promise.resolve(video) } });
    const done = deleteVideo(session, {}, 'vid_1');
    await until('it asks', () => shell.err.text.includes('[y/N]'));
    shell.stop();
    await expect(done).rejects.toMatchObject({ message: 'nothing was deleted' });
  });

  test('stdin is released, so that the process can end', async () => {
    const { shell } = await answer('y\n');
    expect(shell.keyboard.isPaused()).toBe(true);
    expect(shell.keyboard.listenerCount('data')).toBe(0);
  });
});

describe('without one', () => {
  test('without --yes nothing is deleted and there is no prompt', async () => {
    const done = deleteVideo(fakeSession(fakeShell(), {}), {}, 'vid_1');
    await expect(done).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('--yes') });
  });

  test('--yes deletes with one request and says so', async () => {
    const shell = fakeShell();
    const remove = vi.fn(() => Promise.resolve());
    await deleteVideo(fakeSession(shell, { videos: { delete: remove } }), { yes: true, json: true }, 'vid_1');
    expect(remove).toHaveBeenCalledTimes(1);
    expect(printedJson(shell)).toEqual({ v: 1, id: 'vid_1', deleted: true });
  });
});
