import { randomUUID } from 'node:crypto';

import { NotFoundError } from './errors.ts';
import type { Caller } from './caller.ts';
import { videoPages } from './pages.ts';
import {
  createKeys,
  newVideoKeys,
  requestKeys,
  requireKeys,
  sendKeys,
  uploadKeys,
  videoChangeKeys,
} from './option-keys.ts';
import { mayHaveHappened } from './retry.ts';
import { checkOptions } from './settings.ts';
import { checkSendOptions, sendVideo } from './upload/send-video.ts';
import { seekableOf } from './upload/upload-source.ts';
import type {
  CreateOptions,
  RequestOptions,
  SeekableSource,
  SendCallOptions,
  UploadSource,
  Videos,
} from './video-client.ts';
import { waitUntilReady } from './wait-until-ready.ts';
import { createVideo, deleteVideo, getVideo, updateVideo } from './wire/requests.ts';
import type { ApiRequest, VideoFields } from './wire/requests.ts';
import type { CreatedVideo } from './wire/videos.ts';

/** @param honoursIdempotencyKey whether the service honours the `Idempotency-Key` header */
export function createVideos(caller: Caller, honoursIdempotencyKey: boolean): Videos {
  const create = (fields: VideoFields, options: CreateOptions): ApiRequest<CreatedVideo> =>
    createVideo(fields, keyFor(options, honoursIdempotencyKey));
  return {
    list: (query = {}, options = {}) => videoPages(caller, query, options),
    get: (id, options = {}) =>
      caller.call(() => {
        requireKeys('videos.get', [options, requestKeys]);
        return getVideo(id);
      }, options),
    create: (fields, options = {}) =>
      caller.call(() => {
        requireKeys('videos.create', [fields, newVideoKeys], [options, createKeys]);
        return create(fields, options);
      }, options),
    import: (sourceUrl, fields, options = {}) =>
      caller.call(() => {
        requireKeys('videos.import', [fields, newVideoKeys], [options, createKeys]);
        return create({ ...fields, sourceUrl }, options);
      }, options),
    update: (id, changes, options = {}) =>
      caller.call(() => {
        requireKeys('videos.update', [changes, videoChangeKeys], [options, requestKeys]);
        return updateVideo(id, changes);
      }, options),
    delete: (id, options = {}) => remove(caller, id, options),
    upload: async (given, fields, options = {}) => {
      requireKeys('videos.upload', [fields, newVideoKeys], [options, uploadKeys]);
      const source = await checked(given, options);
      // `headers` are for the upload host.
      const created = await caller.call(() => create(fields, options), { ...options, headers: undefined });
      await options.onCreated?.(created);
      return await sendVideo(caller, { source, to: created }, options);
    },
    send: async (given, created, options = {}) => {
      requireKeys('videos.send', [options, sendKeys]);
      const source = await checked(given, options);
      return await sendVideo(caller, { source, to: created }, options);
    },
    waitUntilReady: (id, options = {}) => waitUntilReady(caller, id, options),
  };
}

/** @throws {TypeError} the service would ignore the given key, so the caller would rely on it in vain */
function keyFor({ idempotencyKey }: CreateOptions, isHonoured: boolean): string | undefined {
  if (isHonoured) return idempotencyKey ?? randomUUID();
  if (idempotencyKey === undefined) return undefined;
  throw new TypeError('idempotencyKey needs a service that honours it: set honoursIdempotencyKey of the client');
}

/** Checks the options and the source, so that no record is created for a missing file or for options out of range. */
async function checked(source: UploadSource, options: SendCallOptions): Promise<SeekableSource> {
  checkOptions(options);
  checkSendOptions(options);
  return await seekableOf(source);
}

/** Deletes a video. A 404 counts as success if an earlier attempt may have deleted it. */
async function remove(caller: Caller, id: string, options: RequestOptions): Promise<void> {
  requireKeys('videos.delete', [options, requestKeys]);
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
