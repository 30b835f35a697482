import { describe, expect, test, vi } from 'vitest';
import { channelChanges, updateChannel } from '../../../src/cli/api/channels.ts';
import { createVideo, importVideo, updateVideo, videoChanges } from '../../../src/cli/api/videos.ts';
import { fakeSession, fakeShell, printedJson } from './fake-shell.ts';

const created = { id: 'vid_1', status: 'pending', uploadUrl: 'https://up.example.com/1?signature=geheim' };

describe('videos create', () => {
  test('prints id and upload address on stdout, and the warning on stderr without the address', async () => {
    const shell = fakeShell();
    const create = vi.fn(() => Promise.resolve(created));
    await createVideo(fakeSession(shell, { videos: { create } }), { title: 'A', channel: 'ch_1', tag: ['x', 'y'] });
    expect(shell.out.text).toBe(
      'id              vid_1\nstatus          pending\nupload address  https://up.example.com/1?signature=geheim\n',
    );
    expect(shell.err.text).toMatch(/secret/);
    expect(shell.err.text).not.toContain('geheim');
    expect(create).toHaveBeenCalledWith({ title: 'A', channelId: 'ch_1', tags: ['x', 'y'] }, expect.anything());
  });

  test('json', async () => {
    const shell = fakeShell();
    const session = fakeSession(shell, { videos: { create: () => Promise.resolve(created) } });
    await createVideo(session, { title: 'A', json: true });
    expect(printedJson(shell)).toEqual({ v: 1, id: 'vid_1', status: 'pending', upload_url: created.uploadUrl });
    expect(shell.err.text).toBe('');
  });

  test('prints the headers that the upload address needs', async () => {
    const [person, program] = [fakeShell(), fakeShell()];
    const needy = { ...created, uploadHeaders: { 'x-token': 't1', 'content-type': 'video/mp4' } };
    const videos = { create: () => Promise.resolve(needy) };
    await createVideo(fakeSession(person, { videos }), { title: 'A' });
    await createVideo(fakeSession(program, { videos }), { title: 'A', json: true });
    expect(person.out.text).toMatch(/\nheader +x-token: t1\nheader +content-type: video\/mp4\n$/);
    expect(person.err.text).toContain('with an HTTP PUT that has these headers.');
    expect(printedJson(program)).toMatchObject({ upload_headers: needy.uploadHeaders });
  });
});

describe('videos import', () => {
  test('prints the address on request, and otherwise keeps the upload address to itself', async () => {
    const [person, program] = [fakeShell(), fakeShell()];
    const videos = { import: vi.fn(() => Promise.resolve(created)) };
    await importVideo(fakeSession(person, { videos }), { title: 'A' }, 'https://example.com/a.mp4');
    await importVideo(fakeSession(program, { videos }), { title: 'A', json: true }, 'https://example.com/a.mp4');
    expect(person.out.text).toBe('id      vid_1\nstatus  pending\n');
    expect(printedJson(program)).toEqual({ v: 1, id: 'vid_1', status: 'pending' });
    expect(videos.import.mock.calls[0]?.slice(0, 2)).toEqual(['https://example.com/a.mp4', { title: 'A' }]);
  });

  test.each(['clip.mp4', '', 'file:///etc/passwd', 'ftp://example.com/a', 'https://'])(
    '%j is not an address to import from',
    async (url) => {
      const done = importVideo(fakeSession(fakeShell(), {}), { title: 'A' }, url);
      await expect(done).rejects.toMatchObject({ exitCode: 2 });
    },
  );
});

describe('videos update', () => {
  test.each([
    [{ tags: true, title: 'A' }, { title: 'A' }],
    [{ tags: true, description: '' }, { description: '' }],
    [{ tags: true, tag: ['x'] }, { tags: ['x'] }],
    [{ tags: false }, { tags: [] }],
  ])('%j asks for %j', (options, changes) => {
    expect(videoChanges(options)).toEqual(changes);
  });

  test('without any change is wrong usage', () => {
    expect(() => videoChanges({ tags: true })).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  test('shows the video as it is now, or only that it was changed', async () => {
    const [silent, telling, json] = [fakeShell(), fakeShell(), fakeShell()];
    const update = (video: object | null) => ({ videos: { update: () => Promise.resolve(video as never) } });
    const video = { id: 'vid_1', status: 'ready', title: 'New' };
    const change = updateVideo({ title: 'New', tags: true });
    await change(fakeSession(silent, update(null)), {}, 'vid_1');
    await change(fakeSession(telling, update(video)), {}, 'vid_1');
    await change(fakeSession(json, update(null)), { json: true }, 'vid_1');
    expect(silent.out.text).toBe('Changed vid_1.\n');
    expect(telling.out.text).toBe('id      vid_1\ntitle   New\nstatus  ready\n');
    expect(printedJson(json)).toEqual({ v: 1, id: 'vid_1', video: null });
  });
});

describe('channels update', () => {
  test('takes name, description and player settings', async () => {
    const options = { name: 'News', description: '', playerSettings: ' {"autoplay": true} ' };
    expect(await channelChanges(fakeShell(), options)).toEqual({
      name: 'News',
      description: '',
      defaultPlayerSettings: { autoplay: true },
    });
    await expect(channelChanges(fakeShell(), {})).rejects.toMatchObject({ exitCode: 2 });
  });

  test.each(['[]', 'null', '1', '"x"', '{', '', '{"a":1}}', '\u{1B}[2J'])(
    'player settings %j are refused',
    async (text) => {
      const wrong = await channelChanges(fakeShell(), { playerSettings: text }).catch((error: unknown) => error);
      expect(wrong).toMatchObject({ exitCode: 2, message: expect.stringMatching(/^--player-settings [^\p{Cc}]+$/u) });
    },
  );

  test('shows the channel as it is now', async () => {
    const shell = fakeShell();
    const channel = { id: 'ch_1', name: 'News', videoCount: 3, defaultPlayerSettings: { autoplay: true } };
    const session = fakeSession(shell, { channels: { update: () => Promise.resolve(channel) } });
    const change = await updateChannel(shell, { name: 'News' });
    await change(session, {}, 'ch_1');
    expect(shell.out.text).toBe(
      'id               ch_1\nname             News\nvideos           3\nplayer settings  {"autoplay":true}\n',
    );
  });
});
