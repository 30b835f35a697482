import { request } from 'node:http';
import type { RequestOptions } from 'node:http';

/** Sends a body of 64 MiB until it is answered or cut off. */
export function flood(
  target: RequestOptions,
  isAnnounced: boolean,
): Promise<{ readonly status: number | null; readonly sentBytes: number }> {
  const whole = 64 * 1024 * 1024;
  const part = Buffer.alloc(64 * 1024, ' ');
  const headers = isAnnounced ? { 'content-length': whole } : { 'transfer-encoding': 'chunked' };
  return new Promise((resolve) => {
    let sentBytes = 0;
    const answers: number[] = [];
    const call = request({ ...target, method: 'POST', headers, agent: false }, (answer) => {
      answers.push(answer.statusCode ?? 0);
      answer.resume();
    });
    const send = (): void => {
      while (sentBytes < whole && !call.destroyed && answers.length === 0) {
        sentBytes += part.length;
        if (!call.write(part)) return void call.once('drain', send);
      }
      call.end();
    };
    call.on('error', () => {});
    call.on('close', () => resolve({ status: answers[0] ?? null, sentBytes }));
    send();
  });
}
