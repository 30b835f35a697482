import { NotFoundError } from './errors.ts';
import { createVideo, deleteVideo, getVideo, updateVideo } from './wire/requests.ts';
import type { Caller } from './caller.ts';
import { checkOptions } from './caller.ts';
import { listPages } from './pages.ts';
import { mayHaveHappened } from './retry.ts';
import { checkSendOptions, sendVideo } from './upload/send-video.ts';
import { seekableOf } from './upload/upload-source.ts';
import type { RequestOptions, SeekableSource, SendCallOptions, UploadSource, Videos } from './video-client.ts';
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
    upload: async (given, fields, options = {}) => {
      const source = await checked(given, options);
      const { onProgress: _, beforeLastPart: __, onCreated, ...rest } = options;
      const created = await caller.ask(createVideo(fields), rest);
      await onCreated?.(created);
      return await sendVideo(caller, { source, to: created }, options);
    },
    send: async (given, created, options = {}) => {
      const source = await checked(given, options);
      return await sendVideo(caller, { source, to: created }, options);
    },
    waitUntilReady: (id, options = {}) => waitUntilReady(caller, id, options),
  };
}

/** No record must be made for a file that is not there, or with options that are out of range. */
async function checked(source: UploadSource, options: SendCallOptions): Promise<SeekableSource> {
  checkOptions(options);
  checkSendOptions(options);
  return await seekableOf(source);
}

/** After an earlier attempt that may have deleted it, 'not found' is success. */
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
