import { expect, test } from 'vitest';
import { uploadFormsIn } from '../../src/host/upload-forms.ts';
import { MemoryStore } from '../pipeline/memory-store.ts';

const origin = (n: number): string => `https://${n}.up.example`;

/** Notes in memory, and a clock that the test sets. */
function setUp() {
  const notes = new MemoryStore();
  const errors: unknown[] = [];
  const time = { elapsed: 0 };
  const open = () => uploadFormsIn(notes, { elapsed: () => time.elapsed }, (error) => void errors.push(error));
  return { notes, errors, time, open };
}

const note = (notes: MemoryStore): Promise<unknown> => notes.note('upload forms');

test('what a host takes is known after a restart, until it is forgotten', async () => {
  const { notes, open } = setUp();
  const forms = open();
  forms.save(origin(1), { protocol: 'tus' });
  forms.save(origin(2), { withoutType: true });
  await expect
    .poll(() => note(notes))
    .toEqual({ [origin(1)]: { protocol: 'tus' }, [origin(2)]: { withoutType: true } });
  expect(await open().load(origin(1))).toEqual({ protocol: 'tus' });
  expect(await open().load(origin(3))).toBeNull();
  expect(await open().load('toString')).toBeNull();
  forms.save(origin(1), null);
  forms.save(origin(2), null);
  await expect.poll(() => note(notes)).toBeNull();
});

test('what another host of the fleet learns is known within ten seconds', async () => {
  const { notes, time, open } = setUp();
  const [here, there] = [open(), open()];
  expect(await here.load(origin(1))).toBeNull();
  there.save(origin(1), { protocol: 'tus' });
  await expect.poll(() => note(notes)).not.toBeNull();
  expect(await here.load(origin(1))).toBeNull();
  time.elapsed = 10_000;
  expect(await here.load(origin(1))).toEqual({ protocol: 'tus' });
});

test('the note keeps the last hundred hosts, and none with an endless name', async () => {
  const { notes, open } = setUp();
  const forms = open();
  forms.save(`https://${'x'.repeat(300)}`, { protocol: 'tus' });
  for (let n = 0; n < 250; n += 1) forms.save(origin(n), { protocol: 'tus' });
  // Learned again, so it is new.
  forms.save(origin(150), { withoutType: true });
  await expect.poll(async () => Object.keys((await note(notes)) ?? {}).at(-1)).toBe(origin(150));
  const kept = Object.keys((await note(notes)) ?? {});
  expect(kept).toHaveLength(100);
  expect(kept[0]).toBe(origin(151));
});

test.each([7, 'tus', [], null])('a note that is %o is empty', async (damaged) => {
  const { notes, open } = setUp();
  notes.note = async () => damaged;
  expect(await open().load(origin(1))).toBeNull();
});

test('a ledger that fails is reported, and the next form is saved', async () => {
  const { notes, errors, open } = setUp();
  const { saveNote } = notes;
  notes.saveNote = async () => {
    notes.saveNote = saveNote;
    throw new Error('the disk is full');
  };
  const forms = open();
  forms.save(origin(1), { protocol: 'tus' });
  forms.save(origin(2), { protocol: 'tus' });
  await expect.poll(() => note(notes)).toEqual({ [origin(2)]: { protocol: 'tus' } });
  expect(errors).toEqual([new Error('the disk is full')]);
});
