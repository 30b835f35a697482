import type { HeartbeatTarget } from '../target.ts';
import { sendHttp } from './http.ts';
import type { Attempt, Sent } from './sent.ts';

/** Requests the health or the failure address. @returns null if there is no failure address */
export async function beat({ url, fail }: HeartbeatTarget, isWell: boolean, attempt: Attempt): Promise<Sent | null> {
  if (!isWell && fail === null) return null;
  const address = isWell ? url.reveal() : failAddress(url.reveal(), fail ?? '');
  return sendHttp({ url: address, method: 'GET', headers: {}, secrets: [url.reveal()] }, attempt);
}

/** Returns the failure address: a path is appended to the address's own path, a query replaces its query. Pure. */
export function failAddress(address: string, fail: string): string {
  const url = new URL(address);
  if (fail.startsWith('?')) url.search = fail;
  else url.pathname = `${url.pathname.replace(/\/+$/, '')}${fail}`;
  return url.href;
}
