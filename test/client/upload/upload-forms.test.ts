import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { AddressDeadError } from '../../../packages/client/src/errors.ts';
import { UploadForms } from '../../../packages/client/src/upload/upload-forms.ts';
import type { FormChoice } from '../../../packages/client/src/upload/upload-forms.ts';
import type { UploadForm, UploadFormStore } from '@dropcast/client';

const url = 'https://up.example/vid_1?sig=1';
const choice = (given: Partial<FormChoice> = {}): FormChoice => ({
  url,
  protocol: undefined,
  name: 'clip.mp4',
  asked: {},
  own: {},
  contentType: undefined,
  ...given,
});
const mismatch = new AddressDeadError('403 forbidden: SignatureDoesNotMatch', { status: 403, code: 'forbidden' });
const usual = { 'content-type': 'video/mp4' };

/** A store in memory, shared by all clients that get it. */
class Memory implements UploadFormStore {
  readonly saved: [origin: string, form: UploadForm | null][] = [];
  async load(origin: string): Promise<unknown> {
    return this.saved.findLast(([each]) => each === origin)?.[1];
  }
  save(origin: string, form: UploadForm | null): void {
    this.saved.push([origin, form]);
  }
}

const never = new AbortController().signal;
const open = (store?: UploadFormStore): UploadForms =>
  new UploadForms(store, { sleep: (ms, signal) => wait(ms / 20, undefined, { signal }) });

/** Runs an upload that only reads what the store knows. */
const started = (forms: UploadForms, given: Partial<FormChoice> = {}): Promise<void> =>
  forms.found(choice(given), never, async () => {});

describe('after a signature mismatch', () => {
  test('the other kind is tried once, and kept once the host has accepted it', () => {
    const known = open();
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(true);
    expect(known.headersFor(choice())).toEqual({});
    known.took(choice(), {});
    expect(known.headersFor(choice({ name: 'b.mov' }))).toEqual({});
    expect(known.headersFor(choice({ url: 'https://other.example/' }))).toEqual(usual);
  });

  test('a host that refuses both kinds gets each upload once, with one kind after the other', () => {
    const known = open();
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(true);
    expect(known.mayTryOthers(choice(), {}, mismatch)).toBe(false);
    expect(known.headersFor(choice())).toEqual(usual);
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(false);
    expect(known.headersFor(choice())).toEqual({});
  });

  test('uploads that began together learn from each other, in whatever order they are refused and accepted', () => {
    const known = open();
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(true);
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(true);
    known.took(choice(), {});
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(true);
    expect(known.headersFor(choice())).toEqual({});
  });

  test.each([usual, {}])('a host that had accepted %o and has changed is understood again', (accepted) => {
    const other = accepted === usual ? {} : usual;
    const known = open();
    known.took(choice(), accepted);
    expect(known.mayTryOthers(choice(), accepted, mismatch)).toBe(true);
    expect(known.headersFor(choice())).toEqual(other);
    known.took(choice(), other);
    expect(known.headersFor(choice())).toEqual(other);
  });

  test('one address that takes neither kind changes nothing for the others', () => {
    const known = open();
    known.took(choice(), {});
    expect(known.mayTryOthers(choice(), {}, mismatch)).toBe(true);
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(false);
    expect(known.headersFor(choice())).toEqual({});
  });

  test.each<[string, Partial<FormChoice>]>([
    ['the answer', { asked: { 'content-type': 'x/y' } }],
    ['the caller', { own: { 'Content-Type': 'x/y' } }],
    ['a fixed type', { contentType: 'x/y' }],
    ['none', { contentType: null }],
  ])('nothing is tried where %s decides, and nothing is learned', (_, given) => {
    const known = open();
    const headers = known.headersFor(choice(given));
    expect(known.mayTryOthers(choice(given), headers, mismatch)).toBe(false);
    known.took(choice(given), headers);
    expect(known.mayTryOthers(choice(), usual, mismatch)).toBe(true);
  });

  test('a service that has an origin for each file does not fill the memory', () => {
    const known = open();
    for (let n = 0; n < 2_500; n += 1) known.took(choice({ url: `https://${n}.example/` }), {});
    expect(known.headersFor(choice({ url: 'https://0.example/' }))).toEqual(usual);
    expect(known.headersFor(choice({ url: 'https://2499.example/' }))).toEqual({});
  });
});

describe('the protocol', () => {
  const spoken = (forms: UploadForms, given = url): string => forms.strategyFor(given, undefined, 1).protocol;
  const session = 'https://up.example/1?uploadType=resumable&upload_id=a';

  test('is one PUT until the host has shown another one', () => {
    const known = open();
    known.took(choice(), usual);
    expect(spoken(known)).toBe('put');
    known.speaks(url, 'tus');
    expect(spoken(known)).toBe('tus');
    expect(known.strategyFor(url, 'put', 1).protocol).toBe('put');
    known.speaks(url, 'put');
    expect(spoken(known)).toBe('put');
  });

  test('is that of a session where the address shows one, whatever other addresses of the host take', () => {
    const known = open();
    known.took(choice({ url: session }), usual);
    expect(spoken(known)).toBe('put');
    known.took(choice(), usual);
    expect(spoken(known, session)).toBe('content-range');
  });
});

