import { expect, test, vi } from 'vitest';
import { createUploadTargets } from '../../../packages/client/src/upload/upload-targets.ts';

function targetsOf(baseUrl: string) {
  const ownAddresses = vi.fn<() => readonly string[]>(() => ['203.0.113.50']);
  return { ownAddresses, targets: createUploadTargets({ baseUrl, named: new Set(), ownAddresses }) };
}

test('an upload to another port of this machine does not ask the system for its addresses', async () => {
  const { targets, ownAddresses } = targetsOf('http://127.0.0.1:8080/v1');
  await targets.admit('http://127.0.0.1:9090/put/1');
  expect(ownAddresses).not.toHaveBeenCalled();
});

test('the addresses of this machine are asked once for each upload, however many are judged', async () => {
  const { targets, ownAddresses } = targetsOf('https://192.168.7.7/v1');
  await targets.admit('https://192.168.7.8/put/1');
  await targets.admit('https://192.168.7.8/put/2');
  expect(ownAddresses).toHaveBeenCalledTimes(2);
});
