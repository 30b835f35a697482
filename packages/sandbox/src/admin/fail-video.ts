import { z } from 'zod';
import { ApiError } from '../http/api-error.ts';
import { jsonBody, textField } from '../http/input.ts';
import { wholeVideo } from '../http/wire.ts';
import type { Services } from '../services.ts';
import type { Endpoint } from '../http/handler.ts';

export function failVideoEndpoint({
  records,
  lifecycle,
  links,
}: Pick<Services, 'records' | 'lifecycle' | 'links'>): Endpoint {
  return {
    method: 'POST',
    path: '/_sandbox/videos/:id/fail',
    says: 'Makes a pending or processing video fail now, with {"code", "message"} as its error; 409 if it is ready or failed.',
    handler: async (context) => {
      const id = context.req.param('id') ?? '';
      const failure = await jsonBody(context.req.raw, failureBody);
      lifecycle.advance();
      const isFailed = lifecycle.fail(id, failure);
      const video = records.videos.find(id);
      if (!video) throw new ApiError('not_found', 'There is no such video.');
      if (!isFailed) throw new ApiError('conflict', `The status of this video is already ${video.status}.`);
      return context.json({ data: wholeVideo(video, links) });
    },
  };
}

const failureBody = z.strictObject({
  code: z.string('must be a string').regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a code like bad_codec'),
  message: textField(1000),
});
