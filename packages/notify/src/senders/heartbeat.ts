import type { HeartbeatTarget } from '../target.ts';
import { sendHttp } from './http.ts';
import type { Attempt, Sent } from './sent.ts';

/** Asks the address that says 'all is well', or the one that says that it is not. @returns null when nothing is to be asked then */
export async function beat({ url, fail }: HeartbeatTarget, isWell: boolean, attempt: Attempt): Promise<Sent | null> {
  if (!isWell && fail === null) return null;
  const address = isWell ? url.reveal() : failAddress(url.reveal(), fail ?? '');
  return sendHttp({ url: address, method: 'GET', headers: {}, secrets: [url.reveal()] }, attempt);
}

/** Pure: a path is added to that of the address, a query takes the place of its query. */
export function failAddress(address: string, fail: string): string {
  const url = new URL(address);
  if (fail.startsWith('?')) url.search = fail;
  else url.pathname = `${url.pathname.replace(/\/+$/, '')}${fail}`;
  return url.href;
}
