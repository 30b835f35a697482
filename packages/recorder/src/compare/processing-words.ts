import type { Switches } from '@dropcast/sandbox/profiles/switch-table';
import type { RecordedExchange } from '../recording.ts';
import { jsonOf, operationOf } from './exchanges.ts';
import { isSuccess, videoOf } from './telling-exchanges.ts';

interface ShownWord {
  readonly value: Switches['processing_word'];
  readonly exchange: number;
}

/**
 * Finds the status words used for videos in processing. A video may stay pending briefly after its upload, so `pending`
 * counts as such a word only if no other one appears.
 */
export function processingWords(exchanges: readonly RecordedExchange[]): readonly ShownWord[] {
  const uploadedAt = endsOfUploads(exchanges);
  const shown = exchanges.filter(isSuccess).flatMap((exchange) =>
    wordsIn(exchange).flatMap(({ id, status }): readonly ShownWord[] => {
      if (status === 'processing' || status === 'transcoding') return [{ value: status, exchange: exchange.number }];
      const wasUploaded = (uploadedAt.get(id) ?? Number.POSITIVE_INFINITY) < Date.parse(exchange.at);
      const isReceipt = operationOf(exchange)?.name === 'uploads.put';
      return status === 'pending' && (wasUploaded || isReceipt)
        ? [{ value: 'pending', exchange: exchange.number }]
        : [];
    }),
  );
  const others = shown.filter(({ value }) => value !== 'pending');
  return others.length > 0 ? others : shown;
}

/** Returns when each video's file had arrived, in milliseconds; a second upload changes nothing. */
function endsOfUploads(exchanges: readonly RecordedExchange[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const exchange of exchanges) {
    const id = videoOf(exchange) ?? '';
    if (operationOf(exchange)?.name === 'uploads.put' && isSuccess(exchange) && !ends.has(id))
      ends.set(id, Date.parse(exchange.at) + exchange.ms);
  }
  return ends;
}

/** Returns the status of each video in the answer. */
function wordsIn(exchange: RecordedExchange): readonly { readonly id: string; readonly status: unknown }[] {
  const name = operationOf(exchange)?.name ?? '';
  if (!name.startsWith('videos.') && name !== 'uploads.put') return [];
  const json = jsonOf(exchange);
  const data = typeof json === 'object' && json !== null && 'data' in json ? json.data : json;
  return [data].flat().flatMap((video: unknown) => {
    if (typeof video !== 'object' || video === null || !('status' in video)) return [];
    const id = 'id' in video ? String(video.id) : '';
    return [{ id, status: video.status }];
  });
}
