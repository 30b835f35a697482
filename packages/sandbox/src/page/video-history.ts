import { span, visibleText, type Step } from '@dropcast/pages';
import type { Video } from '../store/videos.ts';

type History = Pick<Video, 'status' | 'createdAtMs' | 'uploadedAtMs' | 'endedAtMs' | 'failure'>;

/** Returns a video's steps: created → uploaded → ready or failed. */
export function stepsOf(video: History, nowMs: number): [created: Step, uploaded: Step, ended: Step] {
  return [
    { name: 'Created', kind: 'done', atMs: video.createdAtMs, note: '' },
    upload(video, nowMs),
    end(video, nowMs),
  ];
}

function upload({ status, createdAtMs, uploadedAtMs }: History, nowMs: number): Step {
  const name = 'Uploaded';
  if (uploadedAtMs !== null)
    return { name, kind: 'done', atMs: uploadedAtMs, note: `after ${span(uploadedAtMs - createdAtMs)}` };
  if (status === 'pending') return { name, kind: 'now', atMs: null, note: `waiting for ${span(nowMs - createdAtMs)}` };
  return { name, kind: 'later', atMs: null, note: 'no file has arrived' };
}

function end({ status, createdAtMs, uploadedAtMs, endedAtMs, failure }: History, nowMs: number): Step {
  const took = span((endedAtMs ?? nowMs) - (uploadedAtMs ?? createdAtMs));
  switch (status) {
    case 'pending':
      return { name: 'Ready or failed', kind: 'later', atMs: null, note: '' };
    case 'processing':
      return { name: 'Ready or failed', kind: 'now', atMs: null, note: `processing for ${took}` };
    case 'ready':
      return { name: 'Ready', kind: 'done', atMs: endedAtMs, note: `${took} of processing` };
    case 'failed':
      return {
        name: 'Failed',
        kind: 'failed',
        atMs: endedAtMs,
        note: `after ${took}: ${visibleText(failure?.message ?? '')}`,
      };
    default:
      return status satisfies never;
  }
}
