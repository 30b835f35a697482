import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Facts } from '../../src/pipeline/file/facts.ts';
import { created, failure, ready, someFacts, somePlan, someVersion } from '../pipeline/some-facts.ts';
import type { OpenedRows } from './opened-rows.ts';

/** Names as long as Linux takes them: 255 bytes each, 4,096 bytes in all. An index of PostgreSQL takes less. */
export function longNamesContract(open: () => Promise<OpenedRows>): void {
  describe.each([
    ['Latin', (n: number) => String.fromCodePoint(48 + (n % 75))],
    ['of letters that take four bytes', (n: number) => String.fromCodePoint(0x1_f3_00 + n)],
  ])('names %s', (_name, letter) => {
    const long = (bytes: number, seed: string): string => longName(bytes, seed, letter);
    describe.each([3, 255, 995, 1_000, 1_001, 2_800, 4_096])('of %i bytes', (bytes) => {
      test('are found by all that finds a file', async () => {
        await using opened = await open();
        const { rows } = opened;
        for (const folder of ['/inbox', `/${long(bytes, 'folder')}`]) {
          const path = `${long(bytes, 'path')}z.mp4`;
          const twins = [path, `${path}.part`, `${path.slice(0, -4)}.mov`, `${path.slice(0, -5)}_.mov`];
          const files = twins.map((each, n) => fileAt(folder, each, `${folder.length}_${n}`));
          for (const facts of files) await rows.insert(facts);
          for (const facts of files) {
            expect(await rows.atPath(folder, facts.path)).toEqual(facts);
            if (`${folder}/${facts.path}`.length <= 4_096)
              expect(await rows.find(`${folder}/${facts.path}`)).toEqual([facts]);
          }
          expect(await rows.pathsNamed(folder, path.slice(0, -4))).toEqual(expect.arrayContaining(twins.slice(0, 3)));
          expect(await rows.pathsNamed(folder, path.slice(0, -4))).toHaveLength(3);
          expect(await rows.pathsNamed(folder, path.slice(0, -5))).toEqual([]);
          const known: string[] = [];
          await rows.known(folder, (file) => known.push(file.path));
          expect(known.toSorted(byText)).toEqual(twins.toSorted(byText));
          expect(await rows.roots.expected(folder, [...twins, 'another'], 'all')).toBe(4);
        }
      });

      test('have queues, causes and full disks of their own', async () => {
        await using opened = await open();
        const { rows } = opened;
        const folders = [`/${long(bytes, 'folder')}`, `/${long(bytes, 'folder')}2`];
        const later = { kind: 'delete', later: { afterMs: 5, whenFull: 90 } } as const;
        for (const [n, folder] of folders.entries()) {
          const channel = long(bytes, 'channel');
          await rows.insert(fileAt(folder, 'a.mp4', `q${n}`, { plan: { ...somePlan, channel } }));
          await rows.insert(
            fileAt(folder, 'b.mp4', `f${n}`, {
              end: 'failed',
              endedAt: 1,
              lastFailure: failure('permanent', { code: 'bad' }),
            }),
          );
          await rows.insert(
            fileAt(folder, 'c.mp4', `h${n}`, {
              plan: { ...somePlan, channel },
              notBefore: 5,
              lastFailure: failure('permanent', { code: 'unknown_channel' }),
            }),
          );
          await rows.insert(
            fileAt(folder, 'd.mp4', `l${n}`, {
              ...ready,
              end: 'done',
              endedAt: 1,
              disposal: 'later',
              afterReady: later,
            }),
          );
        }
        expect((await rows.heads('queued', 2, [])).map(({ id, folder }) => [id, folder])).toEqual([
          ['q0', folders[0]],
          ['q1', folders[1]],
        ]);
        expect((await rows.lines([])).map(({ folder, files }) => [folder, files]).toSorted(byText)).toEqual(
          folders.map((folder) => [folder, 1]).toSorted(byText),
        );
        const { causes } = await rows.snapshot({ held: () => [], working: 5, needing: 5 });
        expect(causes.map(({ files, examples }) => [files, examples.map(({ id }) => id).toSorted(byText)])).toEqual([
          [2, ['f0', 'f1']],
          [2, ['h0', 'h1']],
        ]);
        for (const { cause } of causes) expect(await rows.count({ cause })).toBe(2);
        const marks = await rows.fullMarks(folders);
        expect(marks.map(({ folder, whenFull }) => [folder, whenFull]).toSorted(byText)).toEqual(
          folders.map((folder) => [folder, 90]).toSorted(byText),
        );
        for (const mark of marks)
          expect(
            (await rows.rows({ group: 'crowding', mark, limit: 5 })).map(({ folder, id }) => [folder, id[0]]),
          ).toEqual([[mark.folder, 'l']]);
        expect(await rows.rows({ group: 'expired', now: 9, folders, limit: 5 })).toHaveLength(2);
      });

      test('are kept of folders, pauses, expectations and videos', async () => {
        await using opened = await open();
        const { rows } = opened;
        const name = long(bytes, 'name');
        for (const folder of [`/${name}`, `/${name}2`]) {
          for (const askedNs of [1n, 2n]) {
            await rows.saveFirstStart(folder, { askedNs, beganNs: null, isOver: false });
            await rows.roots.save(folder, { at: Number(askedNs) });
            await rows.savePause({ folder, since: Number(askedNs), until: null, by: 'me' }, null);
          }
          expect(await rows.firstStart(folder)).toEqual({ askedNs: 2n, beganNs: null, isOver: false });
          expect(await rows.roots.load(folder)).toEqual({ at: 2 });
        }
        expect((await rows.pauses()).map(({ folder, since }) => [folder, since])).toEqual([
          [`/${name}`, 2],
          [`/${name}2`, 2],
        ]);
        await rows.dropPause(`/${name}`, null);
        expect(await rows.pauses()).toHaveLength(1);
        for (const at of [1, 2]) {
          await rows.noteDeletion(name, at);
          await rows.countFile(name, 'a', at);
          const video = { id: name, title: name, duration: at, status: 'ready' };
          await rows.addListed([video], { nextPage: 2, total: 1, isWhole: true });
          expect(await rows.listed()).toEqual([video]);
        }
        expect(await rows.countedFiles(name, 0)).toEqual(['a']);
        expect(await rows.deletionsSince(1, 1_000)).toBe(1);
        await rows.insert(fileAt('/inbox', 'a.mp4', 'v', { ...created, videoId: name }));
        expect(await rows.count({ videoId: name }, 1)).toBe(1);
        expect(await rows.listed()).toEqual([]);
      });
    });
  });
}

const fileAt = (folder: string, path: string, id: string, other: Partial<Facts> = {}): Facts =>
  someFacts({ id, folder, path, version: { ...someVersion, ino: id }, ...other });

/** Names of 255 bytes at most, that no compression makes shorter. */
function longName(bytes: number, seed: string, letter: (n: number) => string): string {
  const width = Buffer.byteLength(letter(0));
  let name = '';
  for (let length = 0, part = 0, n = 0; length < bytes; n += 1) {
    const isFull = part + width > 255 || length + width > bytes;
    const next = length + width > bytes ? 'x' : isFull ? '/' : letter(noise(seed, n));
    part = isFull && next === '/' ? 0 : part + Buffer.byteLength(next);
    length += Buffer.byteLength(next);
    name += next;
  }
  return name;
}

const byText = (one: unknown, other: unknown): number => (String(one) < String(other) ? -1 : 1);

function noise(seed: string, n: number): number {
  return createHash('sha256').update(`${seed} ${n}`).digest().readUInt8(0);
}
