import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type { AfterReady } from '../../../src/config/config.ts';
import { versionOf } from '../../../src/pipeline/file/file-version.ts';
import { someFacts, somePlan } from '../../pipeline/some-facts.ts';
import { scratchDirectory } from '../../support/scratch-directory.ts';
import { atEachMoment, killedAtEachCall, moments, systemError } from './moments.ts';
import { filesOfQuietFolders } from '../quiet-folder.ts';

vi.mock('node:fs/promises', async (original) => {
  const { observed } = await import('./moments.ts');
  return observed(await original());
});

const { signal } = new AbortController();
const hashOf = (content: string): string => createHash('sha256').update(content).digest('hex');
const move: AfterReady = { kind: 'move', to: 'done' };

interface Pair {
  readonly afterReady?: AfterReady;
  readonly name?: string;
  readonly sidecar?: string;
  readonly proofs?: readonly string[];
  readonly isUsed?: boolean;
}

async function videoWithSidecar({
  name = 'clip.mp4',
  afterReady = move,
  sidecar = 'clip.yaml',
  proofs = [],
  isUsed = false,
}: Pair = {}) {
  const scratch = await scratchDirectory();
  mkdirSync(scratch.file('done'));
  writeFileSync(scratch.file(name), 'sent');
  writeFileSync(scratch.file(sidecar), 'title: Mine');
  for (const proof of proofs) writeFileSync(scratch.file(proof), '');
  const facts = someFacts({
    folder: scratch.path,
    path: name,
    version: versionOf(lstatSync(scratch.file(name), { bigint: true })),
    sha256: hashOf('sent'),
    afterReady,
    plan: {
      ...somePlan,
      sidecar: { path: sidecar, sha256: hashOf('title: Mine') },
      proofs: proofs.map((path) => ({ path, sha256: hashOf('') })),
    },
  });
  const asked: unknown[] = [];
  const local = filesOfQuietFolders({
    isSidecarUsed: async (...question) => (asked.push(question), isUsed),
  });
  return {
    scratch,
    asked,
    put: () => local.dispose(facts, signal, true),
    inFolder: () => readdirSync(scratch.path).toSorted(),
    inDone: () => readdirSync(scratch.file('done')).toSorted(),
    [Symbol.asyncDispose]: () => scratch[Symbol.asyncDispose](),
  };
}

