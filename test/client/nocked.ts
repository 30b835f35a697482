import nock from 'nock';
import { afterEach, beforeAll, expect } from 'vitest';

export const base = 'https://video.example.com/v1';

/** For a test file whose exchanges are all mocked: a request that is not expected fails, and so does one that is missing. */
export function mockExchanges(): void {
  beforeAll(() => {
    nock.disableNetConnect();
  });
  afterEach(() => {
    const unused = nock.pendingMocks();
    nock.cleanAll();
    expect(unused).toEqual([]);
  });
}
