import { NotFoundError } from './errors.ts';
import { createVideo, deleteVideo, getVideo, updateVideo } from './wire/requests.ts';
import type { Caller } from './caller.ts';
import { checkOptions } from './caller.ts';
import { listPages } from './pages.ts';
import { mayHaveHappened } from './retry.ts';
import { checkSendOptions, sendFile } from './upload/send-file.ts';
import { sendableOf } from './upload/upload-source.ts';
import type { RequestOptions, SendCallOptions, UploadCallOptions, Videos } from './video-client.ts';
import { waitUntilReady } from './wait-until-ready.ts';

export function createVideos(caller: Caller): Videos {
  return {
    list: (query = {}, options = {}) => listPages(caller, query, options),
    get: async (id, options) => await caller.ask(getVideo(id), options),
    create: async (fields, options) => await caller.ask(createVideo(fields, options?.idempotencyKey), options),
    import: async (sourceUrl, fields, options) =>
      await caller.ask(createVideo({ ...fields, sourceUrl }, options?.idempotencyKey), options),
    update: async (id, changes, options) => await caller.ask(updateVideo(id, changes), options),
    delete: (id, options) => remove(caller, id, options),
    upload: async (source, fields, options = {}) => {
      const file = await prepared(source, options);
      const { onProgress: _, onCreated, ...rest } = options;
      const created = await caller.ask(createVideo(fields), rest);
      await onCreated?.(created);
      return await sendFile(caller, { file, to: created }, options);
    },
    send: async (source, created, options = {}) => {
      const file = await prepared(source, options);
      return await sendFile(caller, { file, to: created }, options);
    },
    waitUntilReady: (id, options = {}) => waitUntilReady(caller, id, options),
  };
}

/** A record must not be made for a file that is not there, or for options that are no good. */
async function prepared(source: Parameters<typeof sendableOf>[0], options: UploadCallOptions | SendCallOptions) {
  checkOptions(options);
  checkSendOptions(options);
  return await sendableOf(source);
}

/** Where an earlier attempt may have deleted it, 'not found' is what was wanted. */
async function remove(caller: Caller, id: string, options: RequestOptions | undefined): Promise<void> {
  let mayBeDeleted = false;
  const onFailure = (error: unknown) => {
    mayBeDeleted ||= mayHaveHappened(error);
  };
  try {
    await caller.ask(deleteVideo(id), { ...options, onFailure });
  } catch (error) {
    if (!(error instanceof NotFoundError && mayBeDeleted)) throw error;
  }
}