describe('what a host takes', () => {
  test.each<[string, (forms: UploadForms) => void, UploadForm]>([
    ['no content type', (forms) => forms.took(choice(), {}), { withoutType: true }],
    ['tus', (forms) => forms.speaks(url, 'tus'), { protocol: 'tus' }],
    ['sessions', (forms) => forms.speaks(url, 'content-range'), { protocol: 'content-range' }],
  ])('is known to a later process: %s', async (_, learn, form) => {
    const store = new Memory();
    learn(open(store));
    expect(store.saved).toEqual([['https://up.example', form]]);
    const later = open(store);
    await started(later);
    expect(later.strategyFor(url, undefined, 1).protocol).toBe(form.protocol ?? 'put');
    expect(later.headersFor(choice())).toEqual(form.withoutType === true ? {} : usual);
    expect(store.saved).toHaveLength(1);
  });

  test('is not saved if it is the usual form, or if a protocol was named', () => {
    const store = new Memory();
    const forms = open(store);
    forms.took(choice(), usual);
    forms.took(choice({ url: 'https://other.example/', protocol: 'tus' }), usual);
    expect(store.saved).toEqual([]);
  });

  test.each<[string, UploadForm, (forms: UploadForms) => void]>([
    ['no content type', { withoutType: true }, (forms) => forms.mayTryOthers(choice(), {}, mismatch)],
    ['a protocol', { protocol: 'tus' }, (forms) => forms.speaks(url, 'put')],
  ])('is forgotten, also in the store, once the host refuses it: %s', async (_, form, refuse) => {
    const store = new Memory();
    store.save('https://up.example', form);
    const forms = open(store);
    await started(forms);
    refuse(forms);
    expect(store.saved.at(-1)).toEqual(['https://up.example', null]);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['another protocol', { protocol: 'ftp', withoutType: 'yes' }],
    ['a word', 'tus'],
  ])('is unknown if the store gives %s', async (_, saved) => {
    const forms = open({ load: async () => saved, save: () => {} });
    await started(forms);
    expect(forms.strategyFor(url, undefined, 1).protocol).toBe('put');
    expect(forms.headersFor(choice())).toEqual(usual);
  });

  test('is unknown if the store fails, and uploads run', async () => {
    const broken = () => {
      throw new Error('the disk is full');
    };
    const forms = open({ load: broken, save: () => {} });
    expect(await forms.found(choice(), never, async () => 7)).toBe(7);
  });
});

describe('uploads that begin together', () => {
  /** Runs uploads that end when the test says so. */
  class Uploads {
    readonly begun: string[] = [];
    readonly all: Promise<unknown>[] = [];
    readonly #ends = new Map<string, PromiseWithResolvers<void>>();
    readonly #forms: UploadForms;

    constructor(forms = open()) {
      this.#forms = forms;
    }

    start(name: string, given: Partial<FormChoice> = {}, signal = never): void {
      const end = Promise.withResolvers<void>();
      this.#ends.set(name, end);
      const upload = this.#forms.found(choice(given), signal, () => {
        this.begun.push(name);
        return end.promise;
      });
      this.all.push(upload.catch(() => {}));
    }

    async end(name: string, error?: Error): Promise<void> {
      const end = this.#ends.get(name);
      if (error === undefined) end?.resolve();
      else end?.reject(error);
      await wait(0);
    }
  }

  test('wait for the first one, and then run together', async () => {
    const forms = open();
    const uploads = new Uploads(forms);
    for (const name of ['a', 'b', 'c']) uploads.start(name);
    await wait(0);
    expect(uploads.begun).toEqual(['a']);
    forms.took(choice(), {});
    await uploads.end('a');
    expect(uploads.begun).toEqual(['a', 'b', 'c']);
  });

  test('wait for the next one if the first one ends without a result', async () => {
    const uploads = new Uploads();
    for (const name of ['a', 'b', 'c']) uploads.start(name);
    await wait(0);
    await uploads.end('a', new Error('the connection broke'));
    expect(uploads.begun).toEqual(['a', 'b']);
    await uploads.end('b', new Error('the connection broke'));
    expect(uploads.begun).toEqual(['a', 'b', 'c']);
  });

  test('wait no longer than two seconds for a large file', async () => {
    const uploads = new Uploads();
    const startedAt = performance.now();
    for (const name of ['a', 'b', 'c', 'd']) uploads.start(name);
    await wait(0);
    expect(uploads.begun).toEqual(['a']);
    await expect.poll(() => uploads.begun).toHaveLength(4);
    // The clock of these tests runs twenty times as fast.
    expect(performance.now() - startedAt).toBeGreaterThan(95);
    await uploads.end('a');
  });

  test('end at once when they are aborted', async () => {
    const uploads = new Uploads();
    const stop = new AbortController();
    uploads.start('a');
    uploads.start('b', {}, stop.signal);
    await wait(0);
    stop.abort();
    await wait(0);
    expect(uploads.begun).toEqual(['a', 'b']);
  });

  test.each<[string, Partial<FormChoice>]>([
    ['another host', { url: 'https://other.example/' }],
    ['a named form', { protocol: 'put', contentType: null }],
    ['tus', { protocol: 'tus' }],
    [
      'a session with a named type',
      { url: 'https://up.example/1?uploadType=resumable&upload_id=a', contentType: 'a/b' },
    ],
  ])('do not wait with %s', async (_, given) => {
    const uploads = new Uploads();
    uploads.start('a');
    uploads.start('b', given);
    await wait(0);
    expect(uploads.begun.toSorted()).toEqual(['a', 'b']);
  });

  test('do not wait at a host that is known from an earlier process', async () => {
    const store = new Memory();
    store.save('https://up.example', { protocol: 'tus' });
    const uploads = new Uploads(open(store));
    for (const name of ['a', 'b']) uploads.start(name);
    await wait(0);
    expect(uploads.begun).toEqual(['a', 'b']);
  });
});
