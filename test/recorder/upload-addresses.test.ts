import { expect, test } from 'vitest';
import { KnownSecrets } from '../../packages/recorder/src/cleaning/known-secrets.ts';
import { UploadAddresses } from '../../packages/recorder/src/upload-addresses.ts';

const recorder = 'http://127.0.0.1:4000';

test.each([
  ['https://video.example.com/v1', 'http://127.0.0.1:80/v1/agent', false],
  ['https://video.example.com/v1', 'https://localhost/x', false],
  ['https://video.example.com/v1', 'https://uploads.example.com/x', true],
  ['http://127.0.0.1:8080/v1', 'http://127.0.0.1:9090/x', true],
  ['http://127.0.0.1:8080/v1', 'http://far.example/x', false],
])('a recorder of %s sends to %s: %s', (service, address, isSent) => {
  const addresses = new UploadAddresses(new KnownSecrets(), recorder, new URL(service));
  const body = addresses.replaceIn(Buffer.from(JSON.stringify({ id: 'v1', upload_url: address }))).toString();
  expect(body.includes(recorder)).toBe(isSent);
  expect(body.includes(address)).toBe(!isSent);
});
