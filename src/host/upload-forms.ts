import type { UploadForm, UploadFormStore } from '@dropcast/client';
import type { Clock, NoteStore } from '../pipeline/file/ports.ts';

const formsNote = 'upload forms';

/** Hosts in the note. The one that was learned first makes room: a service may use another host for each file. */
const mostHosts = 100;

/** Longest origin in the note, in UTF-16 units. A name has at most 253 (RFC 1035 section 2.3.4). */
const longestOrigin = 300;

/** How long a change that another host of the fleet made may go unnoticed. */
const readEveryMs = 10_000;

/**
 * Keeps how upload hosts take files as a note of the ledger, so that it survives a restart and a fleet shares it.
 *
 * @param failed called if the note cannot be written; the form is then learned again after a restart
 */
export function uploadFormsIn(
  notes: NoteStore,
  clock: Pick<Clock, 'elapsed'>,
  failed: (error: unknown) => void,
): UploadFormStore {
  let cached: Record<string, unknown> = {};
  let readAt = -Infinity;
  let saving: Promise<unknown> = Promise.resolve();

  const read = async (): Promise<Record<string, unknown>> => {
    const note = await notes.note(formsNote);
    cached = typeof note === 'object' && note !== null ? { ...note } : {};
    readAt = clock.elapsed();
    return cached;
  };

  const write = async (origin: string, form: UploadForm | null): Promise<void> => {
    const { [origin]: _, ...others } = await read();
    const kept = Object.entries(others).slice(form === null ? 0 : 1 - mostHosts);
    const forms = { ...Object.fromEntries(kept), ...(form !== null && { [origin]: form }) };
    await notes.saveNote(formsNote, Object.keys(forms).length === 0 ? null : forms);
    cached = forms;
  };

  return {
    load: async (origin) => {
      const forms = clock.elapsed() - readAt < readEveryMs ? cached : await read();
      return Object.hasOwn(forms, origin) ? forms[origin] : null;
    },
    save: (origin, form) => {
      if (origin.length > longestOrigin) return;
      // One after the other, so that none overwrites another.
      saving = saving.then(() => write(origin, form)).catch(failed);
    },
  };
}