describe('a sidecar goes with its video', () => {
  test.each([
    ['clip.yaml', 'clip (2).yaml'],
    ['clip.json', 'clip (2).json'],
    ['clip.mp4.json', 'clip (2).mp4.json'],
  ])('%s: next to it, named after its new name, when it is moved', async (sidecar, newName) => {
    await using there = await videoWithSidecar({ sidecar });
    writeFileSync(there.scratch.file('done/clip.mp4'), 'older');
    expect(await there.put()).toMatchObject({ ok: true, value: { path: 'done/clip (2).mp4' } });
    expect(there.inFolder()).toEqual(['done']);
    expect(there.inDone()).toEqual(['clip (2).mp4', newName, 'clip.mp4'].toSorted());
    expect(there.asked).toEqual([[there.scratch.path, sidecar]]);
  });

  test.each([
    ['clip.mp4.done', 'clip (2).mp4.done'],
    ['clip.done', 'clip (2).done'],
    ['READY_clip', 'READY_clip (2)'],
  ])('so does what proved it complete, %s', async (proof, newName) => {
    await using there = await videoWithSidecar({ proofs: [proof] });
    writeFileSync(there.scratch.file('done/clip.mp4'), 'older');
    await there.put();
    expect(there.inFolder()).toEqual(['done']);
    expect(there.inDone()).toEqual(['clip (2).mp4', 'clip (2).yaml', newName, 'clip.mp4'].toSorted());
  });

  test('and what proved it complete, when both are deleted; not what is there instead of it', async () => {
    await using there = await videoWithSidecar({ afterReady: { kind: 'delete' }, proofs: ['clip.done', 'clip.md5'] });
    writeFileSync(there.scratch.file('clip.md5'), 'of the next video');
    await there.put();
    expect(there.inFolder()).toEqual(['clip.md5', 'done']);
  });

  test('away, when it is deleted', async () => {
    await using there = await videoWithSidecar({ afterReady: { kind: 'delete' } });
    expect(await there.put()).toEqual({ ok: true, value: null });
    expect(there.inFolder()).toEqual(['done']);
  });

  test('and overwrites no other sidecar', async () => {
    await using there = await videoWithSidecar();
    writeFileSync(there.scratch.file('done/clip.yaml'), 'title: Older');
    await there.put();
    expect(there.inDone()).toEqual(['clip (2).yaml', 'clip.mp4', 'clip.yaml']);
    expect(readFileSync(there.scratch.file('done/clip.yaml'), 'utf8')).toBe('title: Older');
  });

  test('also when a person has deleted the video', async () => {
    await using there = await videoWithSidecar({ afterReady: { kind: 'delete' } });
    rmSync(there.scratch.file('clip.mp4'));
    expect(await there.put()).toMatchObject({ ok: false, failure: { kind: 'vanished' } });
    expect(there.inFolder()).toEqual(['done']);
  });

  test('later, when that fails at first', async () => {
    await using there = await videoWithSidecar();
    moments.before = (name, [from]) => {
      if (name === 'rename' && String(from).endsWith('.yaml')) throw systemError('EACCES', name);
    };
    expect(await there.put()).toMatchObject({ ok: false, failure: { kind: 'transient', code: 'EACCES' } });
    moments.reset();
    expect(there.inFolder()).toEqual(['clip.yaml', 'done']);
    expect(await there.put()).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
    expect([there.inFolder(), there.inDone()]).toEqual([['done'], ['clip.mp4', 'clip.yaml']]);
  });

  test.each([move, { kind: 'delete' } as const])('%j: after a kill at any moment, once', async (afterReady) => {
    const kills = await killedAtEachCall(async (begin, restart) => {
      await using there = await videoWithSidecar({ afterReady });
      begin();
      await there.put();
      restart();
      await there.put();
      expect(there.inFolder()).toEqual(['done']);
      expect(there.inDone()).toEqual(afterReady.kind === 'delete' ? [] : ['clip.mp4', 'clip.yaml']);
    });
    expect(kills).toBeGreaterThan(20);
  });
});

describe('a sidecar stays', () => {
  test('while another video has it', async () => {
    await using there = await videoWithSidecar({ isUsed: true });
    expect(await there.put()).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
    expect(there.inFolder()).toEqual(['clip.yaml', 'done']);
  });

  test('when it is no longer what was applied', async () => {
    await using there = await videoWithSidecar();
    writeFileSync(there.scratch.file('clip.yaml'), 'title: Next');
    expect(await there.put()).toMatchObject({ ok: true, value: { path: 'done/clip.mp4' } });
    expect(there.inFolder()).toEqual(['clip.yaml', 'done']);
    expect(readFileSync(there.scratch.file('clip.yaml'), 'utf8')).toBe('title: Next');
  });

  test.each([move, { kind: 'delete' } as const])('%j: when it is replaced at any moment', async (afterReady) => {
    await atEachMoment(async (meddleAt) => {
      await using there = await videoWithSidecar({ afterReady });
      let isThere = false;
      meddleAt(() => {
        writeFileSync(there.scratch.file('.next'), 'title: Next');
        renameSync(there.scratch.file('.next'), there.scratch.file('clip.yaml'));
        isThere = true;
      });
      await there.put();
      const left = there.inFolder().filter((name) => name.endsWith('.yaml'));
      expect(left).toEqual(isThere ? ['clip.yaml'] : []);
    });
  });
});

test('a sidecar whose new name would be too long goes under a shorter one', async () => {
  const stem = 'a'.repeat(246);
  await using there = await videoWithSidecar({ name: `${stem}.mp4`, sidecar: `${stem}.mp4.yaml` });
  writeFileSync(there.scratch.file(`done/${stem}.mp4`), 'older');
  expect(await there.put()).toMatchObject({ ok: true, value: { path: `done/${stem} (2).mp4` } });
  expect(there.inFolder()).toEqual(['done']);
  expect(there.inDone()).toContain(`${stem} (2).yaml`);
});
