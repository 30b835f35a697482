import type { HeartbeatTarget } from '../target.ts';
import { sendHttp } from './http.ts';
import type { Attempt, Sent } from './sent.ts';

/** Requests the address for health, or the one for failure. @returns null when there is no address for failure */
export async function beat({ url, fail }: HeartbeatTarget, isWell: boolean, attempt: Attempt): Promise<Sent | null> {
  if (!isWell && fail === null) return null;
  const address = isWell ? url.reveal() : failAddress(url.reveal(), fail ?? '');
  return sendHttp({ url: address, method: 'GET', headers: {}, secrets: [url.reveal()] }, attempt);
}

/** Pure: appends a path to that of the address; a query replaces its query. */
export function failAddress(address: string, fail: string): string {
  const url = new URL(address);
  if (fail.startsWith('?')) url.search = fail;
  else url.pathname = `${url.pathname.replace(/\/+$/, '')}${fail}`;
  return url.href;
}
